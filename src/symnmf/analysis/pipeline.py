"""One pipeline: data → dependence matrix → groups → evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from symnmf.analysis.evidence import Evidence
from symnmf.analysis.loading import LoadedData, load_data
from symnmf.core.result import Result
from symnmf.core.solver import Solver
from symnmf.data import Panel
from symnmf.data.suspects import suspects_table
from symnmf.defaults import DEPENDENCE, MAX_MISSING, MISSING, RESAMPLES, SEED, SOLVER
from symnmf.dependence.correlation_estimate import (
    CorrelationEstimate,
    SharedCorrelationEstimate,
)
from symnmf.dependence.tail_estimate import TailEstimate
from symnmf.display import html_table
from symnmf.distributed import ProcessGroup
from symnmf.errors import InvalidInput
from symnmf.factorization import factorize
from symnmf.grouping.comparison import Comparison, check_class_names, compare
from symnmf.grouping.naming import Group, by_name, groups
from symnmf.grouping.panel_versions import Estimator
from symnmf.grouping.portfolio_risk import check_known
from symnmf.grouping.position_risk import PortfolioRisk, portfolio_risk
from symnmf.grouping.rank_selection import RankSuggestion, suggest_for_panel, suggest_rank
from symnmf.grouping.stability import Stability, bootstrap
from symnmf.operators import SymmetricOperator
from symnmf.operators.devices import computing_on
from symnmf.options import whole_number
from symnmf.storage.checkpoint import Checkpoint


@dataclass(frozen=True)
class Analysis:
    """The complete answer: data, groups and evidence.

    Attributes:
        result: certified factorization with its columns in group order.
        operator: the dependence matrix S.
        panel: table of returns, if S was estimated from one.
        comparison: comparison of the groups with the classes of the user, if any.
        rank: suggestion of the number of groups, if the number was not given.
        stability: how the groups hold in resampled histories, if these were asked for.
        portfolio: who carries the risk of the portfolio of the user, if any.
        evidence: evidence that a report shows; None where it was not requested.
        title: title of the report.
        steps: sentences about what was done to the data.
        record: the steps with further details, for ``data.json``.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> found = sn.analyse(sp500_prices(), k=4, kind="prices", evidence=False)
        >>> [group.number for group in found.groups], found.dependence
        ([1, 2, 3, 4], 'tail')
    """

    result: Result
    operator: SymmetricOperator
    panel: Panel | None = None
    comparison: Comparison | None = None
    rank: RankSuggestion | None = None
    stability: Stability | None = None
    portfolio: PortfolioRisk | None = None
    evidence: Evidence | None = None
    title: str = ""
    steps: tuple[str, ...] = ()
    record: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        result: Result,
        S: Any,
        *,
        panel: Panel | None = None,
        classes: Any = None,
        weights: Any = None,
        title: str = "",
    ) -> Analysis:
        """The analysis of an existing factorization.

        Arguments:
            result: what :func:`symnmf.factorize` returned.
            S: the matrix that was factorized.
            panel: the returns that S was estimated from, if any.
            classes: class of each name, such as its sector, to compare the groups with.
            weights: positions of a portfolio, whose risk is examined; needs ``panel``.
            title: title of the report.
        """
        from symnmf.operators import as_operator

        operator = as_operator(S)
        done = () if operator.provenance is None else tuple(operator.provenance.steps)
        read = () if panel is None else panel.summary.steps
        return cls(
            result=result,
            operator=operator,
            panel=panel,
            comparison=None if classes is None else compare(result, classes),
            portfolio=_portfolio(result, operator, panel, weights, RESAMPLES, result.seed),
            evidence=Evidence.of(result, operator, panel),
            title=title,
            steps=(*read, *done),
        )

    def __repr__(self) -> str:
        n, k = self.result.H.shape
        return f"Analysis({self.dependence}, n={n}, k={k}, {self.result.status.name})"

    def _repr_html_(self) -> str:
        rows = [(group.name, ", ".join(group.members[:12])) for group in self.groups]
        rows.append(("verdict", self.result.certificate.verdict))
        return html_table(self.title or repr(self), rows)

    @property
    def groups(self) -> list[Group]:
        """The groups that have members, with their numbers, names and members."""
        return groups(self.result)

    @property
    def suspects(self) -> pd.DataFrame | None:
        """Returns that are probably errors, one row for each; None if there are none."""
        if self.panel is None or not self.panel.summary.suspects:
            return None
        return suspects_table(self.panel)

    @property
    def dependence(self) -> str:
        """``"tail"`` (losses), ``"gains"``, ``"correlation"``, or ``"matrix"`` for a given S."""
        provenance = self.operator.provenance
        if isinstance(provenance, TailEstimate):
            return "tail" if provenance.tail == "lower" else "gains"
        known = isinstance(provenance, CorrelationEstimate | SharedCorrelationEstimate)
        return "correlation" if known else "matrix"


def analyse(
    data: Any,
    k: int | str | None = None,
    *,
    kind: str = "auto",
    dependence: str = DEPENDENCE,
    dependence_options: Mapping[str, Any] | None = None,
    missing: str = MISSING,
    max_missing: float = MAX_MISSING,
    reading: Mapping[str, Any] | None = None,
    classes: Any = None,
    weights: Any = None,
    title: str | None = None,
    solver: str | Solver[Any] = SOLVER,
    seed: int = SEED,
    n_init: int | None = None,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    options: Mapping[str, Any] | None = None,
    start: str | None = None,
    published: bool = False,
    evidence: bool = True,
    resamples: int = 0,
    progress: bool | str = False,
    checkpoint: str | Path | Checkpoint | None = None,
    resume: bool = False,
    device: str | torch.device | None = None,
    process_group: ProcessGroup | None = None,
) -> Analysis:
    """Read data, estimate the dependence, find the groups, certify them and gather the evidence.

    Arguments:
        data: path of a file, a table, a :class:`symnmf.data.Panel`, a matrix or an operator.
        k: number of groups; by default, and for ``"auto"``, the number that
            :func:`symnmf.suggest_rank` finds.
        kind: contents of the data: ``"prices"``, ``"returns"``, ``"values"`` (numbers that are
            taken as they are) or ``"matrix"``; by default it is found from the data and recorded
            in the steps.
        dependence: kind of dependence of a table: ``"tail"`` (who crashes together) or
            ``"correlation"`` (who moves together).
        dependence_options: further arguments of :func:`symnmf.tail_dependence` or
            :func:`symnmf.abs_correlation`.
        missing, max_missing: policy for missing numbers of a table; see
            :func:`symnmf.read_panel`.
        reading: further arguments of :func:`symnmf.read_panel`, such as ``start`` and ``jumps``;
            for a matrix, ``diagonal="unit"`` scales it to a unit diagonal and ``"keep"`` takes it
            as it is, without the check for distances and covariances.
        classes: class of each name, such as its sector, to compare the groups with.
        weights: positions of a portfolio of instruments of a table, as a mapping from names or
            one number for each; its risk is examined by :func:`symnmf.portfolio_risk`, with
            ``resamples`` resampled histories, or 50.
        title: title of the report; by default the name of the file.
        solver, seed, n_init, max_iter, max_seconds, progress, checkpoint, resume: as for
            :func:`symnmf.factorize`.
        options: hyper-parameters of the solver.
        start, published: as for :func:`symnmf.factorize`.
        evidence: whether to gather the evidence that a report shows: dependence between groups,
            extremes, the other kind of dependence.
        resamples: number of resampled histories of a table in which the groups are found again
            (:func:`symnmf.bootstrap`), for the confidence of each member; each costs two fits.
        device: device of the fits: ``"auto"`` (a GPU of CUDA if there is one), ``"cpu"`` or
            ``"cuda"``; by default the device of S. The answer comes back to the device of S.
        process_group: processes that share the rows of S; all of them call this function.

    Returns:
        The complete answer, which :func:`symnmf.save` writes and :func:`symnmf.write_report` shows.

    Raises:
        InvalidInput: the data or an argument cannot be used.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> found = sn.analyse(sp500_prices(), k=4, kind="prices", dependence="correlation")
        >>> found.result.status.name, found.evidence.between.shape
        ('CONVERGED', (4, 4))
    """
    if device is not None:
        given = dict(locals())
        with computing_on(given.pop("device")):
            return analyse(**given)
    resamples = whole_number("resamples", resamples, 0, 100_000)
    loaded = load_data(
        data,
        kind,
        dependence,
        dependence_options or {},
        missing,
        max_missing,
        reading or {},
        process_group,
    )
    if classes is not None:
        check_class_names(loaded.operator.names, classes)
    if weights is not None:
        _check_weights(loaded, weights)
    rank = None
    if k is None or k == "auto":
        if process_group is not None:
            raise InvalidInput(
                "k",
                "was not given",
                "Pass it where several processes share the rows; `symnmf rank` and "
                "symnmf.suggest_rank suggest a number",
            )
        rank = _suggest(loaded, dependence, dependence_options or {}, seed)
        k = rank.k
    result = factorize(
        loaded.operator,
        k,  # type: ignore[arg-type]
        solver,
        seed=seed,
        n_init=n_init,
        max_iter=max_iter,
        max_seconds=max_seconds,
        progress=progress,
        checkpoint=checkpoint,
        resume=resume,
        start=start,
        published=published,
        **(options or {}),
    )
    stability = None
    if resamples and loaded.panel is not None and process_group is None:
        estimator = dependence_options or {}
        stability = bootstrap(
            loaded.panel, result, dependence, draws=resamples, seed=seed, **estimator
        )
        if stability.advice:
            result = replace(result, notes=(stability.advice, *result.notes))
    if rank is not None:
        nearly = ""
        if rank.low < rank.high:
            nearly = f" ({rank.low} to {rank.high} do nearly as well)"
        why = (f"k = {rank.k} was suggested{nearly}: {rank.reasons[0]}", *rank.reasons[1:])
        result = replace(result, notes=(*why, *result.notes))
    return Analysis(
        result=result,
        operator=loaded.operator,
        panel=loaded.panel,
        comparison=None if classes is None else compare(result, classes),
        rank=rank,
        stability=stability,
        evidence=Evidence.of(result, loaded.operator, loaded.panel, rank) if evidence else None,
        portfolio=_portfolio(
            result, loaded.operator, loaded.panel, weights, resamples or RESAMPLES, seed
        ),
        title=_title(data) if title is None else title,
        steps=loaded.steps,
        record=loaded.record,
    )


def _check_weights(loaded: LoadedData, weights: Any) -> None:
    """Refuse weights that cannot be used, before the fit."""
    if loaded.panel is None:
        shared = "panel" in loaded.record
        raise InvalidInput(
            "weights",
            "need the whole table, which processes read in shares" if shared
            else "were given with a matrix",
            "Leave them out, or use one process" if shared
            else "Pass a table of prices or returns, or no weights",
        )  # fmt: skip
    given = by_name(weights)
    if isinstance(given, Mapping):
        names = loaded.panel.names
        check_known("weights", given, names, "in the table", "Pass names of its columns")


def _portfolio(
    result: Result, S: SymmetricOperator, panel: Panel | None, weights: Any, draws: int, seed: int
) -> PortfolioRisk | None:
    """The risk of the portfolio of the user; None without one."""
    if weights is None or S.process_index > 0:
        return None
    if panel is None:
        raise InvalidInput("weights", "were given without a panel", "Pass panel=, the returns")
    about = S.provenance
    kind = "correlation" if isinstance(about, CorrelationEstimate) else "tail"
    tail = about.tail if isinstance(about, TailEstimate) else "lower"
    return portfolio_risk(
        result, panel, weights, dependence=kind, tail=tail, draws=draws, seed=seed
    )


def _suggest(
    loaded: LoadedData, dependence: str, options: Mapping[str, Any], seed: int
) -> RankSuggestion:
    """The number of groups, with reasons."""
    if loaded.panel is None:
        return suggest_rank(loaded.operator, seed=seed)
    estimator = Estimator.of(loaded.operator, loaded.panel, dependence, options)
    # The fit that follows compares starts of its own.
    return suggest_for_panel(
        loaded.panel, loaded.operator, estimator, None, seed, compare_starts=False
    )


def _title(data: Any) -> str:
    return Path(data).name if isinstance(data, str | Path) else ""
