"""What many tests share."""

from functools import cache
from pathlib import Path

import pytest
import torch

from symnmf.synthetic import Benchmark, benchmark_matrix

SEEDS = (7, 42, 99)
SHARED = Path(__file__).parents[2] / "shared" / "data"


@cache
def market(kind: str, n: int, seed: int = 7) -> Benchmark:
    """A benchmark matrix, made once a session."""
    return benchmark_matrix(kind, n, seed=seed)


def dense(operator) -> torch.Tensor:
    """The formed matrix of a small operator, in float64."""
    everything = torch.arange(operator.n)
    return operator.block(everything, everything).to(torch.float64)


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture(autouse=True)
def _the_same_draws_every_time() -> None:
    torch.manual_seed(0)
