"""The report of groups through time: content, safety, size, and where it comes from."""

import ast
import itertools
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import symnmf as sn
import symnmf.report
from report_parts import HOSTILE
from symnmf.grouping.flows import Flows, flows
from symnmf.report import render_history
from symnmf.report.drawings import (
    FONT,
    NARROW,
    WIDE,
    Line,
    _apart,
    _round_up,
    _steps,
    hidden_moves,
    lines_svg,
    ribbon_svg,
)
from symnmf.report.svg_text import text_width


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
    assert page.count("<svg") == 8  # four pictures, each for wide screens and for phones
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


def crossing(n, k, names):
    """Two windows of n instruments: most of each group stay, and one goes to every other group."""
    moves = np.ones((1, k, k), dtype=int)
    np.fill_diagonal(moves[0], n // k - (k - 1))
    sizes = np.full((2, k), n // k)
    return Flows(
        (0, 1), ("2020-01-01", "2020-02-01"), sizes, moves, np.zeros(1), np.zeros(1), names
    )


def edges(drawing):
    """Left and right end of every text of a drawing, and its width."""
    width = float(re.search(r'viewBox="0 0 (\d+)', drawing)[1])
    shift = {"end": 1.0, "middle": 0.5, "start": 0.0}
    found = re.findall(r'<text x="([^"]*)"([^>]*)>([^<]*)<', drawing)
    ends = []
    for x, more, words in found:
        wide = text_width(words, FONT)
        anchor = re.search(r'text-anchor="(\w+)"', more)
        left = float(x) - wide * shift[anchor[1] if anchor else "start"]
        ends.append((left, left + wide, words))
    return ends, width


def test_no_word_of_a_ribbon_is_cut():
    names = tuple(f"{g + 1} NASDAQ:{'W' * (4 + 4 * g)}" for g in range(8))
    made = crossing(80, 8, names)
    for drawing in str(ribbon_svg(made, made, {1: "2019-07-01"}, "a")).split("</svg>")[:2]:
        ends, width = edges(drawing)
        assert len(ends) >= 18
        assert min(left for left, _, _ in ends) >= 0
        assert max(right for _, right, _ in ends) <= width
    wide, narrow, _ = str(ribbon_svg(made, made, {1: "2019-07-01"}, "a")).split("</svg>")
    assert "1 NASDAQ:WWWW<" in wide
    assert wide.count("NASDAQ:") > narrow.count("NASDAQ:")  # on a phone, names are in the legend
    assert wide.count("break 2019-07-01<") == 1


def test_days_of_breaks_stand_where_there_is_room():
    dates = [f"2020-{month:02d}-01" for month in range(1, 13)]
    line = [Line("a", [0.5] * 12, "red")]
    near = {3: "2019-04-01", 4: "2019-05-01", 10: "2019-11-01"}
    wide, narrow, _ = str(lines_svg(dates, line, near, "a")).split("</svg>")
    for drawing in (wide, narrow):
        ends = sorted(end for end in edges(drawing)[0] if "break" in end[2])
        assert all(one[1] <= two[0] for one, two in itertools.pairwise(ends))
        assert drawing.count('stroke="var(--bad)"') == 3
    assert "break 2019-11-01<" in wide


def test_bands_that_would_hide_the_others_are_left_out_and_counted(found, page):
    names = tuple(str(g + 1) for g in range(20))
    few, many = crossing(80, 8, names[:8]), crossing(2000, 20, names)
    assert hidden_moves(few) == 0
    assert hidden_moves(many) == 20 * 19  # single instruments of 2 000
    wide = str(ribbon_svg(many, many, {}, "a")).split("</svg>")[0]
    assert wide.count("<path") == 20
    assert "have no band" not in page
    assert "moves, 380 in small numbers have no band" in rendered_with(found, many)


def rendered_with(found, drawn):
    from unittest.mock import patch

    with patch("symnmf.report.history.flows", return_value=drawn):
        return render_history(found)


@pytest.mark.parametrize("screen", [WIDE, NARROW])
def test_the_legend_of_lines_fits_every_screen(screen):
    lines = [Line(f"{word} of instruments", [0.1, 0.2], "red") for word in ("one", "two", "three")]
    drawing = str(lines_svg(["2020-01-01", "2020-02-01"], lines, {}, "a")).split("</svg>")[
        (WIDE, NARROW).index(screen)
    ]
    ends, width = edges(drawing)
    assert width == screen.width
    assert max(right for _, right, _ in ends) <= width
    rows = set(re.findall(r'y="([^"]*)">\w+ of instruments', drawing))
    assert len(rows) == (1 if screen is WIDE else 3)


def test_steps_of_an_axis_are_round():
    for most in (_round_up(v) for v in np.geomspace(0.003, 900, 200)):
        step = most / _steps(most)
        first = step / 10.0 ** np.floor(np.log10(step) + 1e-9)
        assert min(abs(first - r) for r in (1, 2, 2.5, 5)) < 1e-6, most


def test_many_windows_without_a_break_are_drawn(found):
    quiet = replace(found, windows=[replace(w, broke=False) for w in found.windows])
    made = flows(quiet, 3)
    assert made.windows == (0, 3, 6)
    assert flows(found, 3).windows == (0, *(w.number for w in found.breaks), 6)


def test_words_never_overlap():
    placed = _apart([(10.0, 0), (12.0, 1), (11.0, 2), (90.0, 3)], 14.0)
    heights = [y for y, _ in placed]
    assert np.diff(heights).min() >= 14
    assert heights[-1] == 90
    assert [_round_up(v) for v in (0.31, 7, 95, 0)] == [0.4, 8, 100, 1]
