"""The same inputs for every command: kinds, dates, estimator options, and what is printed first."""

import inspect
import json
import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest

import symnmf as sn
from symnmf.cli.estimator_options import ESTIMATOR_OPTIONS
from symnmf.data.samples import sp500_prices
from symnmf.dependence.margins import MARGINS


@pytest.fixture(scope="module")
def prices(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "prices.csv"
    sp500_prices().iloc[-800:].to_csv(path)
    return path


def test_groups_come_first_and_the_kind_is_found(run_streams, prices, tmp_path):
    out, _ = run_streams("fit", prices, "--k", 4, "--out", tmp_path / "o", "--no-report")
    lines = out.splitlines()
    assert lines[0] == f"Reading {prices}"
    assert lines[1].startswith("prices, 799 observations of 20 instruments")
    assert lines[2] == "4 groups of instruments that crash together:"
    result = sn.load(tmp_path / "o")
    for line, group in zip(lines[3:7], sn.groups(result), strict=True):
        assert line.split()[:2] == group.name.split()
        assert ", ".join(group.members[:12]) in line
    assert lines[7].startswith("CONVERGED. Converged")
    assert "log returns of prices" not in out
    record = json.loads((tmp_path / "o" / "data.json").read_text())
    assert record["kind"] == "prices"
    assert "numbers taken as prices, by their behaviour" in record["panel"]


def test_data_without_groups_are_told_first(run_streams, tmp_path):
    rng = np.random.default_rng(0)
    dates = pd.bdate_range("2015", periods=400)
    pd.DataFrame(rng.normal(size=(400, 8)), dates, list("abcdefgh")).to_csv(tmp_path / "r.csv")
    words = ("fit", "--returns", tmp_path / "r.csv", "--dependence", "correlation", "--no-report")
    out, _ = run_streams(*words, "--out", tmp_path / "o")
    assert "\nNo groups in these data: " in out
    assert "1 group" not in out


def test_from_to_and_estimator_options_reach_the_estimate(run_streams, prices, tmp_path):
    words = ("fit", "--prices", prices, "--k", 3, "--from", "2020", "--to", "2022-06", "--q", 0.2)
    more = ("--tail", "upper", "--decluster", 2, "--simple-returns", "--no-report")
    run_streams(*words, *more, "--out", tmp_path / "o")
    panel = sn.read_panel(prices, kind="prices", returns="simple", start="2020", end="2022-06")
    S = sn.tail_dependence(panel, q=0.2, tail="upper", decluster=2)
    assert (sn.load(tmp_path / "o").H == sn.factorize(S, 3).H).all()
    config = tomllib.loads((tmp_path / "o" / "config.toml").read_text("utf-8"))
    for key in ("prices", "from", "to", "q", "tail", "decluster", "simple-returns", "jumps"):
        assert key in config
    run_streams("fit", "--config", tmp_path / "o" / "config.toml", "--out", tmp_path / "p")
    assert (sn.load(tmp_path / "p").H == sn.load(tmp_path / "o").H).all()


def test_every_declared_option_is_a_keyword_of_an_estimator():
    known = {
        name
        for made in (sn.tail_dependence, sn.abs_correlation)
        for name in inspect.signature(made).parameters
    }
    assert {option.keyword for option in ESTIMATOR_OPTIONS} <= known


def test_market_is_removed_from_correlation_and_has_no_meaning_elsewhere(
    run_streams, prices, tmp_path
):
    words = ("fit", prices, "--k", 3, "--market", "remove", "--no-report")
    run_streams(*words, "--dependence", "correlation", "--out", tmp_path / "o")
    panel = sn.read_panel(prices, kind="prices")
    S = sn.abs_correlation(panel, remove="market")
    assert (sn.load(tmp_path / "o").H == sn.factorize(S, 3).H).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--q", "0.7"], "--q: got 0.7. Pass a number of at most 0.5"),
        (["--market", "remove"], "--market: has no meaning for --dependence tail"),
        (["--from", "1950", "--to", "1960"], "no row is between 1950 and 1960"),
        (["--drop", "AAPLE"], "Did you mean 'AAPL'"),
        (["--returns", "x.csv"], "were given together"),
    ],
)
def test_wrong_options_are_said_before_the_fit(run_streams, prices, tmp_path, options, words):
    out = tmp_path / "o"
    assert words in run_streams("fit", prices, *options, "--out", out, code=2)[1]
    assert not (out / "manifest.json").exists()


