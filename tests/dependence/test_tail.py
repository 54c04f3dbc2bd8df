"""The TPDM against known factor models and its own definition."""

import numpy as np
import pytest
import torch
from scipy.optimize import linear_sum_assignment

import symnmf as sn
from helpers import dense, population_tpdm
from symnmf.dependence.diagnostics import chi, hill_curve, threshold_stability
from symnmf.dependence.margins import gpd_scores, hill, ranks, to_margins
from symnmf.dependence.threshold import Threshold, keep_largest
from symnmf.errors import InvalidInput, InvalidTable, MarginWarning


def test_factor_model_is_recovered_as_the_sample_grows():
    rng = np.random.default_rng(1)
    A = np.kron(np.eye(3), np.ones((4, 1))) * rng.uniform(0.5, 1.5, (12, 1)) + 0.1
    truth = population_tpdm(A)
    truth /= np.sqrt(np.outer(np.diag(truth), np.diag(truth)))
    gaps = []
    for n, q in ((1000, 0.1), (500_000, 0.004)):
        Z = rng.random((n, 3)) ** -0.5
        S = sn.tail_dependence(
            Z @ A.T, tail="upper", q=q, margins="pareto", dtype=torch.float64, estimator="global"
        )
        gaps.append(float(np.abs(dense(S).numpy() - truth).mean()))
    assert gaps[1] < 0.5 * gaps[0]
    assert gaps[1] < 0.08  # the body of the margins keeps a floor under it at any threshold


def test_loadings_of_the_factor_model_are_recovered_as_the_sample_grows():
    """H approaches D^{-1/2} A up to the order of columns, where A is identified by pure rows."""
    rng = np.random.default_rng(3)
    A = np.kron(np.eye(3), np.ones((5, 1))) * rng.uniform(0.5, 1.5, (15, 1))
    A[[4, 9, 14], [1, 2, 0]] = 0.6  # one mixed instrument in each group
    truth = A / np.linalg.norm(A, axis=1, keepdims=True)
    scaled = population_tpdm(A) / np.sqrt(np.outer(*2 * [np.diag(population_tpdm(A))]))

    def gap(S):
        H = sn.factorize(S, 3, n_init=5).H.double().numpy()
        at = linear_sum_assignment(-(truth.T @ H))[1]
        return float(np.abs(H[:, at] - truth).mean())

    gaps = [gap(scaled)]
    for n, q in ((400_000, 0.002), (1_000, 0.1)):
        X = rng.random((n, 3)) ** -0.5 @ A.T
        gaps.append(
            gap(sn.tail_dependence(X, tail="upper", q=q, margins="pareto", estimator="global"))
        )
    assert gaps[0] < 1e-3
    assert gaps[1] < 0.05
    assert gaps[1] < 0.6 * gaps[2]


def test_definition_with_a_plain_loop():
    rng = np.random.default_rng(2)
    R = rng.standard_t(3, size=(400, 5))
    S = sn.tail_dependence(R, q=0.1, dtype=torch.float64, estimator="global")
    X = to_margins(-R)
    radius = np.linalg.norm(X, axis=1)
    top = np.argsort(-radius)[:40]
    sigma = sum(np.outer(X[t], X[t]) / radius[t] ** 2 for t in top)
    d = np.sqrt(np.diag(sigma))
    np.testing.assert_allclose(dense(S).numpy(), sigma / np.outer(d, d), rtol=1e-12)
    assert sorted(S.provenance.exceedances) == sorted(top)
    upper = sn.tail_dependence(-R, tail="upper", q=0.1, dtype=torch.float64, estimator="global")
    np.testing.assert_allclose(dense(S), dense(upper))


