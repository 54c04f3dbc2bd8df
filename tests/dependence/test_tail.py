"""The TPDM against other people's numbers, closed forms, and its own definition."""

import numpy as np
import pandas as pd
import pytest
import torch
from scipy.optimize import linear_sum_assignment

import symnmf as sn
from conftest import SHARED, dense
from symnmf.dependence.diagnostics import chi, hill_curve, threshold_stability
from symnmf.dependence.margins import gpd_scores, hill, ranks, to_margins
from symnmf.dependence.tail import Threshold, keep_largest, population_tpdm
from symnmf.errors import InvalidInput, InvalidTable, MarginWarning

GOLDEN = SHARED / "golden"


@pytest.fixture(scope="module")
def industries():
    path = SHARED / "ff30_daily_returns_pct.parquet"
    if not path.exists():
        pytest.skip("the real data are not here")
    return sn.read_panel(path, kind="returns")


def golden(name):
    return pd.read_csv(GOLDEN / name, header=None).to_numpy()


def test_global_estimate_against_golden_values(industries):
    S = sn.tail_dependence(industries, quantile=0.95, dtype=torch.float64)
    unit = dense(S).numpy()
    np.testing.assert_allclose(unit, golden("mev_ff30_losses_q0.95_std.csv"), atol=1e-12)
    root = np.sqrt(S.about.scales)
    raw = unit * root[:, None] * root
    np.testing.assert_allclose(raw, golden("mev_ff30_losses_q0.95_raw.csv"), atol=1e-12)
    assert S.about.scales.sum() == pytest.approx(30)  # the trace before it is scaled
    assert S.names[:2] == ("Food", "Beer")
    assert len(S.about.dates) == len(S.about.exceedances) == 680
    assert S.about.dates[0].startswith("19")


def test_pairwise_estimate_against_golden_values(industries):
    S = sn.tail_dependence(industries, quantile=0.95, estimator="pairwise", dtype=torch.float64)
    expected = golden("extrpatt_ff30_losses_q0.95_pairwise.csv")
    np.testing.assert_allclose(dense(S).numpy(), expected, atol=1e-12)
    assert any("indefinite" in step for step in S.about.steps)


def logistic(rng, n, alpha):
    """Two Fréchet(1) variables with the symmetric logistic copula (Stephenson, 2003)."""
    u, w = rng.uniform(0, np.pi, n), rng.exponential(size=n)
    stable = (np.sin((1 - alpha) * u) / w) ** ((1 - alpha) / alpha)
    stable *= np.sin(alpha * u) / np.sin(u) ** (1 / alpha)
    return (stable[:, None] / rng.exponential(size=(n, 2))) ** alpha


def husler_reiss(rng, n, lam):
    """A Pareto radius times log-normal profiles of mean one with variogram 4λ²."""
    profile = np.exp(2 * lam * rng.standard_normal(n) - 2 * lam**2)
    return np.stack([np.ones(n), profile], axis=1) / rng.random((n, 1))


@pytest.mark.parametrize(
    ("model", "table"),
    [(logistic, "theory_symmetric_logistic.csv"), (husler_reiss, "theory_husler_reiss.csv")],
)
def test_closed_forms_are_approached_at_the_rate_of_the_square_root(model, table):
    """Four times the exceedances, half the error, for the TPDM entry and for chi."""
    if not (GOLDEN / table).exists():
        pytest.skip("the golden values are not here")
    rows = golden(table)
    parameter, *expected = rows[np.abs(rows[:, 0] - 0.5).argmin()]
    errors = []
    for n, q, draws in ((1_000, 0.1, 60), (16_000, 0.025, 40), (256_000, 0.00625, 12)):
        rng, found = np.random.default_rng(0), []
        for _ in range(draws):
            panel = sn.read_panel(model(rng, n, parameter), kind="returns")
            S = sn.tail_dependence(panel, tail="upper", q=q, dtype=torch.float64)
            found.append([float(dense(S)[0, 1]), chi(panel, 1 - q, tail="upper")[0, 1]])
        errors.append(np.sqrt(np.square(np.array(found) - expected).mean(axis=0)))
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert (ratios > 1.3).all()
    assert (ratios.prod(axis=0) > 3).all()  # 4 is the square root of 16 times the exceedances
    assert errors[-1][0] < 0.008
    assert errors[-1][1] < 0.016


