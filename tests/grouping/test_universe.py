"""Windows whose instruments enter, leave and have holes."""

import numpy as np
import pandas as pd
import pytest

import symnmf as sn
from symnmf.errors import InvalidInput
from symnmf.grouping.flows import flows, moves_of
from symnmf.grouping.joint_crashes import crash_shares
from symnmf.grouping.time_tables import labels_over_time, memberships
from symnmf.grouping.universe import dependence_on, universe_of
from symnmf.grouping.windows import ABSENT


@pytest.fixture(scope="module")
def table():
    """Two groups of six; one enters, one leaves, one has holes, one enters late in a window."""
    rng = np.random.default_rng(0)
    f = rng.normal(size=(600, 2))
    X = f[:, np.repeat([0, 1], 6)] + 0.6 * rng.normal(size=(600, 12))
    X[:200, 0] = np.nan  # enters with the second window
    X[400:, 7] = np.nan  # leaves before the third
    X[rng.random(600) < 0.05, 3] = np.nan  # holes
    X[:540, 11] = np.nan  # 60 of the 200 rows of the last window
    days = pd.date_range("2020-01-01", periods=600)
    return pd.DataFrame(X, days, [f"s{i}" for i in range(12)])


@pytest.fixture(scope="module", params=["correlation", "tail"])
def found(request, table):
    panel = sn.read_panel(table, kind="returns", missing="pairwise")
    return sn.rolling(panel, 200, 200, 2, request.param, draws=19)


def test_instruments_enter_and_leave(found):
    labels = found.labels()
    assert labels.shape == (3, 12)
    absent = [[found.names[i] for i in np.flatnonzero(row == ABSENT)] for row in labels]
    assert absent == [["s0", "s11"], ["s11"], ["s7"]]
    assert [len(w.result.H) for w in found.windows] == [10, 11, 10]
    assert found.windows[2].placed == (("s11", int(labels[2][11])),)
    truth = np.repeat([0, 1], 6)
    for row in labels:  # groups and their columns persist, and the newcomer is placed right
        here = row != ABSENT
        assert len(set(zip(row[here], truth[here], strict=True))) == 2
    assert (labels[0][1] == labels[:, 1]).all()
    assert all(w.moved == () for w in found.windows)
    assert [w.ari_before for w in found.windows] == [None, 1.0, 1.0]
    assert found.breaks == ()


def test_tables_and_flows(found, tmp_path):
    long = memberships(found)
    assert len(long) == 10 + 11 + 11
    last = long[long["name"] == "s11"].iloc[0]
    assert bool(last["placed"])
    assert last["last"] == found.windows[2].last
    assert long[(long["name"] == "s0")]["before"].isna().tolist() == [True, False]
    assert set(long["group_name"].str.split().str[0]) == {"1", "2"}
    wide = labels_over_time(found)
    assert int(wide.isna().sum().sum()) == 4
    made = flows(found)
    assert made.sizes.sum(axis=1).tolist() == [10, 11, 11]
    assert made.entered.tolist() == [1, 1]
    assert made.left.tolist() == [0, 1]
    assert made.moves.sum(axis=(1, 2)).tolist() == [10, 10]
    back = sn.load_rolling(sn.save_rolling(found, tmp_path))
    assert (back.labels() == found.labels()).all()
    assert back.changes == found.changes
    assert back.windows[2].placed == found.windows[2].placed
    assert back.windows[1].dependence == found.windows[1].dependence
    assert pd.read_csv(tmp_path / "memberships.csv").shape == (32, 8)


def test_moves_say_from_where_to_where():
    rng = np.random.default_rng(1)
    f = rng.normal(size=(400, 2))
    groups = np.repeat([0, 1], 4)
    X = f[:, groups] + 0.3 * rng.normal(size=(400, 8))
    X[200:, 0] = f[200:, 1] + 0.3 * rng.normal(size=200)
    found = sn.rolling(X, 200, 200, 2, "correlation", draws=0)
    labels = found.labels()
    assert moves_of(found, 1) == {(int(labels[0][0]), int(labels[1][0])): ["0"]}
    assert moves_of(found, 0) == {}
    assert found.changes is None
    assert found.breaks == ()


def test_too_few_instruments_are_refused(table):
    panel = sn.read_panel(table, kind="returns", missing="pairwise")
    values = panel.values.copy()
    values[:200, 1:] = np.nan
    with pytest.raises(InvalidInput, match="0 instruments have 90% of the rows"):
        universe_of(panel.with_values(values), 0, 200)


def test_dependence_of_a_newcomer():
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(300, 4))
    x = 0.8 * Y[:, 1] + 0.5 * rng.normal(size=300)
    x[:200] = np.nan
    row = dependence_on(x, Y, "correlation", {})
    np.testing.assert_allclose(row, [abs(np.corrcoef(x[200:], y[200:])[0, 1]) for y in Y.T])
    assert dependence_on(x, Y, "tail", {}).argmax() == 1


def test_joint_crashes_of_known_series():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(4000, 1))
    twins, alone = np.repeat(f, 3, axis=1), rng.normal(size=(4000, 3))
    inside, everywhere = crash_shares(np.hstack([twins, alone]), np.array([0, 0, 0, 1, 1, 1]))
    assert inside == pytest.approx((1 + 0.05) / 2, abs=0.02)
    assert everywhere == pytest.approx((2 / 5 + 0.6 * 0.05 + 0.05) / 2, abs=0.02)
