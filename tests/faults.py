"""The kill harness: run code in a child process and kill it, at a file operation or in time."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

PRELUDE = """
import os, signal
import symnmf.files as files
count = 0
def kill(operation):
    global count
    count += 1
    if count == {at}:
        os.kill(os.getpid(), signal.SIGKILL)
files.on_operation = kill
"""
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parent)}


def run_killed_at(code: str, operation: int) -> bool:
    """Run ``code``, killed at its n-th file operation; True if it got that far."""
    child = subprocess.run(
        [sys.executable, "-c", PRELUDE.format(at=operation) + code],
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
    )
    assert child.returncode in (0, -signal.SIGKILL), child.stderr
    return child.returncode != 0


def run_killed_after(code: str, seconds: float) -> bool:
    """Run ``code``, killed after some seconds; True if it had not ended by itself."""
    child = subprocess.Popen([sys.executable, "-c", code], env=ENVIRONMENT)
    try:
        assert child.wait(seconds) == 0
        return False
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
        return True


def random_moments(count: int, longest: float, seed: int = 0) -> list[float]:
    """Moments at which to kill, spread over the run."""
    rng = random.Random(seed)
    return [rng.uniform(0, longest) for _ in range(count)]