def test_exactly_one_threshold():
    R = np.random.default_rng(0).standard_t(3, size=(1000, 3))
    for rule in ({"q": 0.05}, {"quantile": 0.95}, {"count": 50}, {}):
        assert len(sn.tail_dependence(R, **rule, estimator="global").provenance.exceedances) == 50
    about = sn.tail_dependence(R, radius=4.0, estimator="global").provenance
    assert (about.radii > 4.0).all()
    with pytest.raises(InvalidInput, match="q and count: were passed together"):
        sn.tail_dependence(R, q=0.1, count=5, estimator="global")
    for wrong in ({"q": 0.0}, {"quantile": 1.0}, {"count": 0}, {"radius": -1.0}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            sn.tail_dependence(R, **wrong, estimator="global")
    with pytest.raises(InvalidInput, match="leaves 10 exceedances.*few=True"):
        sn.tail_dependence(R, count=10, estimator="global")
    assert (
        len(
            sn.tail_dependence(
                R, count=10, allow_few=True, estimator="global"
            ).provenance.exceedances
        )
        == 10
    )


def test_margins():
    X = np.random.default_rng(0).standard_normal((500, 2))
    u = ranks(X)
    np.testing.assert_allclose(to_margins(X), (-np.log(u)) ** -0.5)
    np.testing.assert_allclose(to_margins(X, "pareto", 3.0), (1 - u) ** (-1 / 3))
    assert ranks(np.array([[1.0], [1.0], [2.0]]))[:, 0].tolist() == [0.375, 0.375, 0.75]
    scores = gpd_scores(X)
    below = np.quantile(X, 0.95, axis=0) >= X
    np.testing.assert_allclose(scores[below], u[below])
    assert (np.diff(scores[np.argsort(X[:, 0]), 0]) >= 0).all()
    assert np.abs(scores - u).max() < 0.02
    with pytest.raises(InvalidInput, match="margins: got 'normal'"):
        to_margins(X, "normal")
    with pytest.warns(MarginWarning, match="Hill estimate"):
        sn.tail_dependence(-np.abs(X), margins="none", count=40, estimator="global")


def test_hill_of_pareto_draws():
    x = np.random.default_rng(0).random(20_000) ** (-1 / 2.5)
    assert hill(x, 1000) == pytest.approx(2.5, rel=0.1)


def test_declustering_keeps_the_largest_of_a_run():
    radii = np.array([0, 5, 6, 0, 0, 0, 7, 0, 8, 0.0])
    chosen = np.array([1, 2, 6, 8])
    assert keep_largest(chosen, radii, 0).tolist() == [1, 2, 6, 8]
    assert keep_largest(chosen, radii, 1).tolist() == [2, 6, 8]
    assert keep_largest(chosen, radii, 2).tolist() == [2, 8]
    R = np.random.default_rng(0).standard_t(3, size=(2000, 3))
    plain, runs = (
        sn.tail_dependence(R, estimator="global"),
        sn.tail_dependence(R, decluster=10, estimator="global"),
    )
    assert len(runs.provenance.exceedances) < len(plain.provenance.exceedances)
    assert runs.provenance.declustered == 100 - len(runs.provenance.exceedances)
    assert (np.diff(runs.provenance.exceedances) > 10).all()


def test_missing_numbers_are_refused():
    R = np.random.default_rng(0).standard_normal((100, 3))
    R[4, 1] = np.nan
    panel = sn.read_panel(R, kind="returns", missing="pairwise")
    with pytest.raises(InvalidTable, match="1 numbers are missing.*complete rows"):
        sn.tail_dependence(panel, estimator="global")
    for diagnostic in (chi, threshold_stability, hill_curve):
        with pytest.raises(InvalidTable, match="1 numbers are missing"):
            diagnostic(panel)
    assert Threshold.of(0.05).name == "q"


def test_what_does_not_go_together_is_refused():
    R = np.random.default_rng(0).standard_t(3, size=(1000, 3))
    with pytest.raises(InvalidInput, match="weight: got 'ramp' with estimator='chi'"):
        sn.tail_dependence(R, estimator="chi", weight="ramp")
    with pytest.raises(InvalidInput, match="radius: is not a threshold for estimator='ramp'"):
        sn.tail_dependence(R, estimator="ramp", radius=2.0)
    top = float(np.linalg.norm(to_margins(-R), axis=1).max())
    with pytest.raises(InvalidInput, match="radius: leaves the pair"):
        sn.tail_dependence(R, estimator="pairwise", radius=0.999 * top, allow_few=True)
    for wrong in ({"count": 50.7}, {"q": "a"}):
        with pytest.raises(InvalidInput, match=f"{next(iter(wrong))}: got"):
            sn.tail_dependence(R, **wrong, estimator="global")


def test_a_bounded_margin_does_not_explode():
    X = np.random.default_rng(0).random((1000, 2))
    assert to_margins(X, "gpd").max() < 1100
    assert to_margins(X, "frechet").max() > 30
