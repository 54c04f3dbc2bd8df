"""Estimators of tail dependence against other programs and against closed forms.

The values lie in tests/golden, so that every clone compares with them. Tests on tables that may not
be copied into the repository are marked ``shared_data``.
"""

import numpy as np
import pytest
import torch

import symnmf as sn
from helpers import SHARED, dense, golden
from symnmf.data.samples import sp500_prices
from symnmf.dependence.diagnostics import chi


@pytest.fixture(scope="module")
def stocks():
    panel = sn.read_panel(sp500_prices(), kind="prices")
    assert panel.values.shape == (8312, 20)
    return panel


def test_pairwise_estimate_of_the_bundled_stocks(stocks):
    S = sn.tail_dependence(
        stocks, tail="lower", quantile=0.95, estimator="pairwise", dtype=torch.float64
    )
    expected = golden("extrpatt_sp20_losses_q0.95_pairwise.csv")
    np.testing.assert_allclose(dense(S).numpy(), expected, rtol=0, atol=1e-14)


def test_chi_of_the_bundled_stocks(stocks):
    expected = golden("ge_chi_sp20_losses_p0.95.csv")
    np.testing.assert_allclose(chi(stocks, 0.95, tail="lower"), expected, rtol=0, atol=1e-14)


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


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "table"),
    [(logistic, "theory_symmetric_logistic.csv"), (husler_reiss, "theory_husler_reiss.csv")],
)
def test_closed_forms_are_approached_at_the_rate_of_the_square_root(model, table):
    """Four times the exceedances, half the error, for the TPDM entry and for chi."""
    rows = golden(table)
    parameter, *expected = rows[np.abs(rows[:, 0] - 0.5).argmin()]
    errors = []
    for n, q, draws in ((1_000, 0.1, 60), (16_000, 0.025, 40), (256_000, 0.00625, 12)):
        rng, found = np.random.default_rng(0), []
        for _ in range(draws):
            panel = sn.read_panel(model(rng, n, parameter), kind="returns")
            S = sn.tail_dependence(
                panel, tail="upper", q=q, dtype=torch.float64, estimator="global"
            )
            found.append([float(dense(S)[0, 1]), chi(panel, 1 - q, tail="upper")[0, 1]])
        errors.append(np.sqrt(np.square(np.array(found) - expected).mean(axis=0)))
    ratios = np.array(errors[:-1]) / np.array(errors[1:])
    assert (ratios > 1.3).all()
    assert (ratios.prod(axis=0) > 3).all()  # 4 is the square root of 16 times the exceedances
    assert errors[-1][0] < 0.008
    assert errors[-1][1] < 0.016


@pytest.fixture(scope="module")
def industries():
    return sn.read_panel(SHARED / "ff30_daily_returns_pct.parquet", kind="returns")


@pytest.mark.shared_data
def test_global_estimate_of_the_industries(industries):
    S = sn.tail_dependence(industries, quantile=0.95, dtype=torch.float64, estimator="global")
    unit = dense(S).numpy()
    scaled = golden("mev_ff30_losses_q0.95_std.csv", SHARED / "golden")
    np.testing.assert_allclose(unit, scaled, atol=1e-12)
    root = np.sqrt(S.provenance.scales)
    raw = golden("mev_ff30_losses_q0.95_raw.csv", SHARED / "golden")
    np.testing.assert_allclose(unit * root[:, None] * root, raw, atol=1e-12)
    assert S.provenance.scales.sum() == pytest.approx(30)  # the trace before it is scaled
    assert S.names[:2] == ("Food", "Beer")
    assert len(S.provenance.dates) == len(S.provenance.exceedances) == 680
    assert S.provenance.dates[0].startswith("19")


@pytest.mark.shared_data
def test_pairwise_estimate_of_the_industries(industries):
    S = sn.tail_dependence(industries, quantile=0.95, estimator="pairwise", dtype=torch.float64)
    expected = golden("extrpatt_ff30_losses_q0.95_pairwise.csv", SHARED / "golden")
    np.testing.assert_allclose(dense(S).numpy(), expected, atol=1e-12)
    assert any("indefinite" in step for step in S.provenance.steps)


@pytest.mark.shared_data
def test_chi_of_the_industries(industries):
    expected = golden("ge_chi_ff30_losses_p0.95.csv", SHARED / "golden")
    np.testing.assert_allclose(chi(industries), expected, atol=1e-12)
