"""Hard labels, and the agreement of two labelings."""

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from symnmf.core.labels import adjusted_rand, hard_labels, mutual_information


def test_unit_norm_columns_decide():
    """A large column must not take every row (raw argmax would)."""
    H = torch.tensor([[10.0, 0.1], [10.0, 0.1], [9.0, 2.0], [9.0, 2.0]])
    assert H.argmax(dim=1).tolist() == [0, 0, 0, 0]
    assert hard_labels(H)[0].tolist() == [0, 0, 1, 1]


def test_margins():
    labels, margins = hard_labels(torch.tensor([[3.0, 0.0], [0.0, 4.0], [0.0, 0.0]]))
    assert labels.tolist() == [0, 1, -1]
    assert margins.tolist() == [1.0, 1.0, 0.0]
    tie = hard_labels(torch.eye(2).repeat(2, 1) + 1)[1]
    assert (tie < 0.51).all()
    assert (tie > 0).all()


def test_rounding_is_no_membership():
    """A row, or a column, of 1e-15 belongs to no group."""
    H = torch.tensor([[1.0, 0.0, 1e-15], [0.0, 1.0, 1e-15], [1e-12, 2e-12, 0.0]])
    assert hard_labels(H)[0].tolist() == [0, 1, -1]


def test_one_column_and_zero_columns():
    labels, margins = hard_labels(torch.tensor([[2.0], [0.0]]))
    assert labels.tolist() == [0, -1]
    assert margins.tolist() == [1.0, 0.0]
    assert hard_labels(torch.tensor([[0.0, 1.0], [0.0, 2.0]]))[0].tolist() == [1, 1]


def test_agreement_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    for n in (1, 2, 10, 300):
        for k in (1, 2, 5, n):
            a, b = rng.integers(-1, k, size=n), rng.integers(k, size=n)
            assert adjusted_rand(a, b) == pytest.approx(adjusted_rand_score(a, b), abs=1e-12)
            nmi = normalized_mutual_info_score(a, b)
            assert mutual_information(a, b) == pytest.approx(nmi, abs=1e-12)
            assert adjusted_rand(a, a + 3) == 1.0
            assert mutual_information(a, a + 3) == pytest.approx(1.0)
