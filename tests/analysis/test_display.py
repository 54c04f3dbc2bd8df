"""Short descriptions for notebooks: one line, and a table in which names are text."""

import numpy as np
import pandas as pd
import pytest

import symnmf as sn
from symnmf.data.samples import sp500_prices


@pytest.fixture(scope="module")
def found():
    prices = sp500_prices().iloc[-600:].rename(columns={"AAPL": "<b>AAPL</b>"})
    return sn.analyse(prices, k=3, kind="prices", dependence="correlation", evidence=False)


def test_one_line_each(found):
    panel, S = found.panel, found.operator
    risk = sn.variance_risk(found.result, np.full(20, 0.05), panel.values.std(axis=0), S=S)
    roll = sn.rolling(panel, 300, 290, 3, "correlation")
    shown = [found.result, panel, found, risk, roll]
    beginnings = [
        "Result(n=20, k=3, ",
        "Panel(599 obs",
        "Analysis(correlation, n=20",
        "Risk(total=",
    ]
    for thing, begin in zip(shown, [*beginnings, "Rolling(2 windows of 20"], strict=True):
        assert repr(thing).startswith(begin)
        assert len(repr(thing)) < 100
        page = thing._repr_html_()
        assert page.startswith("<table>")
        assert "<b>AAPL" not in page
    assert "&lt;b&gt;AAPL" in found._repr_html_()


def test_labels_as_a_table(found):
    table = found.result.labels_frame()
    assert table.index.tolist() == list(found.panel.names)
    assert (table["group"].to_numpy() == found.result.labels().numpy() + 1).all()
    pd.testing.assert_series_equal(
        table["margin"], pd.Series(found.result.margins().numpy(), table.index, name="margin")
    )


def test_results_of_arrays_are_short(found):
    panel, result = found.panel, found.result
    S = found.operator
    shown = [
        panel.summary,
        result.certificate,
        sn.bootstrap(panel, result, "correlation", draws=2),
        sn.compare(result, dict.fromkeys(panel.names, "a")),
        sn.groups(result)[0],
        sn.group_returns(result, panel),
        sn.hierarchy(S, [2, 3]),
        sn.silhouette(S, result.labels()),
        sn.spherical_kmeans(S, 3),
        sn.suggest_rank(S),
        sn.benchmark_matrix("tpdm", 50),
        S.provenance,
    ]
    for thing in shown:
        assert repr(thing).startswith(f"{type(thing).__name__}(")
        assert len(repr(thing)) < 450, repr(thing)
        assert "array([" not in repr(thing)
        assert thing._repr_html_().startswith("<table><caption>")
    assert "&lt;b&gt;AAPL" in "".join(g._repr_html_() for g in sn.groups(result))
