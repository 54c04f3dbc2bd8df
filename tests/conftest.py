"""Fixtures of all tests."""

import pytest
import torch

from helpers import SHARED


@pytest.fixture
def rng() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture(autouse=True)
def _the_same_draws_every_time() -> None:
    torch.manual_seed(0)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("shared_data") and not SHARED.is_dir():
        pytest.skip("needs tables that may not be copied into the repository (../shared/data)")
    if item.get_closest_marker("gpu") and not torch.cuda.is_available():
        pytest.skip("needs a GPU of CUDA")
