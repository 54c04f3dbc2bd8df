"""What a run needs, and the refusal of what cannot be had."""

from math import isqrt

import pytest

import symnmf as sn
from helpers import market
from symnmf.errors import InvalidInput, NotEnough, UnknownName


def default(n, k=None, **options):
    return sn.plan(n, k, rate=1e11, **options)[0]


@pytest.mark.parametrize(
    ("n", "matrix", "factor"),
    [
        (100, 40e3, 4e3),
        (1000, 4e6, 124e3),
        (10_000, 400e6, 4e6),
        (10**5, 40e9, 126e6),
        (10**6, 4e12, 4e9),
    ],
)
def test_storage_table_of_the_paper(n, matrix, factor):
    """Its appendix D: S and H in float32 at k = ⌊√n⌋."""
    assert default(n).storage == pytest.approx(matrix, rel=0.01)
    assert 4 * n * isqrt(n) == pytest.approx(factor, rel=0.01)


@pytest.mark.parametrize(
    ("bytes_there", "naive", "trace"), [(80e9, 60_000, 130_000), (192e9, 95_000, 210_000)]
)
def test_memory_table_of_the_paper(bytes_there, naive, trace):
    """Its Table 1: the largest n that fits, with n×n residuals and with the trace identity."""

    def largest(need):
        return max(n for n in range(10_000, 260_000, 5_000) if need(default(n, 25)) <= bytes_there)

    assert largest(lambda p: p.naive) == pytest.approx(naive, rel=0.1)
    assert largest(lambda p: p.memory) == pytest.approx(trace, rel=0.1)


def test_forms_and_processes():
    whole, half = default(10_000), default(10_000, processes=2)
    assert half.memory < whole.memory
    assert half.seconds == pytest.approx(whole.seconds / 2)
    assert (whole.traffic, half.traffic) == (0, 4 * 10_000 * 100 / 2)
    gram, tiles = default(10**6, 100, form="gram"), default(10**5, form="tiles")
    assert gram.memory < 16e9
    assert tiles.memory < 8e9
    assert tiles.storage == 40e9
    with pytest.raises(UnknownName, match="form: unknown form 'sparse'"):
        default(100, form="sparse")
    with pytest.raises(InvalidInput, match="k: got 200"):
        default(100, 200)
    for wrong in ({"processes": 0}, {"m": -1}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            default(100, form="gram", **wrong)
    assert sn.plan(100)[0].seconds > 0


def test_too_large_a_matrix_is_refused_at_once():
    with pytest.raises(NotEnough, match=r"n = 1000000 needs .* GB of memory.*symnmf generate"):
        sn.benchmark_matrix("corr", 10**6)


def test_too_little_memory_for_a_run_is_refused(monkeypatch):
    S = market("corr", 100).operator
    monkeypatch.setattr("symnmf.planning.requirements.free_memory", lambda: 1000.0)
    with pytest.raises(
        NotEnough, match=r"adagrad with k = 10 in addition to S needs .* Use a smaller k"
    ):
        sn.factorize(S, 10, "adagrad")
