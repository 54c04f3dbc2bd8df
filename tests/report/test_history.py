"""The report of groups through time: content, safety, size, and where it comes from."""

import ast
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import symnmf as sn
import symnmf.report
from report_parts import HOSTILE
from symnmf.report import render_history
from symnmf.report.drawings import _apart, _round_up


def market(rows, names, broke, seed=0):
    rng = np.random.default_rng(seed)
    n = len(names)
    groups = np.arange(n) % 3
    later = groups.copy()
    later[:2] = (later[:2] + 1) % 3
    f = rng.normal(size=(rows, 3))
    half = (np.arange(rows) < rows // 2)[:, None]
    own = np.where(half, f[:, groups], f[:, later]) if broke else f[:, groups]
    import pandas as pd

    X = own + 0.7 * rng.normal(size=(rows, n))
    return pd.DataFrame(X, pd.date_range("2020-01-01", periods=rows), names)


@pytest.fixture(scope="module")
def found():
    names = [*HOSTILE, *(f"T{i}" for i in range(20 - len(HOSTILE)))]
    panel = sn.read_panel(market(800, names, broke=True), kind="returns")
    return sn.rolling(panel, 200, 100, 3, "correlation", draws=99)


@pytest.fixture(scope="module")
def page(found):
    return render_history(found, HOSTILE[0])


def test_it_says_what_changed(found, page):
    (broke,) = found.breaks
    assert abs(broke.begin - 400) <= 100
    assert f"The groups changed once by more than chance: {broke.first}." in page
    assert page.count("CONVERGED") + page.count("EXACT") == len(found.windows)
    assert page.count("<svg") == 4
    for words in ("moved by more than chance", "would by chance", "Windows and their certificates"):
        assert words in page
    movers = {m.name for m in found.changes.movers[0]}
    assert movers
    assert movers <= set(found.names[:2])
    quiet = sn.rolling(market(800, [f"T{i}" for i in range(12)], broke=False), 200, 200, 3,
                       "correlation", draws=39)  # fmt: skip
    assert "The groups did not change by more than chance." in render_history(quiet)
    short = sn.rolling(market(250, [f"T{i}" for i in range(9)], broke=False), 200, 50, 3,
                       "correlation", draws=39)  # fmt: skip
    assert "too short to test" in render_history(short)


def test_many_moves_are_told_apart_from_breaks(found):
    quiet = replace(
        found,
        windows=[replace(w, broke=False, moved=("T1", "T2")) for w in found.windows],
        changes=replace(found.changes, movers=(), by_chance=(0, 1)),
    )
    page = render_history(quiet)
    assert "The groups did not change by more than chance." in page
    assert "windows with “many moves” are no breaks" in page
    assert "more moves than chance" not in page
    expected = (len(found.windows) - 1) / 3
    assert f"about {expected:.0f} have more moves than all 2 shuffled pairs by chance" in page


def test_it_is_safe_and_small(page):
    assert "<script" not in page
    assert "http-equiv" in page
    assert not re.search(r"<(img|b|iframe|object)\b", page)
    assert "onerror=alert" not in re.sub(r"&lt;[^<]*", "", page)
    assert not re.search(r"(?:src|href)=\"(?!#)", page)
    assert len(page) < 300_000
    for number in re.findall(r'(?:d|x|y|width|height)="([^"]*)"', page):
        assert "nan" not in number
        assert "inf" not in number


def test_a_stored_history_gives_the_same_page(found, page, tmp_path):
    back = sn.load_rolling(sn.save_rolling(found, tmp_path / "h"))
    assert render_history(back, HOSTILE[0]) == page
    path = sn.write_report(tmp_path / "r.html", back, title=HOSTILE[0])
    assert path.read_text("utf-8") == page


def test_the_page_imports_no_estimator_and_no_solver():
    folder = Path(symnmf.report.__file__).parent
    for name in ("history.py", "history_page.py", "drawings.py"):
        for node in ast.walk(ast.parse((folder / name).read_text("utf-8"))):
            module = getattr(node, "module", None) or ""
            assert not module.startswith(
                ("symnmf.dependence", "symnmf.solvers", "symnmf.factorization", "symnmf.engine")
            ), name


def test_words_never_overlap():
    placed = _apart([(10.0, 0), (12.0, 1), (11.0, 2), (90.0, 3)], 14.0)
    heights = [y for y, _ in placed]
    assert np.diff(heights).min() >= 14
    assert heights[-1] == 90
    assert [_round_up(v) for v in (0.31, 7, 95, 0)] == [0.4, 8, 100, 1]