def test_factor_model_is_recovered_as_the_sample_grows():
    rng = np.random.default_rng(1)
    A = np.kron(np.eye(3), np.ones((4, 1))) * rng.uniform(0.5, 1.5, (12, 1)) + 0.1
    truth = population_tpdm(A)
    truth /= np.sqrt(np.outer(np.diag(truth), np.diag(truth)))
    gaps = []
    for n, q in ((1000, 0.1), (500_000, 0.004)):
        Z = rng.random((n, 3)) ** -0.5
        S = sn.tail_dependence(Z @ A.T, tail="upper", q=q, margins="pareto", dtype=torch.float64)
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
        gaps.append(gap(sn.tail_dependence(X, tail="upper", q=q, margins="pareto")))
    assert gaps[0] < 1e-3
    assert gaps[1] < 0.05
    assert gaps[1] < 0.6 * gaps[2]


def test_definition_with_a_plain_loop():
    rng = np.random.default_rng(2)
    R = rng.standard_t(3, size=(400, 5))
    S = sn.tail_dependence(R, q=0.1, dtype=torch.float64)
    X = to_margins(-R)
    radius = np.linalg.norm(X, axis=1)
    top = np.argsort(-radius)[:40]
    sigma = sum(np.outer(X[t], X[t]) / radius[t] ** 2 for t in top)
    d = np.sqrt(np.diag(sigma))
    np.testing.assert_allclose(dense(S).numpy(), sigma / np.outer(d, d), rtol=1e-12)
    assert sorted(S.about.exceedances) == sorted(top)
    upper = sn.tail_dependence(-R, tail="upper", q=0.1, dtype=torch.float64)
    np.testing.assert_allclose(dense(S), dense(upper))


def test_exactly_one_threshold():
    R = np.random.default_rng(0).standard_t(3, size=(1000, 3))
    for rule in ({"q": 0.05}, {"quantile": 0.95}, {"count": 50}, {}):
        assert len(sn.tail_dependence(R, **rule).about.exceedances) == 50
    about = sn.tail_dependence(R, radius=4.0).about
    assert (about.radii > 4.0).all()
    with pytest.raises(InvalidInput, match="q and count: were given together"):
        sn.tail_dependence(R, q=0.1, count=5)
    for wrong in ({"q": 0.0}, {"quantile": 1.0}, {"count": 0}, {"radius": -1.0}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            sn.tail_dependence(R, **wrong)
    with pytest.raises(InvalidInput, match="leaves 10 exceedances.*few=True"):
        sn.tail_dependence(R, count=10)
    assert len(sn.tail_dependence(R, count=10, few=True).about.exceedances) == 10


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
        sn.tail_dependence(-np.abs(X), margins="none", count=40)


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
    plain, runs = sn.tail_dependence(R), sn.tail_dependence(R, decluster=10)
    assert len(runs.about.exceedances) < len(plain.about.exceedances)
    assert runs.about.declustered == 100 - len(runs.about.exceedances)
    assert (np.diff(runs.about.exceedances) > 10).all()


def test_missing_numbers_are_refused():
    R = np.random.default_rng(0).standard_normal((100, 3))
    R[4, 1] = np.nan
    panel = sn.read_panel(R, kind="returns", missing="pairwise")
    with pytest.raises(InvalidTable, match="1 numbers are missing.*whole rows"):
        sn.tail_dependence(panel)
    for diagnostic in (chi, threshold_stability, hill_curve):
        with pytest.raises(InvalidTable, match="1 numbers are missing"):
            diagnostic(panel)
    assert Threshold.of().name == "q"


def test_what_does_not_go_together_is_refused():
    R = np.random.default_rng(0).standard_t(3, size=(1000, 3))
    with pytest.raises(InvalidInput, match="decluster: got 5 with estimator='pairwise'"):
        sn.tail_dependence(R, estimator="pairwise", decluster=5)
    top = float(np.linalg.norm(to_margins(-R), axis=1).max())
    with pytest.raises(InvalidInput, match="radius: leaves the pair"):
        sn.tail_dependence(R, estimator="pairwise", radius=0.999 * top, few=True)
    for wrong in ({"count": 50.7}, {"q": "a"}):
        with pytest.raises(InvalidInput, match=f"{next(iter(wrong))}: got"):
            sn.tail_dependence(R, **wrong)


def test_a_bounded_margin_does_not_explode():
    X = np.random.default_rng(0).random((1000, 2))
    assert to_margins(X, "gpd").max() < 1100
    assert to_margins(X, "frechet").max() > 30
