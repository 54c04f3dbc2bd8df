"""How reliably the rows converge on the paper's matrices, certified. Long: `make test-all`."""

import pytest

from helpers import SEEDS, market
from symnmf.core.problem import Problem
from symnmf.core.result import Status
from symnmf.engine import solve
from symnmf.solvers.registry import find

#: The methods that the paper reports as converging on all of its runs.
ELEVEN = (
    "admm",
    "rmsprop",
    "adagrad",
    "piecewise-adagrad",
    "row-svrg",
    "block-svrg-adaptgrow",
    "adan",
    "nadam",
    "adam",
    "hals",
    "lai",
)
PHASE_2 = ELEVEN[:6]


def certified(name, kind, n, seed, k=None):
    b, row = market(kind, n, seed), find(name)
    result = solve(Problem(b.operator, k or b.k, seed, row.start), row.make())
    assert result.status is Status.CONVERGED
    assert result.certificate.excess <= 0.05


@pytest.mark.parametrize("name", ELEVEN)
@pytest.mark.parametrize("kind", ["tpdm", "corr"])
def test_eleven_methods_small(name, kind):
    certified(name, kind, 100, 7)


@pytest.mark.slow
@pytest.mark.parametrize("name", ELEVEN)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("kind", ["tpdm", "corr"])
def test_eleven_methods(name, kind, n, seed):
    certified(name, kind, n, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", PHASE_2)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["tpdm", "corr"])
def test_phase_2_methods_at_fixed_rank(name, kind, seed):
    certified(name, kind, 1000, seed, k=25)


@pytest.mark.slow
@pytest.mark.parametrize("name", PHASE_2)
@pytest.mark.parametrize("seed", SEEDS)
def test_phase_2_methods_tpdm_10_000(name, seed):
    certified(name, "tpdm", 10_000, seed)
