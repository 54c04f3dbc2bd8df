"""scikit-learn's own suite, with no expected failures."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

import symnmf as sn
from symnmf import SymNMF
from symnmf.errors import (
    AmbiguousWarning,
    DataWarning,
    InvalidInput,
    InvalidTable,
    SingleEventsWarning,
)

BLOCKS = np.kron(np.eye(3), np.ones((4, 4)))


@pytest.mark.parametrize(
    "model",
    [
        SymNMF(),
        sn.DependenceFactors(),
        sn.DependenceFactors(dependence="correlation", kind="values"),
    ],
    ids=repr,
)
def test_check_estimator(model):
    with warnings.catch_warnings():
        # scikit-learn skips its array-API check unless an environment variable is set.
        warnings.simplefilter("ignore", SkipTestWarning)
        # Its arrays have few rows, and numbers around 100.
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", SingleEventsWarning)
        # Its matrices are random: other starts may find other groups.
        warnings.simplefilter("ignore", AmbiguousWarning)
        outcomes = check_estimator(model)
    assert {o["status"] for o in outcomes} <= {"passed", "skipped"}
    skipped = [o["check_name"] for o in outcomes if o["status"] == "skipped"]
    assert skipped in ([], ["check_array_api_input"])
    assert not any(o["expected_to_fail"] for o in outcomes)
    assert len(outcomes) > 35


def test_arrays_without_names_lead_to_warnings_and_tables_to_errors():
    rng = np.random.default_rng(0)
    blocks = np.repeat(rng.normal(size=(200, 2)), 2, axis=1)
    few = (blocks + 0.1 * rng.normal(size=(200, 4)))[:30]
    with pytest.warns(DataWarning, match="0.5 leaves 15 exceedances of 30 observations"):
        sn.DependenceFactors().fit(few)
    with pytest.raises(InvalidInput, match="At least 25 are needed"):
        sn.DependenceFactors().fit(pd.DataFrame(few, columns=list("abcd")))
    noise = 100 + blocks + 0.1 * rng.normal(size=(200, 4))
    with pytest.warns(DataWarning, match="taken as values around a level"):
        labels = sn.DependenceFactors().fit(noise).labels_
    np.testing.assert_array_equal(labels, sn.DependenceFactors().fit(noise - 100).labels_)
    with pytest.raises(InvalidTable, match="these are not returns"):
        sn.DependenceFactors().fit(pd.DataFrame(noise, columns=list("abcd")))
    prices = 100 * np.exp(np.cumsum(0.01 * few, axis=0))
    with pytest.raises(InvalidTable, match="these are not returns"):
        sn.DependenceFactors().fit(prices)


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


def test_the_seed_may_be_a_generator_or_none():
    labels = [
        SymNMF(3, random_state=state).fit(BLOCKS).labels_
        for state in (None, np.random.default_rng(0), np.random.RandomState(0))
    ]
    assert all(sorted(np.bincount(found)) == [4, 4, 4] for found in labels)


def test_an_operator_and_a_suggested_number():
    b = sn.benchmark_matrix("corr", 100, seed=7)
    model = SymNMF("auto").fit(b.operator)
    assert model.n_components == "auto"
    assert model.embedding_.shape == (100, 10)
    assert model.n_features_in_ == 100


def test_groups_have_names_and_score_is_the_fit_of_other_matrices():
    names = [f"n{i}" for i in range(12)]
    S = pd.DataFrame(BLOCKS * 0.9 + 0.1 * np.eye(12), names, names)
    model = SymNMF(3).fit(S)
    assert model.groups_.index.tolist() == names
    assert (model.groups_["group"].to_numpy() == model.labels_ + 1).all()
    other = S + 0.05
    H = model.embedding_
    off = ~np.eye(12, dtype=bool)
    expected = (
        1 - ((other - H @ H.T).to_numpy()[off] ** 2).sum() / (other.to_numpy()[off] ** 2).sum()
    )
    assert model.score(other) == pytest.approx(expected, abs=1e-6)
