"""Long lives: many fits in a process, clocks that jump, any number of threads."""

import ast
import json
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest
import torch
from sklearn.metrics import adjusted_rand_score

import faults
import symnmf as sn
from helpers import market
from trust.tally import count, record, trial

ROOT = Path(__file__).parents[2]

MANY = """
import gc, json, os, resource, sys, tempfile, warnings
import torch, symnmf as sn
warnings.simplefilter("ignore")
torch.set_num_threads(1)
count = int(sys.argv[1])
def state():
    gc.collect()
    pages = int(open("/proc/self/statm").read().split()[1])
    return pages * resource.getpagesize() / 1e6, len(os.listdir("/proc/self/fd"))
folder = tempfile.mkdtemp()
S = sn.open_matrix(sn.generate("corr", 80, folder + "/S", seed=7, samples=2000))
names = ["auto", "adagrad", "admm", "hals", "lbfgs"]
first = None
good = 0
for m in range(count):
    S = sn.open_matrix(folder + "/S") if m % 10 == 0 else S
    result = sn.factorize(S, 5, names[m % 5], seed=m, max_iter=60,
                          checkpoint=sn.Checkpoint(folder + "/c", overwrite=True))
    if m % 5 == 0:
        sn.save(result, folder + "/r", force=True)
        assert torch.equal(sn.load(folder + "/r").H, result.H)
    good += bool(torch.isfinite(result.H).all())
    if m == count // 4:
        first = state()
print(json.dumps([good, first, state()]))
"""


@pytest.mark.parametrize("fits", [count(0, 1000) or pytest.param(200, marks=pytest.mark.slow)])
def test_many_fits_in_one_process(fits):
    child = subprocess.run(
        [sys.executable, "-c", MANY, str(fits)],
        env=faults.ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    good, (before, handles), (after, handles_after) = json.loads(child.stdout.splitlines()[-1])
    flat = after <= 1.05 * before and handles_after <= handles
    record("fits in one process, memory and handles flat", fits, good if flat else 0)
    assert good == fits
    assert after <= 1.05 * before, (before, after)
    assert handles_after <= handles


def test_clocks_may_jump(monkeypatch, tmp_path):
    """Only monotonic clocks measure; the time of day may be anything."""
    S = market("corr", 100).operator
    plain = sn.factorize(S, 10, "adagrad")
    day = iter([1e9, 0.0, -5.0, 4e9, 1.0] * 10**6)
    with trial("clock changes"):
        monkeypatch.setattr(time, "time", lambda: next(day))
        place = sn.Checkpoint(tmp_path, every_seconds=0)
        result = sn.factorize(S, 10, "adagrad", max_seconds=600, checkpoint=place)
        assert torch.equal(result.H, plain.H)
        assert all(0 <= check.seconds < 600 for check in result.history)
        assert 0 <= result.seconds < 600


def test_the_time_of_day_measures_nothing():
    """It is read for the age of a lock, in words."""
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            if named and (node.value.id, node.attr) in {
                ("time", "time"), ("datetime", "now"), ("datetime", "today"), ("date", "today"),
            }:  # fmt: skip
                found.append(path.name)
    assert found == ["locking.py"]


@pytest.mark.parametrize("name", ["auto", pytest.param("adagrad", marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["corr", "tpdm"])
def test_any_number_of_threads_gives_the_same_groups(kind, name):
    """Sums are made in another order: the last digits differ, groups and certificate do not."""
    b = market(kind, 300)
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found.append(sn.factorize(b.operator, b.k, name, max_iter=3000))
    finally:
        torch.set_num_threads(before)
    for other in found[1:]:
        with trial("any number of threads"):
            first, second = found[0].certificate, other.certificate
            assert adjusted_rand_score(found[0].labels(), other.labels()) == 1.0
            assert second.error == pytest.approx(first.error, abs=10 * first.resolution)
            assert second.floor_low == pytest.approx(first.floor_low, abs=10 * first.resolution)
            assert other.status is found[0].status
            assert (second.factors_explained, second.factors_available) == (
                first.factors_explained,
                first.factors_available,
            )
