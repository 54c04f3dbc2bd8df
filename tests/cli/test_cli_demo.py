"""``symnmf demo``: synthetic matrices and the bundled stocks."""

import pytest

import symnmf as sn


def test_demo(run, tmp_path):
    out = run("demo", "--out", tmp_path / "demo", "--synthetic", "--n", 64)
    assert out.count("CONVERGED") == 2
    assert out.index("8 groups of instruments") < out.index("CONVERGED")  # the answer comes first
    for kind in ("tpdm", "corr"):
        assert sn.load(tmp_path / "demo" / kind).status.good
        page = (tmp_path / "demo" / kind / "report.html").read_text()
        assert page.count("<svg") >= 5
        assert 'src="http' not in page


@pytest.mark.slow
def test_demo_on_real_prices(run, tmp_path):
    out = run("demo", "--out", tmp_path / "demo")
    assert "20 S&P 500 stocks, 1990-01-03 to 2022-12-28" in out
    assert out.count("CONVERGED") == 2
    line = next(line for line in out.splitlines() if "XOM" in line)
    assert "CVX" in line  # the oil companies are in one group
    assert sn.load(tmp_path / "demo" / "tpdm").names[0] == "AAPL"
