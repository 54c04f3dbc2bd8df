"""The fault harness: run code in a child process and disturb it, at a file operation or in time."""

import atexit
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import symnmf

#: Children run the code that is being tested, wherever it lies.
PLACES = (Path(__file__).parent, Path(symnmf.__file__).parents[1])
ENVIRONMENT = {
    **os.environ,
    "OMP_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join(str(place) for place in PLACES),
}


def run_killed_at(code: str, operation: int) -> bool:
    """Run ``code``, killed at its n-th file operation; True if it got that far."""
    return _killed(nursery().run(code=code, at=operation))


def run_killed_after(code: str, seconds: float) -> bool:
    """Run ``code``, killed after some seconds; True if it had not ended by itself."""
    return _killed(nursery().run(code=code, after=seconds))


def _killed(ended: dict) -> bool:
    assert ended["code"] in (0, -signal.SIGKILL), ended["said"]
    return ended["code"] != 0


def random_moments(count: int, longest: float, seed: int = 0) -> list[float]:
    """Moments at which to kill, spread over the run."""
    rng = random.Random(seed)
    return [rng.uniform(0, longest) for _ in range(count)]


#: A study of a few seconds.
STUDY = """
title = "small"
task = "factorize"
kinds = ["tpdm"]
sizes = [20]
seeds = [7, 42]
solvers = ["adagrad", "admm"]
iterations = 40
"""

#: Imports everything once, then forks a child for each job: a kill costs no import.
NURSERY = """
import json, os, signal, sys, tempfile, time, traceback
import torch, pandas, pyarrow.parquet, sklearn.metrics, scipy.sparse, typer, rich.table
import symnmf.cli, symnmf.analysis.folder, symnmf.dependence.synthetic, symnmf.data.panel
import symnmf.bench.runner, symnmf.bench.tables, symnmf.grouping.rolling, symnmf.factorization
import symnmf.storage.atomic_files as files

def child(job, said):
    descriptor = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(descriptor, 1); os.dup2(descriptor, 2)
    state = {"count": 0}
    def operation(name):
        state["count"] += 1
        if state["count"] == job.get("at"):
            fault = job.get("fault", "kill")
            if fault == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if fault == "interrupt":
                os.kill(os.getpid(), signal.SIGINT)
    files.on_operation = operation
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code = 70
    try:
        if "argv" in job:
            sys.argv = ["symnmf", *job["argv"]]
            symnmf.cli.main()
        else:
            exec(job["code"], {})
        code = 0
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush(); sys.stderr.flush()
    with open(said + ".count", "w") as file:
        file.write(str(state["count"]))
    os._exit(code)

print("ready", flush=True)
for line in sys.stdin:
    job = json.loads(line)
    said = os.path.join(job["scratch"], "said")
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        child(job, said)
    after, sent = job.get("after"), False
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if after is not None and not sent and time.monotonic() - began >= after:
            os.kill(pid, job.get("signal", signal.SIGKILL)); sent = True
        if time.monotonic() - began > 120:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.002)
    count = 0
    if os.path.exists(said + ".count"):
        count = int(open(said + ".count").read()); os.unlink(said + ".count")
    words = open(said, errors="replace").read() if os.path.exists(said) else ""
    answer = {"code": os.waitstatus_to_exitcode(status), "operations": count, "said": words,
              "seconds": time.monotonic() - began}
    print(json.dumps(answer), flush=True)
"""


class Nursery:
    """Runs jobs in children of a process that has everything imported.

    A job has ``argv`` (of the command line) or ``code``; ``at`` says at which file operation a
    ``fault`` comes (``"kill"`` or ``"interrupt"``); ``after`` sends ``signal``
    (a kill) after some seconds. The answer has the exit ``code`` (negative for a signal), the
    number of file ``operations``, what was ``said``, and ``seconds``.
    """

    def __init__(self, scratch: Path):
        self.scratch = scratch
        self.process = subprocess.Popen(
            [sys.executable, "-c", NURSERY],
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout.readline().strip() == "ready"

    def run(self, **job) -> dict:
        self.process.stdin.write(json.dumps({**job, "scratch": str(self.scratch)}) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


@cache
def nursery() -> Nursery:
    """The nursery of this process, which ends with it."""
    scratch = tempfile.TemporaryDirectory()
    made = Nursery(Path(scratch.name))
    atexit.register(scratch.cleanup)
    atexit.register(made.close)
    return made
