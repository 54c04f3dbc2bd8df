"""The TPDM of a factor model for tail indices other than 2, against simulated angles."""

import numpy as np
import pytest
import torch

from helpers import dense, population_tpdm
from symnmf.dependence.global_tail import unit_diagonal_gram


def unit_diagonal(S):
    size = np.sqrt(np.diag(S))
    return S / size / size[:, None]


@pytest.mark.parametrize("alpha", [1.0, 3.0])
def test_angles_of_a_factor_model_approach_its_tpdm(alpha):
    """A Z with independent Pareto(α) factors: Σ_j ‖a_j‖^{α−2} a_j a_jᵀ, which is not A Aᵀ."""
    rng = np.random.default_rng(6)
    A = rng.uniform(0.0, 1.0, (6, 3)) * np.array([0.5, 1.0, 2.0])
    X = (rng.pareto(alpha, (2_000_000, 3)) + 1) @ A.T
    radii = np.linalg.norm(X, axis=1)
    far = np.argpartition(radii, -1000)[-1000:]
    angles = torch.from_numpy((X[far] / radii[far, None]).T)
    found = dense(unit_diagonal_gram(angles, torch.float64)).numpy()
    assert np.abs(found - unit_diagonal(population_tpdm(A, alpha))).max() < 0.04
    assert np.abs(found - unit_diagonal(A @ A.T)).max() > 0.2
