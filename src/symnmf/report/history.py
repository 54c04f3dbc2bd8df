"""Content of the page of a history: sentences, pictures and tables, from a finished roll."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from symnmf import __version__
from symnmf.core.labels import group_numbers
from symnmf.grouping.flows import flows, latest_names, moves_of
from symnmf.grouping.windows import ABSENT, Rolling, Window
from symnmf.plot.style import GROUP_COLORS, LINE, MUTED, OTHER
from symnmf.report.drawings import Line, bars_svg, hidden_moves, lines_svg, ribbon_svg
from symnmf.report.words import WORDS, Statement, Words

#: Windows whose moves are listed, flows of each, and names of each flow.
LISTED_WINDOWS, LISTED_FLOWS, LISTED_NAMES = 60, 12, 12
#: Movers of a break that are listed.
LISTED_MOVERS = 40
#: Windows of a ribbon on a phone.
PHONE_WINDOWS = 8
#: Remark about a window in which more instruments moved than between any shuffled pair of windows.
MANY_MOVES = "many moves"


@dataclass(frozen=True)
class Flow:
    """Instruments that went from one group to another."""

    source: str
    target: str
    names: tuple[str, ...]
    more: int


@dataclass(frozen=True)
class WindowRow:
    """A window as a row of the table; ``flows`` says who moved, ``remarks`` why it stands out."""

    window: Window
    flows: tuple[Flow, ...]
    other_moves: int
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class BreakRow:
    """A break: its window, and the instruments that moved by more than chance."""

    window: Window
    movers: tuple[tuple[str, str, str], ...]
    more: int


@dataclass(frozen=True)
class History:
    """All data that the page of a history shows."""

    title: str
    words: Words
    level: str
    sentence: str
    statements: list[Statement]
    facts: list[tuple[str, str]]
    ribbon: Markup
    dependence: Markup
    crashes: Markup
    moves: Markup
    legend: list[tuple[str, str]]
    rows: list[WindowRow]
    breaks: list[BreakRow]
    thinned: int
    hidden: tuple[int, int]
    usual: float | None
    version: str = __version__


def history(found: Rolling, title: str = "") -> History:
    """Collect the content of the page; all numbers come from the finished windows.

    Arguments:
        found: what :func:`symnmf.rolling` or :func:`symnmf.load_rolling` returned.
        title: name of the data.
    """
    windows = found.windows
    dates = [w.last for w in windows]
    broke = {w.number: w.first for w in found.breaks}
    names = latest_names(found)
    drawn = flows(found)
    usual = None if found.changes is None else found.changes.usual_moves
    remarks = _remarks(found)
    listed = sorted(
        sorted((w for w in windows if w.moved), key=lambda w: -len(w.moved))[:LISTED_WINDOWS],
        key=lambda w: w.number,
    )
    with_moves = {w.number for w in listed}
    return History(
        title=title,
        words=WORDS[found.kind],
        level=_level(found),
        sentence=_sentence(found),
        statements=_statements(found),
        facts=_facts(found),
        ribbon=ribbon_svg(drawn, flows(found, PHONE_WINDOWS), broke, _ribbon_alt(found)),
        dependence=lines_svg(
            dates,
            [
                Line("within groups", _series(found, "within"), LINE),
                Line("between groups", _series(found, "between"), MUTED, "6 4"),
            ],
            broke,
            _lines_alt("Mean dependence", _series(found, "within"), dates, "within groups"),
        ),
        crashes=lines_svg(
            dates,
            [
                Line("members of one group", _series(found, "crash_within"), OTHER),
                Line("any two instruments", _series(found, "crash_any"), MUTED, "6 4"),
                Line("independent: 0.05", [0.05 for _ in windows], "var(--muted)", "2 4"),
            ],
            broke,
            _lines_alt(
                "Share of joint crashes",
                _series(found, "crash_within"),
                dates,
                "of members of one group",
            ),
        ),
        moves=bars_svg(dates, [len(w.moved) for w in windows], usual, broke, _moves_alt(found)),
        legend=[
            (name, GROUP_COLORS[group % len(GROUP_COLORS)]) for group, name in enumerate(names)
        ],
        rows=[
            _row(found, w, names, remarks.get(w.number, ()), w.number in with_moves)
            for w in windows
        ],
        breaks=_breaks(found, names),
        thinned=len(windows) - len(drawn.windows),
        hidden=(hidden_moves(drawn), int(drawn.moves.sum() - np.trace(drawn.moves.sum(axis=0)))),
        usual=usual,
    )


def _series(found: Rolling, name: str) -> list[float | None]:
    """A number of the dependence of each window; None where it is not known."""
    return [None if w.dependence is None else getattr(w.dependence, name) for w in found.windows]


def _row(
    found: Rolling, w: Window, names: tuple[str, ...], remarks: tuple[str, ...], listed: bool
) -> WindowRow:
    made: list[Flow] = []
    rest = 0
    if listed:
        for at, ((a, b), who) in enumerate(moves_of(found, w.number).items()):
            if at >= LISTED_FLOWS:
                rest += len(who)
                continue
            some = tuple(who[:LISTED_NAMES])
            made.append(Flow(_name(names, a), _name(names, b), some, len(who) - len(some)))
    return WindowRow(w, tuple(made), rest, remarks)


def _name(names: tuple[str, ...], column: int) -> str:
    return names[column] if column >= 0 else "no group"


def _breaks(found: Rolling, names: tuple[str, ...]) -> list[BreakRow]:
    movers = found.changes.movers if found.changes is not None else ()
    out = []
    for at, window in enumerate(found.breaks):
        mine = movers[at] if at < len(movers) else ()
        shown = tuple(
            (m.name, _name(names, m.before), _name(names, m.after)) for m in mine[:LISTED_MOVERS]
        )
        out.append(BreakRow(window, shown, len(mine) - len(shown)))
    return out


def _remarks(found: Rolling) -> dict[int, tuple[str, ...]]:
    """Why windows stand out."""
    out: dict[int, list[str]] = {}
    most = max(found.changes.by_chance, default=None) if found.changes is not None else None
    within = np.array(
        [np.nan if w.dependence is None else w.dependence.within or np.nan for w in found.windows],
        dtype=float,
    )
    steps = np.diff(within)
    size = 1.4826 * float(np.nanmedian(np.abs(steps))) if np.isfinite(steps).any() else 0.0
    for w in found.windows:
        words = []
        if w.broke:
            words.append("break")
        if not w.result.status.good:
            words.append(w.result.status.name.lower())
        if w.result.certificate.ambiguous:
            words.append("ambiguous")
        if most is not None and len(w.moved) > most and w.number:
            words.append(MANY_MOVES)
        if w.number and size > 0 and abs(steps[w.number - 1]) > 4 * size:
            words.append("dependence jumped" if steps[w.number - 1] > 0 else "dependence fell")
        if words:
            out[w.number] = words
    return {number: tuple(words) for number, words in out.items()}


def _level(found: Rolling) -> str:
    if any(not w.result.status.good for w in found.windows):
        return "bad"
    return "care" if found.breaks or found.changes is None else "good"


def _sentence(found: Rolling) -> str:
    if found.changes is None:
        return "It was not tested whether the groups changed by more than chance."
    count = len(found.breaks)
    if not found.changes.tested:
        return "The history is too short to test a change: it needs twice the rows of a window."
    if not count:
        return "The groups did not change by more than chance."
    times = "once" if count == 1 else "twice" if count == 2 else f"{count} times"
    dates = ", ".join(w.first for w in found.breaks[:6])
    return f"The groups changed {times} by more than chance: {dates}{'…' if count > 6 else ''}."


def _statements(found: Rolling) -> list[Statement]:
    out, changes, windows = [], found.changes, found.windows
    if changes is not None and changes.tested:
        level = "care" if found.breaks else "good"
        out.append(
            Statement(
                level,
                f"{_count(len(found.breaks), 'break')} in {_count(changes.tested, 'window')} that "
                "could be tested.",
                "At the first day of each window, as many days before it as after it are compared, "
                "and all days before it with all days after it. "
                f"{changes.draws} histories in which blocks of {changes.block} days are "
                f"shuffled say what chance does: a history without a change has a "
                f"chance of at most {100 * changes.false_alarms:.0f} % of an alarm anywhere.",
                f"smallest p-value {changes.p_value:.3g}",
            )
        )
    if changes is not None and changes.by_chance:
        moved = [len(w.moved) for w in windows[1:]]
        usual, typical = changes.usual_moves or 0.0, float(np.median(moved)) if moved else 0.0
        above = typical > max(changes.by_chance)
        out.append(
            Statement(
                "care" if usual > 0.1 * len(found.names) or above else "good",
                f"{typical:.0f} of {len(found.names):,} instruments move from window to window; "
                f"{usual:.0f} would by chance.",
                f"{len(changes.by_chance)} pairs of windows were fitted again after their days "
                f"were shuffled: {min(changes.by_chance)} to {max(changes.by_chance)} instruments "
                "moved, although nothing had changed. Single moves below that mean little, and "
                f"windows with “{MANY_MOVES}” are no breaks: of {len(windows) - 1} windows, about "
                f"{(len(windows) - 1) / (len(changes.by_chance) + 1):.0f} have more moves than all "
                f"{len(changes.by_chance)} shuffled pairs by chance alone. Whether the groups "
                "themselves changed is what the test of breaks says.",
                "median of the windows, mean of the shuffled pairs",
            )
        )
    good = sum(w.result.status.good for w in windows)
    unclear = sum(w.result.certificate.ambiguous for w in windows)
    worst = max(w.result.certificate.excess or 0.0 for w in windows)
    out.append(
        Statement(
            "good" if good == len(windows) and not unclear else "care",
            f"{good} of {len(windows)} windows are certified"
            + (f"; in {unclear} other starts find other groups." if unclear else "."),
            "Every window has a certificate of its own: how close its fit is to the best possible "
            "one, and whether other starts find the same groups.",
            f"largest excess {worst:.2g}",
        )
    )
    labels = found.labels()
    here = labels > ABSENT
    if not here.all():
        come, gone = (here[1:] & ~here[:-1]).sum(), (here[:-1] & ~here[1:]).sum()
        placed = sum(len(w.placed) for w in windows)
        out.append(
            Statement(
                "good",
                f"Instruments enter {int(come)} times and leave {int(gone)} times.",
                "Groups of successive windows are matched on the instruments that both have. "
                f"Newcomers with few days are placed by their loadings, {placed} times.",
                "a window fits instruments that have 90 % of its days",
            )
        )
    return out


def _facts(found: Rolling) -> list[tuple[str, str]]:
    w = found.windows
    facts = [
        ("instruments", f"{len(found.names):,}"),
        ("groups", str(w[0].result.H.shape[1]) if w else "–"),
        ("windows", f"{len(w)} of {w[0].stop - w[0].begin} rows" if w else "0"),
    ]
    if len(w) > 1:
        facts.append(("step", f"{w[1].begin - w[0].begin} rows"))
    if w:
        facts.append(("time", f"{w[0].first} to {w[-1].last}"))
    if found.half_life is not None:
        facts.append(("weights", f"halve every {found.half_life:g} rows"))
    return facts


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _ribbon_alt(found: Rolling) -> str:
    sizes = group_numbers(found.labels()[-1])
    moved = sum(len(w.moved) for w in found.windows)
    return (
        f"Groups over {len(found.windows)} windows from {found.windows[0].last} to "
        f"{found.windows[-1].last}: bars are groups, bands are instruments that stay (light) or "
        f"move (dark); {moved} moves in all, {int((sizes > 0).sum())} instruments at the end. The "
        "table of windows says who moved."
    )


def _lines_alt(what: str, values: list[float | None], dates: list[str], which: str) -> str:
    known = [(v, d) for v, d in zip(values, dates, strict=True) if v is not None]
    if not known:
        return f"{what} {which}: not known."
    low, high = min(known), max(known)
    return (
        f"{what} {which} over time: {known[0][0]:.2f} at first, {known[-1][0]:.2f} at the end; "
        f"least {low[0]:.2f} at {low[1]}, most {high[0]:.2f} at {high[1]}."
    )


def _moves_alt(found: Rolling) -> str:
    best = max(found.windows, key=lambda w: len(w.moved))
    return (
        f"Number of instruments that moved since the window before; most, {len(best.moved)}, at "
        f"{best.last}."
    )
