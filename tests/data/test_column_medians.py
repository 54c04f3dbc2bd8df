"""Medians of columns with missing numbers are those of numpy, to the last bit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from symnmf.data.column_medians import column_medians


@pytest.mark.parametrize("rows", [1, 2, 7, 40, 41])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.95])
def test_equal_to_numpy(rows: int, missing: float) -> None:
    rng = np.random.default_rng(rows)
    x = rng.normal(size=(rows, 30)) * 10.0 ** rng.integers(-5, 5, size=30)
    x[rng.random(x.shape) < missing] = np.nan
    x[:, 3] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = np.nanmedian(x, axis=0)
    for given in (x, np.asfortranarray(x)):
        before = given.copy()
        np.testing.assert_array_equal(column_medians(given), expected)
        np.testing.assert_array_equal(given, before)


def test_infinite_and_empty() -> None:
    assert column_medians(np.array([[np.inf], [1.0], [np.nan]])).tolist() == [np.inf]
    assert np.isnan(column_medians(np.empty((0, 2)))).all()
    assert column_medians(np.empty((4, 0))).shape == (0,)
