"""``symnmf risk`` and ``symnmf fit --weights``."""

import json

import pandas as pd
import pytest

from symnmf.data.samples import sp500_prices


@pytest.fixture
def folder(run, tmp_path, monkeypatch):
    """A fit of 700 days with a portfolio, made from the folder that holds its table."""
    monkeypatch.chdir(tmp_path)
    sp500_prices().iloc[-700:].to_csv("p.csv")
    (tmp_path / "w.csv").write_text("ticker,weight\nXOM,0.5\nJPM,0.3\nKO,-0.1\n")
    out = run("fit", "p.csv", "--k", "3", "--starts", "1", "--weights", "w.csv", "--out", "o")
    assert "Your portfolio: group" in out
    return tmp_path / "o"


def test_the_folder_of_a_fit(run, folder):
    page = (folder / "report.html").read_text("utf-8")
    assert '<section id="portfolio"' in page
    assert "upper bound" in page
    assert "Kinds of crashes" in page
    table = pd.read_csv(folder / "portfolio.csv").set_index("instrument")
    assert table["share"].sum() == pytest.approx(1)
    assert set(table.index) == {"XOM", "JPM", "KO"}
    for name in ("portfolio_groups.csv", "worst_days.csv", "group_returns.csv"):
        assert (folder / name).exists()
    out = run("risk", "o", "--weights", "w.csv", "--draws", "3", "--together", "XOM,CVX", "--json")
    found = json.loads(out)
    shares = {row["instrument"]: row["share"] for row in found["instruments"]}
    assert shares == pytest.approx(table["share"].to_dict())
    assert found["left_out"] is None
    assert found["together"]["low"] <= found["together"]["high"]
    assert found["together"]["days"] == 699


def test_words_and_files(run, folder, tmp_path):
    out = run("risk", "o", "--draws", "0", "--return-period", "100", "--out", "tables")
    assert "Tail scale of the portfolio" in out
    assert "exceeded on one day in 100" in out
    assert "Left out by 3 factors" in out
    assert (tmp_path / "tables" / "worst_days.csv").exists()
    assert "already exists" in run("risk", "o", "--draws", "0", "--out", "tables", code=2)
    beyond = run("risk", "o", "--draws", "0", "--return-period", "9999", code=2)
    assert "--return-period: got 9999" in beyond
    assert "the 699 days of the data" in beyond
    strange = run("risk", "o", "--draws", "0", "--together", "XOM,NOPE", code=2)
    assert "--together: 'NOPE' was not in the fit" in strange
    (tmp_path / "p.csv").unlink()
    assert "which is not there" in run("risk", "o", code=2)


def test_names_that_are_not_in_the_table(run, tmp_path):
    sp500_prices().iloc[-300:].to_csv(tmp_path / "p.csv")
    (tmp_path / "w.csv").write_text("ticker,weight\nXYZ,0.5\n")
    out = run("fit", tmp_path / "p.csv", "--weights", tmp_path / "w.csv", code=2)
    assert "'XYZ' was not in the table" in out
