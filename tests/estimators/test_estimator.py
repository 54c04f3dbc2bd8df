"""scikit-learn's own suite, with no expected failures."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from symnmf import SymNMF

BLOCKS = np.kron(np.eye(3), np.ones((4, 4)))


def test_check_estimator():
    with warnings.catch_warnings():
        # scikit-learn skips its array-API check unless an environment variable is set.
        warnings.simplefilter("ignore", SkipTestWarning)
        outcomes = check_estimator(SymNMF())
    assert {o["status"] for o in outcomes} <= {"passed", "skipped"}
    skipped = [o["check_name"] for o in outcomes if o["status"] == "skipped"]
    assert skipped in ([], ["check_array_api_input"])
    assert not any(o["expected_to_fail"] for o in outcomes)
    assert len(outcomes) > 35


def test_attributes():
    model = SymNMF(n_components=3, random_state=1).fit(BLOCKS)
    assert model.embedding_.shape == (12, 3)
    assert sorted(np.bincount(model.labels_)) == [4, 4, 4]
    assert model.certificate_.converged
    assert model.n_iter_ == model.result_.iterations
    assert list(model.get_feature_names_out()) == ["symnmf0", "symnmf1", "symnmf2"]
    np.testing.assert_array_equal(clone(model).fit_predict(BLOCKS), model.labels_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_the_dtype(dtype):
    assert SymNMF(3).fit_transform(BLOCKS.astype(dtype)).dtype == dtype


def test_options_reach_the_solver():
    model = SymNMF(3, solver="admm", options={"rho": 5.0}).fit(BLOCKS)
    assert model.result_.options["rho"] == 5.0
