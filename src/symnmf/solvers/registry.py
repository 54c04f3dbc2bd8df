"""Name → solver: every variant is a row here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from symnmf.core.solver import Solver
from symnmf.defaults import SOLVER
from symnmf.errors import InvalidInput, UnknownName, called, spelled
from symnmf.operators import SymmetricOperator
from symnmf.options import Constraint, constraints
from symnmf.solvers.column_descent import BlockUpperBound, CyclicCoordinateDescent
from symnmf.solvers.coordinate import ANLS, HALS
from symnmf.solvers.first_order import (
    AdaGrad,
    Adam,
    Adan,
    Anneal,
    Averaged,
    BlockSampling,
    DualAveraging,
    EntrySampling,
    FirstOrder,
    FullBatch,
    Grow,
    Reset,
    RMSprop,
    RowSampling,
    SnapshotHybrid,
)
from symnmf.solvers.leverage import LeverageSampling
from symnmf.solvers.multiplicative import (
    ExponentiatedGradient,
    MultiplicativeUpdate,
    TraceNormUpdate,
)
from symnmf.solvers.newton import LBFGS, PGNCG, DiagonalNewton
from symnmf.solvers.projected import Fista, HeavyBall, ProjectedGradient
from symnmf.solvers.published import CODE_FLOOR, CODE_START, PHASE_1, PHASE_2
from symnmf.solvers.sketched import Sketched
from symnmf.solvers.space import Projected, Softplus
from symnmf.solvers.spectral_gradient import SpectralProjectedGradient
from symnmf.solvers.splitting import ADMM, LAI
from symnmf.solvers.unfolded import SymNMFNet

#: The solver that ``"auto"`` chooses unless the answer is known.
DEFAULT = "sketched"


@dataclass(frozen=True)
class Row:
    """One solver of the registry: its parts and its properties.

    Attributes:
        name: the name that the caller passes.
        family: the paper's family.
        solver: its class; or a rule, which makes a first-order solver.
        products: number of products of S with k columns in an iteration.
        arrays: number of n×k arrays alive in a fit, without S, with the spectrum and the checks.
        reference: publication of the method.
        tier: ``"standard"``, or ``"study"`` for rows that are here for comparison.
        sampling, hybrid, reactions, averaged: further parts of a first-order solver.
        space: how H stays non-negative.
        start: start factor unless the caller passes one.
        defaults: hyper-parameters that differ from those of the parts.
    """

    name: str
    family: str
    solver: type
    products: str
    arrays: int
    reference: str
    tier: str = "standard"
    sampling: type = FullBatch
    hybrid: bool = False
    reactions: tuple[type, ...] = ()
    averaged: bool = False
    space: type = Projected
    start: str = "random"
    defaults: Mapping[str, Any] = field(default_factory=dict)

    @property
    def deterministic(self) -> bool:
        """Whether the steps draw no random numbers."""
        return self.sampling is FullBatch and self.solver is not LeverageSampling

    @property
    def constraints(self) -> dict[str, Constraint]:
        """Constraint of each option, by name."""
        return {name: limit for part in self._parts for name, limit in constraints(part).items()}

    @property
    def parameters(self) -> dict[str, Any]:
        """Hyper-parameters and our defaults."""
        return {
            f.name: self.defaults.get(f.name, f.default)
            for part in self._parts
            for f in fields(part)
            if f.name in constraints(part)
        }

    def published(self, n: int = 0, *, tail: bool = True, start: str = "random") -> dict[str, Any]:
        """The options of the method as the founding paper publishes it.

        Arguments:
            n: number of rows of S: Phase 2 has options of its own from n = 10⁵ and 10⁶ on.
            tail: whether S is a TPDM; otherwise it counts as a correlation.
            start: with ``"uniform"``, the start of the authors' public code, H is also clamped as
                there.

        Example:
            >>> find("adagrad").published(), find("adagrad").published(100_000, tail=False)
            ({'eta': 2.0}, {'eta': 96.0})
        """
        options = dict(PHASE_1.get(self.name, {}))
        medium, large = PHASE_2.get((self.name, "tpdm" if tail else "corr"), ({}, None))
        if n >= 100_000:
            options |= medium if n < 1_000_000 or large is None else large
        if start == CODE_START and "floor" in self.parameters:
            options["floor"] = CODE_FLOOR
        return options

    @property
    def _fields(self) -> set[str]:
        return {f.name for f in fields(self.solver)}

    @property
    def _parts(self) -> list[type]:
        if issubclass(self.solver, Solver):
            has_space = "space" in self._fields
            return [self.solver, self.space] if has_space else [self.solver]
        hybrid = [SnapshotHybrid] if self.hybrid else []
        return [self.solver, self.sampling, *self.reactions, self.space, *hybrid]

    def make(self, **options: Any) -> Solver[Any]:
        """The solver with the given hyper-parameters."""
        values = {**self.parameters, **options}

        def build(part: type, **given: Any) -> Any:
            own = {f.name: values[f.name] for f in fields(part) if f.name in values}
            return part(**own, **given)

        space = build(self.space)
        if issubclass(self.solver, Solver):
            made: Solver[Any] = build(
                self.solver, **({"space": space} if "space" in self._fields else {})
            )
            return made
        sampling = build(self.sampling)
        if self.hybrid:
            sampling = build(SnapshotHybrid, inner=sampling)
        reactions = tuple(build(reaction) for reaction in self.reactions)
        first_order = FirstOrder(build(self.solver), sampling, reactions, space)
        return Averaged(first_order) if self.averaged else first_order


F1, F2, F3 = "F1 multiplicative", "F2 projected gradient", "F3 adaptive"
F4, F5, F6, F7 = "F4 coordinate", "F5 second order", "F6 splitting", "F7 unfolded"
DUCHI, NEW = "Duchi et al. 2011", "the founding paper, 5.1"
#: Reactions of rules that average squared gradients, and so never shrink their steps themselves.
FORGET = (Anneal,)
#: Of rows in the space of the logarithm.
LOG: dict[str, Any] = {"space": Softplus, "tier": "study"}
#: A reset that also fires between steps that see a part of S.
AT_ONCE: dict[str, Any] = {"full_batch_only": False}


def _block(name: str, arrays: int, **rest: Any) -> Row:
    phi = {"phi": 0.5}
    return Row(name, F3, AdaGrad, "2φ", arrays, NEW, sampling=BlockSampling, defaults=phi, **rest)


def _entry(name: str, arrays: int, phi: float, **rest: Any) -> Row:
    defaults = {"phi": phi, **rest.pop("defaults", {})}
    chosen = {"sampling": EntrySampling, "defaults": defaults, "tier": "study", **rest}
    rule = chosen.pop("rule", AdaGrad)
    return Row(name, F3, rule, "φ/k", arrays, NEW, **chosen)


ROWS: tuple[Row, ...] = (
    Row("mu", F1, MultiplicativeUpdate, "1", 11, "He et al. 2011"),
    Row("mu-nndsvd", F1, MultiplicativeUpdate, "1", 11, "He et al. 2011", start="nndsvd"),
    Row("mu-trace", F1, TraceNormUpdate, "1", 11, NEW, "study"),
    Row("exponentiated-gradient", F1, ExponentiatedGradient, "1", 11, "Kivinen and Warmuth 1997",
        "study"),
    Row("pgd", F2, ProjectedGradient, "1+", 14, "Lin 2007"),
    Row("pgd-momentum", F2, HeavyBall, "1", 11, "Polyak 1964", "study"),
    Row("fista", F2, Fista, "1+", 18, "Beck and Teboulle 2009"),
    Row("spg", F2, SpectralProjectedGradient, "1", 15, "Birgin et al. 2000", "study"),
    Row("adagrad", F3, AdaGrad, "1", 11, DUCHI),
    Row("rmsprop", F3, RMSprop, "1", 12, "Hinton 2012", reactions=FORGET),
    Row("adam", F3, Adam, "1", 12, "Kingma and Ba 2015", reactions=FORGET),
    Row("nadam", F3, Adam, "1", 13, "Dozat 2016", reactions=FORGET, defaults={"nesterov": True}),
    Row("adan", F3, Adan, "1", 15, "Xie et al. 2023", reactions=FORGET),
    Row("piecewise-adagrad", F3, AdaGrad, "1", 11, NEW, reactions=(Reset,)),
    Row("row-adagrad", F3, AdaGrad, "φ", 13, NEW, "study", sampling=RowSampling),
    Row("row-svrg", F3, AdaGrad, "φ + 1/period", 13, NEW, sampling=RowSampling, hybrid=True),
    Row("row-reset", F3, AdaGrad, "φ", 13, NEW, "study", sampling=RowSampling, reactions=(Reset,),
        defaults=AT_ONCE),
    _entry("entry-adagrad", 12, 0.1),
    _entry("entry-svrg", 13, 0.1, hybrid=True),
    _entry("entry-reset", 12, 0.1, reactions=(Reset,), defaults=AT_ONCE),
    _entry("entry-averaged", 13, 0.1, averaged=True),
    _entry("entry-dual-averaging", 13, 0.1, rule=DualAveraging),
    _entry("adaptgrow", 12, 0.25, reactions=(Grow,)),
    _entry("adaptgrow-svrg", 13, 0.25, hybrid=True, reactions=(Grow,)),
    _entry("adaptgrow-reset", 12, 0.25, reactions=(Grow, Reset)),
    _block("block-adaptgrow", 14, reactions=(Grow,)),
    _block("block-svrg-adaptgrow", 14, hybrid=True, reactions=(Grow,)),
    _block("block-reset-adaptgrow", 14, reactions=(Grow, Reset), tier="study"),
    _block("block-svrg-reset-adaptgrow", 14, hybrid=True, reactions=(Grow, Reset), tier="study"),
    Row("hals", F4, HALS, "1", 12, "Kim et al. 2014"),
    Row("anls", F4, ANLS, "1", 13, "Kuang et al. 2015"),
    Row("ccd", F4, CyclicCoordinateDescent, "1", 12, "Vandaele et al. 2016", "study"),
    Row("bsum", F4, BlockUpperBound, "1+", 12, "Shi et al. 2017", "study"),
    Row("lvs", F4, LeverageSampling, "φ, then 1", 13, "Hayashi et al. 2024", "study"),
    Row("newton", F5, DiagonalNewton, "1+", 15, "Marquardt 1963"),
    Row("lbfgs", F5, LBFGS, "1+", 40, "Nocedal and Wright 2006"),
    Row("pgncg", F5, PGNCG, "1+", 14, "Eswar et al. 2020"),
    Row("admm", F6, ADMM, "1", 11, "Boyd et al. 2011"),
    Row("lai", F6, LAI, "0, then 1", 12, "Hayashi et al. 2024"),
    Row("sketched", F6, Sketched, "0, then 0.1", 22, "this library"),
    Row("symnmf-net", F7, SymNMFNet, "2T", 40, "Li et al. 2022", "study"),
    Row("pgd-log", F2, ProjectedGradient, "1+", 17, "Lin 2007", **LOG),
    Row("pgd-momentum-log", F2, HeavyBall, "1", 13, "Polyak 1964", **LOG),
    Row("fista-log", F2, Fista, "2+", 22, "Beck and Teboulle 2009", **LOG),
    Row("adagrad-log", F3, AdaGrad, "1", 13, DUCHI, **LOG),
    Row("rmsprop-log", F3, RMSprop, "1", 14, "Hinton 2012", reactions=FORGET, **LOG),
    Row("adam-log", F3, Adam, "1", 14, "Kingma and Ba 2015", reactions=FORGET, **LOG),
    Row("nadam-log", F3, Adam, "1", 14, "Dozat 2016", reactions=FORGET,
        defaults={"nesterov": True}, **LOG),
    Row("adan-log", F3, Adan, "1", 16, "Xie et al. 2023", reactions=FORGET, **LOG),
    Row("newton-log", F5, DiagonalNewton, "1+", 18, "Marquardt 1963", **LOG),
    Row("lbfgs-log", F5, LBFGS, "1+", 42, "Nocedal and Wright 2006", **LOG),
    Row("pgncg-log", F5, PGNCG, "1+", 20, "Eswar et al. 2020", **LOG),
)  # fmt: skip


def available() -> dict[str, Row]:
    """The registry by name.

    Example:
        >>> available()["admm"].parameters
        {'penalty': 1.0, 'rho': None}
    """
    return {row.name: row for row in ROWS}


def find(name: str) -> Row:
    """A row by name; the error for an unknown name suggests the nearest one."""
    known = available()
    if name not in known:
        near = get_close_matches(str(name), known, n=1, cutoff=0.0)
        raise UnknownName(
            "solver",
            f"unknown solver {name!r}",
            f"Did you mean {near[0]!r}? All of them: {', '.join(known)}",
        )
    return known[name]


def make_solver(name: str, **options: Any) -> Solver[Any]:
    """A solver by name, with hyper-parameters.

    Example:
        >>> make_solver("admm", rho=50.0)
        ADMM(penalty=1.0, rho=50.0)
    """
    row = find(name)
    for option in options:
        if option not in row.parameters:
            has = ", ".join(row.parameters) or "no options"
            raise InvalidInput(option, f"is not an option of {name!r}", f"It has {has}")
    return row.make(**options)


def published_options(S: SymmetricOperator, solver: Any, start: Any) -> dict[str, Any]:
    """The options of a solver as the founding paper publishes them, for this matrix.

    Arguments:
        S: the matrix, whose kind and size decide.
        solver: name of the solver.
        start: name of the start, or a factor.

    Raises:
        InvalidInput: the solver is not a method of the paper.
    """
    if not isinstance(solver, str) or solver in (SOLVER, DEFAULT):
        raise InvalidInput(
            "published",
            f"got True with {called('solver')} {solver if isinstance(solver, str) else 'object'}",
            f"Choose a method of the founding paper, such as {spelled('solver', 'adagrad')}",
        )
    tail = S.provenance is not None and S.provenance.is_tail
    name = start if isinstance(start, str) else "random"
    return find(solver).published(S.n, tail=tail, start=name)
