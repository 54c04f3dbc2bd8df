"""Content of the page as plain data: sentences, numbers, figures, tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from symnmf import __version__, plot
from symnmf.analysis import Analysis
from symnmf.analysis.extremes import Extremes
from symnmf.analysis.other_dependence import OtherDependence
from symnmf.core.result import Result
from symnmf.errors import InvalidInput
from symnmf.grouping.comparison import Comparison
from symnmf.grouping.naming import group_names, names_of
from symnmf.grouping.position_risk import PortfolioRisk
from symnmf.grouping.result_tables import history_table, labels_table, loadings_table
from symnmf.grouping.sorted_matrix import SortedMatrices
from symnmf.grouping.spanning_tree import SpanningTree
from symnmf.plot.networks import draw_network
from symnmf.plot.style import without_template
from symnmf.report.cards import Card, cards
from symnmf.report.class_names import page_names
from symnmf.report.embed import embedded_size
from symnmf.report.search_index import Index, index
from symnmf.report.verdict import SoundnessPart, overall, parts, sound_statements
from symnmf.report.words import (
    WORDS,
    Statement,
    Words,
    data_statements,
    extreme_statements,
    share,
    statements,
)
from symnmf.storage import csv_text, plain, safe_cell

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

#: Maximum number of bytes of all tables for download together.
DOWNLOAD_BYTES = 3_000_000
#: Maximum number of groups whose mean dependences are shown as a table, and as a figure.
TABULATED_GROUPS, PICTURED_GROUPS = 16, 150


@dataclass(frozen=True)
class Shown:
    """A figure for the page: the data for plotly, and a description in words."""

    id: str
    alt: str
    height: int
    figure: dict[str, Any]


@dataclass
class Content:
    """All data that the page shows."""

    title: str
    words: Words
    dependence: str
    n: int
    k: int
    level: str
    sentence: str
    parts: list[SoundnessPart]
    statements: list[Statement]
    cards: list[Card]
    group_names: list[str]
    column_names: list[str]
    index: Index
    facts: list[tuple[str, str]]
    steps: list[str]
    notes: list[str]
    between: np.ndarray | None
    classes: Comparison | None
    extremes: Extremes | None
    other: OtherDependence | None
    why_no_other: str
    names: Sequence[str]
    portfolio: PortfolioRisk | None = None
    version: str = __version__
    figures: dict[str, Shown] = field(default_factory=dict)
    downloads: dict[str, str] = field(default_factory=dict)
    too_large: list[str] = field(default_factory=list)
    offered: int = 0
    tree: SpanningTree | None = None
    averaged: bool = False

    def add(self, name: str, figure: Figure, alt: str) -> None:
        """Add a figure, without what the page decides: template, title and width."""
        height = int(figure.layout.height or 400)
        figure.update_layout(template=None, title=None, width=None)
        self.figures[name] = Shown(f"plot-{name}", alt, height, json.loads(figure.to_json()))

    def offer(self, name: str, text: str) -> None:
        """Add a file to download, unless it is too large for the page."""
        size = embedded_size(text)
        if self.offered + size <= DOWNLOAD_BYTES:
            self.downloads[name] = text
            self.offered += size
        else:
            self.too_large.append(name)


@without_template()
def gather(found: Analysis) -> Content:
    """Collect the content of the page; all numbers come from the analysis.

    Arguments:
        found: an analysis with its evidence.

    Raises:
        InvalidInput: the analysis has no evidence.
    """
    result, evidence = found.result, found.evidence
    if evidence is None:
        raise InvalidInput(
            "found",
            "has no evidence",
            "Pass what analyse(…, evidence=True) or Analysis.of returned",
        )
    n, k = result.H.shape
    words = WORDS[found.dependence]
    first = statements(result)
    if evidence.extremes is not None:
        first += extreme_statements(evidence.extremes, k, words)
    first += sound_statements(found)
    first += data_statements(found)
    level, sentence = overall(first)
    content = Content(
        title=found.title,
        words=words,
        dependence=found.dependence,
        n=n,
        k=k,
        level=level,
        sentence=sentence,
        parts=parts(first),
        statements=first,
        cards=cards(
            found.groups,
            result,
            evidence.signs,
            evidence.between,
            found.stability,
            found.comparison,
        ),
        group_names=page_names(result, found.comparison),
        column_names=group_names(result),
        index=index(result),
        facts=_facts(result),
        steps=list(found.steps),
        notes=list(result.notes),
        between=evidence.between if k <= TABULATED_GROUPS else None,
        classes=found.comparison,
        extremes=evidence.extremes,
        other=evidence.other,
        why_no_other=evidence.why_no_other,
        names=names_of(result) if found.panel is not None else (),
        portfolio=found.portfolio,
    )
    _matrices(content, evidence.pictures, evidence.between)
    if evidence.tree is not None and len(evidence.tree.links) > 1:
        content.tree = evidence.tree
        inside = share(evidence.tree.inside)
        alt = (
            f"The tree of the strongest links between {len(evidence.tree.rows)} instruments, "
            f"coloured by group: {inside} of the links connect members of one group."
        )
        content.add("network", draw_network(evidence.tree, content.group_names), alt)
    if evidence.hierarchy is not None:
        numbers = evidence.hierarchy.numbers
        alt = (
            f"The tree of {n} instruments from {numbers[0]} to {numbers[-1]} groups: the higher "
            "two branches join, the more numbers of groups separate them."
        )
        content.add("hierarchy", plot.dendrogram(evidence.hierarchy), alt)
    _run(content, result)
    if evidence.extremes is not None:
        _extremes(content, evidence.extremes)
    if found.portfolio is not None:
        _portfolio(content, found.portfolio)
    if evidence.other is not None:
        pairs = evidence.other.pairs
        alt = (
            "Each dot is a pair of instruments: absolute correlation against tail dependence. "
            f"The rank correlation of the two is {pairs.rank_correlation:.2f}."
        )
        content.add("pairs", plot.crashes_and_calm(pairs, content.names, words.events), alt)
    if content.classes is not None:
        alt = "Number of instruments that each group and each of your classes have in common."
        called = dict(zip(content.column_names, content.group_names, strict=True))
        content.add("classes", plot.classes(content.classes.table.rename(index=called)), alt)
        content.offer("classes.csv", csv_text(content.classes.table))
    if found.suspects is not None:
        content.offer("suspects.csv", csv_text(found.suspects))
    _tables(content, result, evidence.between)
    return content


def _matrices(content: Content, both: SortedMatrices, between: np.ndarray) -> None:
    content.averaged = both.names is None
    top = float(max(both.seen.max(), both.made.max()))
    cells = "" if both.names else f" Each of the {len(both.seen)}² cells is a mean of many entries."
    settings: dict[str, Any] = {"names": both.names, "edges": both.edges, "top": top}
    content.add(
        "seen",
        plot.heat_map(both.seen, **settings),
        "The dependence of every instrument on every other instrument, sorted by group: bright "
        f"squares along the diagonal are the groups.{cells}",
    )
    content.add(
        "made",
        plot.heat_map(both.made, **settings),
        "The same matrix as the groups alone explain it: the more similar the two pictures, "
        "the better the groups explain the data.",
    )
    shown = [c.number - 1 for c in content.cards][:PICTURED_GROUPS]
    names = [content.group_names[c.number - 1] for c in content.cards][:PICTURED_GROUPS]
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
        alt = f"Error and gradient at each of {len(result.history)} checks, against {axis}."
        content.add(axis, plot.convergence(result.history, floor, axis), alt)


def _extremes(content: Content, found: Extremes) -> None:
    about = found.listed
    names = content.group_names
    kinds = found.kinds
    dates = about.dates if found.prototypes is None else found.prototypes.dates
    span = f" from {dates[0]} to {dates[-1]}" if len(dates) else ""
    alt = (
        f"The {len(dates)} most extreme days{span}; above, the size of each; below, a mark "
        "for each group that it hit harder than usual. The largest observations are in the table."
    )
    if found.prototypes is not None:
        alt += " Colours mark the kinds of days, which a table lists."
        content.offer("prototypes.csv", csv_text(found.prototypes.table().round(4)))
    content.add("events", plot.event_groups(about, found.shares, names, kinds=kinds), alt)
    chance = float(found.baseline.mean())
    alt = (
        f"Mean tail dependence for thresholds from {100 * found.curve.q[0]:.2g} % to "
        f"{100 * found.curve.q[-1]:.2g} % of the observations: {found.curve.mean[0]:.2f} to "
        f"{found.curve.mean[-1]:.2f}; independent instruments would have {chance:.2f}."
    )
    content.add("threshold", plot.stability_curve(found.curve, found.baseline), alt)
    content.offer("events.csv", csv_text(found.table(content.column_names)))


def _portfolio(content: Content, risk: PortfolioRisk) -> None:
    alt = (
        f"Share of each group in the {risk.measure} of the portfolio and in the losses of its "
        f"{risk.worst_count} worst days, with intervals; the numbers are in the table."
    )
    named = replace(risk, group_names=tuple(content.group_names))
    content.add("portfolio", plot.risk_shares(named), alt)
    for name, text in risk.texts().items():
        content.offer(name, text)


def _tables(content: Content, result: Result, between: np.ndarray) -> None:
    """The tables of the result, as far as they fit, and the means between groups."""
    columns = [safe_cell(name) for name in content.column_names]
    rows = pd.Index(columns, name="group")
    content.offer("between_groups.csv", csv_text(pd.DataFrame(between.round(5), rows, columns)))
    content.offer("history.csv", csv_text(history_table(result)))
    certificate = plain(result.certificate.as_dict())
    content.offer("certificate.json", json.dumps(certificate, indent=1, allow_nan=False) + "\n")
    if len(result.H) * 8 <= DOWNLOAD_BYTES:
        content.offer("labels.csv", csv_text(labels_table(result)))
    else:
        content.too_large.append("labels.csv")
    if result.H.numel() * 7 <= DOWNLOAD_BYTES:
        content.offer("loadings.csv", csv_text(loadings_table(result)))
    else:
        content.too_large.append("loadings.csv")


def _facts(result: Result) -> list[tuple[str, str]]:
    """The certificate, line by line, and the cost of the run."""
    spent = f"{result.iterations:,} iterations, {result.products:.0f} products of the matrix"
    return [
        ("status", result.status.name),
        *result.certificate.summary()[1:],
        ("solver", result.solver),
        ("spent", f"{spent}, {result.seconds:.1f} s"),
        ("seed", str(result.seed)),
    ]
