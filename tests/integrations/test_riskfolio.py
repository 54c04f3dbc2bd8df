"""The matrix and the groups inside the real Riskfolio-Lib."""

import numpy as np
import pytest

import symnmf as sn
from symnmf.data.samples import sp500_prices
from symnmf.integrations.riskfolio import as_riskfolio
from symnmf.integrations.skfolio import group_limits

pytestmark = [pytest.mark.filterwarnings("ignore")]
rp = pytest.importorskip("riskfolio")


@pytest.fixture(scope="module")
def returns():
    return sp500_prices().pct_change().iloc[-900:]


def test_the_matrix_as_custom_covariance(returns):
    S = sn.tail_dependence(sn.read_panel(returns, kind="returns"))
    portfolio = rp.HCPortfolio(returns=returns)
    weights = portfolio.optimization(
        model="HRP", codependence="custom_cov", custom_cov=S.to_frame().astype(float), rm="MV",
        linkage="ward",
    )  # fmt: skip
    assert float(weights.sum().iloc[0]) == pytest.approx(1)
    codependence = np.asarray(portfolio.codep)
    np.testing.assert_allclose(codependence, S.to_dense().numpy(), atol=1e-5)


def test_groups_as_constraints(returns):
    result = sn.factorize(sn.abs_correlation(sn.read_panel(returns, kind="returns")), 4)
    classes = as_riskfolio(result)
    group = classes["Class"].iloc[0]
    rule = {
        "Disabled": [False], "Type": ["Classes"], "Set": ["Class"], "Position": [group],
        "Sign": ["<="], "Weight": [0.1], "Type Relative": [""], "Relative Set": [""],
        "Relative": [""], "Factor": [""],
    }  # fmt: skip
    import pandas as pd

    A, B = rp.assets_constraints(pd.DataFrame(rule), classes)
    portfolio = rp.Portfolio(returns=returns)
    portfolio.assets_stats(method_mu="hist", method_cov="hist")
    portfolio.ainequality, portfolio.binequality = A, B
    weights = portfolio.optimization(model="Classic", rm="MV", obj="MinRisk")["weights"]
    members = classes.loc[classes["Class"] == group, "Assets"]
    assert weights[members].sum() <= 0.1 + 1e-6
    limits = group_limits(result, 0.4)
    portfolio.ainequality, portfolio.binequality = limits[0], limits[1][:, None]
    weights = portfolio.optimization(model="Classic", rm="MV", obj="MinRisk")["weights"]
    assert (limits[0] @ weights.to_numpy() <= 0.4 + 1e-5).all()
