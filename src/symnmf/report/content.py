"""From a result to plain data for the page: words, numbers, figures, tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from symnmf import __version__, plot
from symnmf.contract import Result
from symnmf.data.panel import Panel
from symnmf.dependence.correlation import CorrelationEstimate
from symnmf.dependence.tail import TailEstimate
from symnmf.files import safe_cell
from symnmf.groups.between import dependence_between
from symnmf.groups.naming import UNASSIGNED, Comparison, compare, groups, names_of, ordered
from symnmf.operators import SymmetricOperator
from symnmf.report.cards import Card, cards
from symnmf.report.embed import embedded_size
from symnmf.report.search import Index, index
from symnmf.report.tails import Other, Tails, other, tails
from symnmf.report.words import TOGETHER, Statement, overall, statements
from symnmf.results import csv_text, plain

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Bytes that all tables for download together may take.
TABLES = 3_000_000
#: Groups whose mean dependences are shown as a table of numbers, and as a picture.
NUMBERED, PICTURED = 16, 150


@dataclass(frozen=True)
class Shown:
    """A figure for the page: what plotly draws, and the same in words."""

    id: str
    alt: str
    height: int
    figure: dict[str, Any]


@dataclass
class Content:
    """All that the page says."""

    title: str
    together: str
    dependence: str
    n: int
    k: int
    level: str
    sentence: str
    statements: list[Statement]
    cards: list[Card]
    index: Index
    facts: list[tuple[str, str]]
    steps: list[str]
    notes: list[str]
    between: np.ndarray | None
    classes: Comparison | None
    tails: Tails | None
    other: Other | None
    why_no_other: str
    names: Sequence[str]
    version: str = __version__
    figures: dict[str, Shown] = field(default_factory=dict)
    downloads: dict[str, str] = field(default_factory=dict)
    too_large: list[str] = field(default_factory=list)
    offered: int = 0

    @property
    def group_names(self) -> list[str]:
        """Number and leader of each of the k groups; the number alone where it has no members."""
        names = [str(j + 1) for j in range(self.k)]
        for card in self.cards:
            names[card.number - 1] = f"{card.number} {card.leader}"
        return names

    def add(self, name: str, figure: Figure, alt: str) -> None:
        """Take a figure in, without what the page decides."""
        data = json.loads(figure.to_json())
        layout = data["layout"]
        height = int(layout.get("height") or 400)
        for own in ("template", "title", "width"):
            layout.pop(own, None)
        self.figures[name] = Shown(f"plot-{name}", alt, height, data)

    def offer(self, name: str, text: str) -> None:
        """A file to download, if it is not too large for the page."""
        size = embedded_size(text)
        if self.offered + size <= TABLES:
            self.downloads[name] = text
            self.offered += size
        else:
            self.too_large.append(name)


def gather(
    result: Result,
    S: SymmetricOperator,
    *,
    title: str = "",
    panel: Panel | None = None,
    classes: Mapping[str, str] | None = None,
    steps: Sequence[str] = (),
) -> Content:
    """Everything for the page. Where processes share S, all of them call it.

    Arguments:
        result: the factorization.
        S: what was factorized.
        title: what it is of, such as the name of a file.
        panel: the returns that S was estimated from, for what only they can tell.
        classes: class of each name, to hold the groups against.
        steps: what was done to the data, in sentences; by default what panel and S say.
    """
    result = ordered(result)
    n, k = result.H.shape
    both = plot.sort_by_group(S, result)
    between = dependence_between(S, result.labels(), k)
    found = groups(result)
    extremes = None if panel is None else tails(panel, S, result, result.seed)
    first = [*statements(result), *([] if extremes is None else extremes.statements(k))]
    level, sentence = overall(first)
    beside, why = (None, "") if panel is None else other(panel, S, result, result.seed)
    said = [] if panel is None else list(panel.summary.steps)
    content = Content(
        title=title,
        together=TOGETHER[_kind(S)],
        dependence=_kind(S),
        n=n,
        k=k,
        level=level,
        sentence=sentence,
        statements=first,
        cards=cards(found, result, S, between),
        index=index(result),
        facts=_facts(result),
        steps=list(steps) or [*said, *getattr(S.about, "steps", ())],
        notes=list(result.notes),
        between=between if k <= NUMBERED else None,
        classes=None if classes is None else compare(result, classes),
        tails=extremes,
        other=beside,
        why_no_other=why,
        names=names_of(result) if panel is not None else (),
    )
    _matrices(content, both, between)
    _run(content, result)
    if content.tails is not None:
        _tails(content, content.tails)
    if beside is not None:
        alt = (
            "Each dot is a pair of instruments: how much they move together against how much they "
            f"crash together. The ranks of the two agree to {beside.pairs.rank_correlation:.2f}."
        )
        content.add("pairs", plot.crashes_and_calm(beside.pairs, content.names), alt)
    if content.classes is not None:
        alt = "How many instruments each group and each of your classes have in common."
        content.add("classes", plot.classes(content.classes.table), alt)
        content.offer("classes.csv", csv_text(content.classes.table))
    _tables(content, result, between)
    return content


def _kind(S: SymmetricOperator) -> str:
    if isinstance(S.about, TailEstimate):
        return "tail" if S.about.tail == "lower" else "gains"
    return "correlation" if isinstance(S.about, CorrelationEstimate) else "matrix"


def _matrices(content: Content, both: plot.Sorted, between: np.ndarray) -> None:
    top = float(max(both.seen.max(), both.made.max()))
    cells = "" if both.names else f" Each of the {len(both.seen)}² cells is a mean of many entries."
    settings: dict[str, Any] = {"names": both.names, "edges": both.edges, "top": top}
    content.add(
        "seen",
        plot.heat_map(both.seen, **settings),
        "The dependence of every instrument with every other, sorted by group: bright squares "
        f"along the diagonal are the groups.{cells}",
    )
    content.add(
        "made",
        plot.heat_map(both.made, **settings),
        "The same, as the groups alone would make it: the more alike the two pictures, the "
        "better the groups explain the data.",
    )
    shown = [c.number - 1 for c in content.cards][:PICTURED]
    names = [f"{c.number} {c.leader}" for c in content.cards][:PICTURED]
    if len(shown) > 1:
        means = between[np.ix_(shown, shown)]
        alt = "Mean dependence within each group (diagonal) and between groups."
        content.add("between", plot.between_groups(means, names), alt)


def _run(content: Content, result: Result) -> None:
    if result.eigenvalues is not None and len(result.eigenvalues):
        values = result.eigenvalues.numpy()
        alt = (
            f"The largest eigenvalues of the matrix, falling from {values[0]:.3g}; k = {content.k}"
        )
        content.add("spectrum", plot.spectrum(values, content.k), f"{alt} of them are used.")
    floor = result.certificate.floor_low
    for axis in ("products", "seconds"):
        alt = f"Error and gradient at each of {len(result.history)} looks, against {axis}."
        content.add(axis, plot.convergence(result.history, floor, axis), alt)


def _tails(content: Content, found: Tails) -> None:
    about = found.about
    names = content.group_names
    span = f" from {about.dates[0]} to {about.dates[-1]}" if len(about.dates) else ""
    alt = (
        f"{len(about.dates)} extreme observations{span}; above, how large each was; below, a mark "
        "for each group that it hit harder than usual. The largest ones are in the table."
    )
    content.add("events", plot.event_groups(about, found.shares, names), alt)
    chance = float(found.baseline.mean())
    alt = (
        f"Mean tail dependence for thresholds from {100 * found.curve.q[0]:.2g} % to "
        f"{100 * found.curve.q[-1]:.2g} % of the observations: {found.curve.mean[0]:.2f} to "
        f"{found.curve.mean[-1]:.2f}; independent instruments would have {chance:.2f}."
    )
    content.add("threshold", plot.stability_curve(found.curve, found.baseline), alt)
    rows = pd.DataFrame(found.shares.round(4), columns=names)
    rows.insert(0, "size", found.sizes.round(4))
    rows.index = pd.Index(about.dates, name="date")
    content.offer("events.csv", csv_text(rows))


def _tables(content: Content, result: Result, between: np.ndarray) -> None:
    rows = pd.Index(names_of(result), name="name")
    labels = result.labels().cpu().numpy()
    named = np.array([*content.group_names, UNASSIGNED])
    table = pd.DataFrame({"group": named[labels], "margin": result.margins().cpu().numpy()}, rows)
    table["group"] = table["group"].map(safe_cell)
    columns = content.group_names
    index = pd.Index(columns, name="group")
    content.offer("between_groups.csv", csv_text(pd.DataFrame(between.round(5), index, columns)))
    looks = pd.DataFrame([asdict(check) for check in result.history]).set_index("iteration")
    content.offer("history.csv", csv_text(looks))
    if len(rows) * 8 <= TABLES:
        content.offer("groups.csv", csv_text(table.round(4)))
    else:
        content.too_large.append("groups.csv")
    certificate = plain(result.certificate.as_dict())
    content.offer("certificate.json", json.dumps(certificate, indent=1, allow_nan=False) + "\n")
    if result.H.numel() * 7 <= TABLES:
        H = np.char.mod("%.5g", result.H.cpu().numpy().astype(np.float64))
        content.offer("group_loadings.csv", csv_text(pd.DataFrame(H, rows, columns)))
    else:
        content.too_large.append("group_loadings.csv")


def _facts(result: Result) -> list[tuple[str, str]]:
    """The certificate, line by line, and what was spent."""
    spent = f"{result.iterations:,} iterations, {result.products:.0f} products of the matrix"
    return [
        ("status", result.status.name),
        *result.certificate.summary()[1:],
        ("solver", result.solver),
        ("spent", f"{spent}, {result.seconds:.1f} s"),
        ("seed", str(result.seed)),
    ]
