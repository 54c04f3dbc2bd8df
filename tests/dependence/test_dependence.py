"""Estimators against scikit-learn and numpy."""

import numpy as np
import pytest
import torch
from sklearn.covariance import ledoit_wolf

from symnmf.dependence.correlation import abs_correlation_of_scores
from symnmf.dependence.global_tail import unit_diagonal_gram
from symnmf.dependence.removal import standardize
from symnmf.dependence.shrinkage import ledoit_wolf_intensity
from symnmf.errors import InvalidMatrix


def scores(n, samples, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, samples))
    X += np.random.default_rng(seed + 1).standard_normal((1, samples))
    return standardize(torch.from_numpy(X))


@pytest.mark.parametrize(("n", "samples"), [(20, 150), (60, 40)])
def test_shrunk_correlation_against_sklearn(n, samples):
    Z = scores(n, samples)
    squares = Z.square().sum(dim=0)
    S = abs_correlation_of_scores(Z, float(squares @ squares), torch.float64)
    shrunk, intensity = ledoit_wolf(Z.T.numpy(), assume_centered=True)
    assert intensity > 0
    off = ~np.eye(n, dtype=bool)
    np.testing.assert_allclose(S.numpy()[off], np.abs(shrunk)[off], atol=1e-12)
    assert (S.diagonal() == 1).all()


def test_plain_correlation_against_numpy():
    Z = scores(1100, 12_000)
    S = abs_correlation_of_scores(Z.float(), 0.0, torch.float32)
    np.testing.assert_allclose(S, np.abs(np.corrcoef(Z.numpy())), atol=1e-6)


def test_no_shrinkage_without_spread():
    assert ledoit_wolf_intensity(frob_sq=5.0, fourth=1e9, n=5, samples=10) == 0.0


def test_unit_diagonal_gram():
    angles = torch.rand(8, 30, dtype=torch.float64)
    S = unit_diagonal_gram(angles, torch.float64)
    raw = angles @ angles.T
    scale = raw.diagonal().rsqrt()
    everything = torch.arange(8)
    torch.testing.assert_close(S.block(everything, everything), scale[:, None] * raw * scale)
    angles[3] = 0
    with pytest.raises(InvalidMatrix, match="instrument 3"):
        unit_diagonal_gram(angles, torch.float32)