def test_classes_in_other_letters_are_said_before_the_fit(run_streams, prices, tmp_path):
    path = tmp_path / "sectors.csv"
    path.write_text("ticker,sector\naapl,tech\nxom,energy\n")
    words = ("fit", prices, "--compare", path, "--out", tmp_path / "o")
    err = run_streams(*words, code=2)[1]
    assert "'AAPL' is written 'aapl' there" in err
    assert not (tmp_path / "o" / "manifest.json").exists()


def test_rank_of_a_table(run_streams, prices):
    shown = json.loads(run_streams("rank", prices, "--dependence", "correlation", "--json")[0])
    S = sn.abs_correlation(sn.read_panel(prices, kind="prices"))
    assert shown["k"] == sn.suggest_rank(S).k


@pytest.mark.parametrize("dependence", ["tail", "correlation"])
@pytest.mark.filterwarnings("ignore::symnmf.errors.MarginWarning")
def test_risk(run_streams, prices, tmp_path, dependence):
    weights = tmp_path / "w.csv"
    weights.write_text("name;weight\nXOM;50 %\nCVX;0,5\n")
    words = ("risk", prices, "--k", 3, "--dependence", dependence, "--weights", weights, "--json")
    shown = json.loads(run_streams(*words)[0])
    shares = {row["instrument"]: row["share"] for row in shown["instruments"]}
    assert shares["XOM"] + shares["CVX"] == pytest.approx(1)
    if dependence == "correlation":
        x = sn.read_panel(prices, kind="prices")
        both = x.values[:, [x.names.index("XOM"), x.names.index("CVX")]]
        R = sn.abs_correlation(x).to_frame().loc["XOM", "CVX"]
        s = both.std(axis=0)
        expected = np.sqrt(0.25 * (s[0] ** 2 + s[1] ** 2 + 2 * R * s[0] * s[1]))
        assert shown["total"] == pytest.approx(expected, rel=1e-5)


def test_bootstrap_of_a_stored_fit(run_streams, prices, tmp_path):
    words = (prices, "--dependence", "correlation")
    run_streams("fit", *words, "--k", 3, "--out", tmp_path / "o", "--no-report")
    more = ("--result", tmp_path / "o", "--draws", 2, "--json")
    shown = json.loads(run_streams("bootstrap", *words, *more)[0])
    folder = ("bootstrap", tmp_path / "o", "--draws", 2, "--json")
    assert json.loads(run_streams(*folder)[0]) == shown
    result = sn.load(tmp_path / "o")
    held = sn.bootstrap(sn.read_panel(prices, kind="prices"), result, "correlation", draws=2)
    assert list(shown["groups"].values()) == pytest.approx(held.groups.tolist())
    other = tmp_path / "other.csv"
    sp500_prices().iloc[-800:, :10].to_csv(other)
    assert (
        "holds a fit of 20 instruments, not of the 10"
        in run_streams("bootstrap", other, "--result", tmp_path / "o", code=2)[1]
    )


def test_compare(run_streams, prices, tmp_path):
    for k in (3, 4):
        run_streams("fit", prices, "--k", k, "--out", tmp_path / str(k), "--no-report")
    shown = json.loads(run_streams("compare", tmp_path / "3", tmp_path / "4", "--json")[0])
    from sklearn.metrics import adjusted_rand_score

    labels = [sn.load(tmp_path / k).labels() for k in ("3", "4")]
    assert shown["ari"] == pytest.approx(adjusted_rand_score(*labels))
    assert shown["names"] == 20
    again = json.loads(run_streams("compare", tmp_path / "3", tmp_path / "3", "--json")[0])
    assert again["moved"] == {}
    assert again["ari"] == 1.0


def test_export(run_streams, prices, tmp_path):
    common = ("export", prices, "--dependence", "correlation", "--k", 3)
    run_streams(*common, "--format", "matrix", "--out", tmp_path / "S.parquet")
    S = sn.abs_correlation(sn.read_panel(prices, kind="prices"))
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "S.parquet"), S.to_frame())
    run_streams(*common, "--format", "riskfolio", "--out", tmp_path / "c.csv")
    run_streams(*common, "--format", "skfolio", "--out", tmp_path / "c.json")
    classes = pd.read_csv(tmp_path / "c.csv")
    assert list(classes.columns) == ["Assets", "Class"]
    groups = json.loads((tmp_path / "c.json").read_text())
    safe = ["G" + word.replace(" ", "_") for word in classes["Class"]]
    assert [groups[name][0] for name in classes["Assets"]] == safe
    assert "already exists" in run_streams(*common, "--out", tmp_path / "c.csv", code=2)[1]


