"""Samples of rows by counting against the estimators on the rows themselves."""

import numpy as np
import pytest
import torch

import symnmf as sn
from symnmf.dependence import estimate
from symnmf.dependence.resampled_rows import STRIP, ResampledRows
from symnmf.dependence.resampling import Resamples
from symnmf.errors import InvalidInput


def panel(T=240, n=30, ties=False, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_t(4, size=(T, 3))[:, np.arange(n) % 3] + rng.standard_t(4, size=(T, n))
    if ties:
        X = np.round(X)
    return sn.read_panel(X, kind="returns")


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(
    ("dependence", "options"),
    [
        ("correlation", {}),
        ("correlation", {"shrinkage": "ledoit-wolf", "negative": "zero"}),
        ("correlation", {"shrinkage": 0.3, "dtype": torch.float64}),
        ("correlation", {"remove": "market"}),
        ("tail", {}),
        ("tail", {"tail": "upper", "q": 0.3}),
        ("tail", {"estimator": "ramp", "weight": "exponential"}),
        ("tail", {"estimator": "chi", "q": 0.4}),
        ("tail", {"estimator": "global", "q": 0.3}),
        ("tail", {"shrinkage": 0.1}),
    ],
)
def test_counts_give_what_the_rows_give(dependence, options, ties):
    table = panel(ties=ties)
    counted = ResampledRows(table, dependence, options)
    for rows in Resamples(T=240, draws=3, block=17):
        expected = estimate(dependence, table.at(np.sort(rows)), **options).to_dense()
        found = counted(rows).to_dense()
        assert found.dtype == expected.dtype
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("dependence", ["correlation", "tail"])
def test_matrices_of_more_than_one_strip(dependence):
    table = panel(n=STRIP + 7)
    (rows,) = Resamples(T=240, draws=1, block=17)
    found = ResampledRows(table, dependence, {})(rows).to_dense()
    assert torch.equal(found, found.T)
    expected = estimate(dependence, table.at(np.sort(rows))).to_dense()
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=2e-6)


def test_the_estimators_report_what_cannot_be_counted():
    table = panel()
    constant = table.with_values(np.where(np.arange(30) == 4, np.arange(240)[:, None] == 7, 1.0))
    rows = np.arange(240) % 5  # without the only row that differs
    with pytest.raises(InvalidInput):
        ResampledRows(constant, "tail", {})(rows)
    with pytest.raises(TypeError):
        ResampledRows(table, "tail", {"colour": 1})(rows)


def test_missing_numbers_are_left_to_the_estimator():
    table = panel()
    values = table.values.copy()
    values[3, 5] = np.nan
    holed = table.with_values(values)
    rows = np.sort(Resamples(T=240, draws=1, block=17).rows(0))
    found = ResampledRows(holed, "correlation", {})(rows).to_dense()
    torch.testing.assert_close(found, sn.abs_correlation(holed.at(rows)).to_dense())
