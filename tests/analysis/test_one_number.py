"""The same group has the same number wherever a person or a program meets it."""

import json
import re
import sys

import numpy as np
import pandas as pd
import pytest
import torch

import symnmf as sn
from symnmf.cli import main
from symnmf.core.labels import group_numbers
from symnmf.data.samples import sp500_prices
from symnmf.estimators import DependenceFactors
from symnmf.report.content import gather

K = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What the command writes for the bundled stocks."""
    place = tmp_path_factory.mktemp("numbers")
    sp500_prices().to_parquet(place / "prices.parquet")
    arguments = ["fit", "--prices", place / "prices.parquet", "--k", K, "--out", place / "out"]
    before, sys.argv = sys.argv, ["symnmf", *map(str, arguments)]
    try:
        with pytest.raises(SystemExit) as end:
            main()
    finally:
        sys.argv = before
    assert end.value.code == 0
    return place / "out"


@pytest.fixture(scope="module")
def found():
    """The same by the library."""
    return sn.analyse(sp500_prices(), K, kind="prices")


def members(numbers):
    """Group number → names, from names and numbers."""
    out = {}
    for name, number in numbers.items():
        out.setdefault(int(number), set()).add(name)
    return out


def test_the_columns_are_in_order(found):
    sizes = torch.bincount(found.result.labels(), minlength=K).tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 1  # an order that can be wrong


def test_one_number_everywhere(folder, found, capsys):
    result, panel = found.result, found.panel
    truth = {group.number: set(group.members) for group in sn.groups(result)}
    assert sorted(truth) == list(range(1, K + 1))
    # Arrays have columns from 0; one function maps.
    labels = dict(zip(result.names, result.labels().tolist(), strict=True))
    assert members(dict(zip(labels, group_numbers(result.labels()), strict=True))) == truth
    assert all(labels[name] == g.column for g in sn.groups(result) for name in g.members)
    # The tables of the folder.
    table = pd.read_csv(folder / "labels.csv", index_col="name")
    assert members(table["group"]) == truth
    for name in ("loadings.csv", "loadings.parquet"):
        path = folder / name
        loadings = pd.read_csv(path, index_col="name") if path.suffix == ".csv" else None
        loadings = pd.read_parquet(path) if loadings is None else loadings
        assert list(loadings.columns) == [f"group_{number}" for number in range(1, K + 1)]
        unit = loadings / np.linalg.norm(loadings, axis=0)
        assert members(unit.to_numpy().argmax(axis=1) + pd.Series(1, loadings.index)) == truth
    # The model that is loaded.
    assert {g.number: set(g.members) for g in sn.groups(sn.load(folder))} == truth
    # The report: cards, search, downloads.
    content = gather(found)
    assert {c.number: {m.name for m in c.members} for c in content.cards} == truth
    assert members(dict(zip(content.index.names, content.index.first, strict=True))) == truth
    page = (folder / "report.html").read_text("utf-8")
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)[1])
    for name in ("labels.csv", "loadings.csv"):
        assert data["downloads"][name] == (folder / name).read_text("utf-8")
    assert {int(n): leader for n, leader in data["leaders"].items()} == {
        g.number: g.leader for g in sn.groups(result)
    }
    # inspect.
    sys.argv = ["symnmf", "inspect", str(folder), "--json"]
    capsys.readouterr()
    main_ends(0)
    shown = json.loads(capsys.readouterr().out)["groups"]
    assert {g["number"]: g["leader"] for g in shown} == {
        g.number: g.leader for g in sn.groups(result)
    }
    # Python: everything that has a number for each group has it at the column of the group.
    held = sn.bootstrap(panel, result, "tail", draws=2)
    within = sn.significance(panel, found.operator, result, draws=2).within
    between = found.evidence.between
    for group in sn.groups(result):
        own = torch.tensor([result.names.index(name) for name in group.members])
        pairs = held.together[own][:, own]
        alone = pairs.sum() - pairs.diagonal().sum()
        mean = float(alone / (len(own) * (len(own) - 1)))
        assert held.groups[group.column] == pytest.approx(mean, rel=1e-5)
        block = found.operator.block(own, own).double()
        mean = (block.sum() - block.diagonal().sum()) / (len(own) * (len(own) - 1))
        assert within[group.column] == pytest.approx(float(mean), rel=1e-5)
        assert between[group.column, group.column] == pytest.approx(float(mean), rel=1e-5)


def main_ends(code):
    try:
        main()
    except SystemExit as end:
        assert (end.code or 0) == code  # noqa: PT017


def test_risk_and_returns_are_by_column(found):
    result = found.result
    for group in sn.groups(result)[:2]:
        weights = {name: 1.0 for name in group.members}
        scales = dict.fromkeys(result.names, 1.0)
        S = sn.tail_dependence(found.panel, estimator="pairwise")
        risk = sn.tail_risk(result, weights, scales, S=S)
        assert int(np.argmax(risk.factors)) == group.column
        series = sn.group_returns(result, found.panel).series[:, group.column]
        held = found.panel.values[:, [result.names.index(name) for name in group.members]]
        every = [np.corrcoef(sn.group_returns(result, found.panel).series[:, g], held.mean(axis=1))
                 [0, 1] for g in range(K)]  # fmt: skip
        assert int(np.argmax(every)) == group.column
        assert len(series) == len(found.panel.values)


def test_windows_number_their_groups_alike(tmp_path):
    panel = sn.read_panel(sp500_prices(), kind="prices")
    windows = sn.rolling(panel, 4000, 4000, 3, "correlation")
    sn.save_rolling(windows, tmp_path)
    table = pd.read_csv(tmp_path / "labels.csv", index_col="last")
    assert (table.to_numpy() == group_numbers(windows.labels())).all()
    assert table.to_numpy().min() >= 1
    loadings = pd.read_parquet(tmp_path / "loadings.parquet")
    assert {"group_1", "group_2", "group_3"} <= set(loadings.columns)
    first = sn.factorize(sn.abs_correlation(panel.rows(0, 4000)), 3)
    assert (windows.windows[0].result.labels() == first.labels()).all()


def test_the_estimator_gives_the_same_table(found):
    model = DependenceFactors(K, kind="prices").fit(sp500_prices())
    assert members(model.groups_["group"]) == {
        g.number: set(g.members) for g in sn.groups(found.result)
    }
    assert list(model.loadings_.columns) == ["name", *[f"group_{j}" for j in range(1, K + 1)]]


def test_an_instrument_in_no_group_has_number_zero(tmp_path):
    S = np.zeros((5, 5))
    S[:3, :3] = 1.0
    S[3, 3] = 1.0
    result = sn.factorize(S, 2)
    assert group_numbers(result.labels()).tolist() == [1, 1, 1, 2, 0]
    sn.save(result, tmp_path)
    assert pd.read_csv(tmp_path / "labels.csv")["group"].tolist() == [1, 1, 1, 2, 0]