def test_version_and_help_without_torch():
    code = (
        "import sys; sys.argv = ['symnmf', %r]\n"
        "from symnmf.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'torch', 'pandas', 'scipy', 'sklearn', 'plotly'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    for option in ("--version", "--help"):
        done = subprocess.run([sys.executable, "-c", code % option], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert (
        "symnmf 0"
        in subprocess.run(
            [sys.executable, "-m", "symnmf", "--version"], capture_output=True, text=True
        ).stdout
    )


def test_a_bug_is_called_one(run, prices, monkeypatch):
    import symnmf.grouping.rank_selection as module

    def broken(*_, **__):
        raise RuntimeError("this cannot happen")

    monkeypatch.setattr(module, "suggest_rank", broken)
    text = run("rank", prices, code=4)
    assert "an error of symnmf, not of your data: RuntimeError" in text
    assert "Traceback" not in text


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fit FILE --k 3 --sheet Prices", "--sheet: got 'Prices', but FILE is no workbook"),
        ("fit FILE --k 3 --seed abc", "'--seed': pass a whole number"),
        ("fit FILE --k 3 --q zero", "'--q': pass a number"),
        ("fit FILE --k 3 --margins gauss", "'gauss' is not one of frechet, pareto, gpd, none"),
        ("fit FILE --k 3 --max-seconds -1", "--max-seconds: got -1. Pass a number of at least 0"),
        ("fit FILE --k 3 --weights FILE", "Pass a table with a name and a weight in each line"),
        ("bootstrap FILE --k 3 --draws 0", "--draws: got 0. Pass a whole number from 1"),
        ("risk FILE --k 3 --draws 0 --together XOM,KO --level 2", "--level: is no extreme"),
        ("risk FILE --k 3 --draws 0 --together XOM,KO --level -1", "--level: is beyond the data"),
    ],
)
def test_wrong_options_are_refused_in_the_words_of_the_door(run, prices, tmp_path, command, words):
    out = ["--out", tmp_path / "o"] if command.startswith("fit") else []
    said = run(*command.replace("FILE", str(prices)).split(), *out, code=2)
    said = " ".join(said.replace("│", " ").split())
    assert words.replace("FILE", str(prices)) in said
    assert not (tmp_path / "o" / "model.json").exists()


@pytest.mark.parametrize(
    "command", ["risk FILE --k 2", "bootstrap FILE --k 2", "roll FILE --k 2 --window 9 --step 9"]
)
def test_a_matrix_has_no_days(run, matrix, tmp_path, command):
    words = [*command.replace("FILE", str(matrix)).split(), "--out", tmp_path / "o"]
    said = run(*(words if command.startswith("roll") else words[:-2]), code=2)
    assert f"{matrix}: is a matrix, which has no days. Pass a table of prices or returns" in said


def test_values_without_a_tail_are_refused(run, prices, tmp_path):
    words = ("--values", prices, "--estimator", "global", "--margins", "none", "--k", 2)
    assert "is zero at every exceedance" in run("fit", *words, "--out", tmp_path / "o", code=2)


def test_cash_is_left_out_of_the_weights(run, prices, tmp_path):
    weights = tmp_path / "w.csv"
    weights.write_text("ticker,weight\nXOM,0.5\nCVX,0.4\nCash & Cash Investments,0.1\n")
    said = run("risk", prices, "--k", 2, "--draws", 0, "--weights", weights)
    assert "'Cash & Cash Investments' left out: cash carries no risk" in said
    weights.write_text("ticker,weight\nxom,0.5\nCVX,0.5\n")
    said = run("risk", prices, "--k", 2, "--draws", 0, "--weights", weights, code=2)
    assert "'xom' was not in the fit. Is it 'XOM'? Write the names in the same way" in said


def test_the_folder_of_a_result_is_no_matrix(run, prices, tmp_path):
    run("fit", prices, "--k", 2, "--starts", 1, "--out", tmp_path / "o", "--no-report")
    said = run("rank", tmp_path / "o", code=2)
    assert "not the manifest of a matrix, but of a result. Pass another folder" in said


def test_the_margins_are_those_of_the_library():
    option = next(o for o in ESTIMATOR_OPTIONS if o.keyword == "margins")
    assert option.choices == MARGINS
