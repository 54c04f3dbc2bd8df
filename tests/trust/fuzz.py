"""A fuzzer of the readers: valid files, changed a little, read in a child with limits."""

import hashlib
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import faults
from trust.hostile import READ

#: Bytes, numbers and words that readers are known to stumble over.
NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 2**15, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**62, 2**63 - 1]
WORDS = [b"-1", b"0", b"1e999", b"nan", b"inf", b"99999999999999999999", b"null", b"true", b'"']
WORDS += [b"[", b"]", b"{", b"}", b"[" * 3000, b",", b"\n", b"\r", b"\0", b"\xff\xfe", b"../", b"("]


def mutate(content: bytes, rng: random.Random) -> bytes:
    """A few small changes."""
    data = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 3, 8])):
        at = rng.randrange(len(data)) if data else 0
        kind = rng.randrange(8)
        if kind == 0 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and data:
            data[at] = rng.choice([0, 0x7F, 0x80, 0xFF, 0x30, 0x39, 0x2C])
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at : at + rng.choice([1, 2, 4, 16, 256])]
        elif kind == 4:
            data[at:at] = rng.randbytes(rng.choice([1, 4, 64]))
        elif kind == 5:
            data[at:at] = data[at : at + rng.choice([1, 8, 64, 1024])]
        elif kind == 6:
            width = rng.choice([1, 2, 4, 8])
            value = rng.choice(NUMBERS) % 256**width
            data[at : at + width] = value.to_bytes(width, rng.choice(["little", "big"]))
        else:
            data[at : at + rng.choice([0, 1, 2, 5])] = rng.choice(WORDS)
    return bytes(data)


def repair(folder: Path) -> None:
    """Make the manifest say what is there, so that a change gets past the checksums."""
    path = folder / "manifest.json"
    try:
        manifest = json.loads(path.read_bytes())
        for entry in manifest["files"].values():
            content = (folder / entry["name"]).read_bytes()
            entry["bytes"], entry["sha256"] = len(content), hashlib.sha256(content).hexdigest()
        manifest.pop("seal", None)
        path.write_text(json.dumps(manifest))
    except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
        pass


MAIN = (
    READ
    + """
import signal
sys.path.insert(0, sys.argv[6])
from trust.fuzz import fuzz_case, limit
limit(600)
def late(*_):
    raise TimeoutError("two seconds of work, or a minute of waiting")
signal.signal(signal.SIGALRM, late)
signal.signal(signal.SIGPROF, late)
reader, seeds, scratch = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
count, first = int(sys.argv[4]), int(sys.argv[5])
bad, read = [], 0
for number in range(first, first + count):
    path = fuzz_case(seeds, scratch, number)
    (scratch.parent / "number").write_text(str(number))
    signal.setitimer(signal.ITIMER_PROF, 2.0)
    signal.setitimer(signal.ITIMER_REAL, 60.0)
    end, seconds = attempt(reader, path)
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    read += end == "read"
    if not (end == "read" or end.startswith("refused")):
        bad.append([number, end[:300]])
print(json.dumps([count, read, bad]))
"""
)


def limit(megabytes: int) -> None:
    """No more memory than there is now and so much more."""
    import resource

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_FSIZE, (64 << 20, 64 << 20))


def fuzz_case(seeds: Path, scratch: Path, number: int) -> Path:
    """The n-th case: a file, or a folder in which one file is changed."""
    rng = random.Random(number)
    seed = rng.choice(sorted(seeds.iterdir()))
    target = scratch / seed.name
    if seed.is_dir():
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(seed, target)
        victim = rng.choice(sorted(p for p in target.iterdir() if p.is_file()))
        victim.write_bytes(mutate(victim.read_bytes(), rng))
        if rng.random() < 0.7:
            repair(target)
    else:
        target.write_bytes(mutate(seed.read_bytes(), rng))
    return target


def fuzz(reader: str, seeds: Path, scratch: Path, cases: int, first: int = 0):
    """How many cases were tried, how many were read, and which ended in another way."""
    work = scratch / "work"
    work.mkdir(parents=True, exist_ok=True)
    here = str(Path(__file__).parents[1])
    child = subprocess.run(
        [sys.executable, "-c", MAIN, reader, str(seeds), str(work), str(cases), str(first), here],
        env=faults.ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    if child.returncode:
        number = int((scratch / "number").read_text())
        why = f"the child died ({child.returncode}): {child.stderr[-500:]}"
        return cases, 0, [[other, why] for other in range(number, first + cases)]
    return json.loads(child.stdout.splitlines()[-1])
