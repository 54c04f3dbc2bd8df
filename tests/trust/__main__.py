"""``make trust``: everything at full count, and the table of what was tried and what survived.

``PUBLISH=1`` in the environment stores it in ``results/``, from which docs/trust.md is filled.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests")]

from rich.console import Console  # noqa: E402

from symnmf.bench.measurement import published_rows  # noqa: E402
from symnmf.bench.measurements.trust import HOSTS, MEASUREMENT, TRUST  # noqa: E402
from symnmf.bench.published_table import compare  # noqa: E402
from symnmf.bench.results_store import Store  # noqa: E402
from symnmf.bench.runner import publish_rows  # noqa: E402
from symnmf.bench.tables import write_measurement  # noqa: E402
from trust.tally import host_faults, rows  # noqa: E402

#: What runs beside what: two at a time, the longest first.
PARTS = [
    "tests/trust/test_crashes.py",
    "tests/trust/test_hosts.py",
    "tests/trust/test_fuzz.py",
    "tests/trust/test_numbers.py",
    "tests/trust/test_long.py",
    "tests/trust/test_disk.py",
    "tests/trust/test_hostile.py",
    "tests/trust/test_honest.py",
    "tests/trust/test_interrupts.py",
    "tests/trust/test_supply.py",
    "tests/distributed",
    "tests/devices",
    "tests/storage/test_cut_files.py",
    "tests/storage/test_readers.py",
    "tests/engine/test_batch_systems.py",
]
#: Rows that are counted by the test, not by the case, and what they must come to.
WHOLE = {
    "tests/distributed": "same bits for any number of processes",
    "tests/devices": "operators, rows and phases on a fake device",
    "tests/storage/test_cut_files.py": "a mapped file cut short",
    "tests/storage/test_readers.py": "readers during a write, and very many windows",
    "tests/engine/test_batch_systems.py": "signals of batch systems, and Ctrl-C in the demo",
}
LEAST = {"kills": 200, "numbers": 1000, "fuzz": 100_000, "fits in one process": 1000}


def run(part: str, table: Path) -> tuple[str, int, str]:
    """One part in its own process."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-o", "addopts=-q --tb=short -p no:cacheprovider", part],
        cwd=ROOT,
        env={
            **os.environ,
            "SYMNMF_TRUST": "full",
            "SYMNMF_TRUST_TABLE": str(table),
            "OMP_NUM_THREADS": "1",
        },
        capture_output=True,
        text=True,
    )
    return part, done.returncode, done.stdout + done.stderr


def counted(words: str) -> tuple[int, int]:
    """Tests tried and passed, from the last line of pytest."""
    passed, failed = (
        sum(int(n) for n in re.findall(rf"(\d+) {kind}", words.splitlines()[-1]))
        for kind in ("passed", r"(?:failed|error)")
    )
    return passed + failed, passed


def show(found: dict[str, list[int]], faults: dict, whole: bool) -> None:
    """Print the tables beside the published ones, and publish them where asked."""
    measured = [HOSTS.row(fault, *figures) for fault, figures in sorted(faults.items())]
    for row, (tried, survived) in sorted(found.items()):
        share = f"{survived} ({100 * survived / max(tried, 1):.4g} %)"
        measured.append(TRUST.row(row, tried, share if survived < tried else "100 %"))
    store = Store(ROOT / "results")
    published = published_rows(MEASUREMENT, store, any_numerics=True)
    for table in compare(MEASUREMENT, measured, published):
        Console(width=150).print(table.as_rich())
    if os.environ.get("PUBLISH"):
        publish_rows(MEASUREMENT, store, measured, replace=whole)
        write_measurement(MEASUREMENT, store)


def main(parts: list[str]) -> int:
    """Run all parts and print the table; the exit code is 1 when something did not survive."""
    began, good = time.monotonic(), True
    with tempfile.TemporaryDirectory() as place, ThreadPoolExecutor(2) as pool:
        table = Path(place) / "table"
        found = {}
        for part, code, words in pool.map(lambda part: run(part, table), parts):
            if code:
                good = False
                print(f"{part} failed:\n{words[-6000:]}", file=sys.stderr)
            if part in WHOLE:
                found[WHOLE[part]] = list(counted(words))
        found |= rows(table)
        faults = host_faults(table)
    good = good and all(tried == survived > 0 for tried, survived in found.values())
    show(found, faults, whole=parts == PARTS)
    for start, least in LEAST.items() if parts == PARTS else ():
        total = sum(tried for row, (tried, _) in found.items() if row.startswith(start))
        if total < least:
            good = False
            print(f"{start}: {total} tried, {least} were promised", file=sys.stderr)
    print(f"{(time.monotonic() - began) / 60:.1f} minutes; {'all' if good else 'NOT ALL'} survived")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or PARTS))
