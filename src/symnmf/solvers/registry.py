"""Name → solver: every variant is a row here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from symnmf.core.solver import Solver
from symnmf.errors import InvalidInput, UnknownName
from symnmf.options import Constraint, constraints
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
from symnmf.solvers.multiplicative import (
    ExponentiatedGradient,
    MultiplicativeUpdate,
    TraceNormUpdate,
)
from symnmf.solvers.newton import LBFGS, PGNCG, DiagonalNewton
from symnmf.solvers.projected import Fista, HeavyBall, ProjectedGradient
from symnmf.solvers.sketched import Sketched
from symnmf.solvers.space import Projected, Softplus
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
        paper: the paper's hyper-parameters, where it states them.
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
    paper: str
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
        return self.sampling is FullBatch

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

    @property
    def _parts(self) -> list[type]:
        hybrid = [SnapshotHybrid] if self.hybrid else []
        return [self.solver, self.sampling, *self.reactions, self.space, *hybrid]

    def make(self, **options: Any) -> Solver[Any]:
        """The solver with the given hyper-parameters."""
        values = {**self.parameters, **options}

        def build(part: type, **given: Any) -> Any:
            own = {f.name: values[f.name] for f in fields(part) if f.name in values}
            return part(**own, **given)

        names = {f.name for f in fields(self.solver)}
        space = build(self.space)
        if issubclass(self.solver, Solver):
            made: Solver[Any] = build(self.solver, **({"space": space} if "space" in names else {}))
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


def _block(name: str, arrays: int, paper: str, **rest: Any) -> Row:
    phi = {"phi": 0.5}
    return Row(
        name, F3, AdaGrad, "2φ", arrays, paper, NEW, sampling=BlockSampling, defaults=phi, **rest
    )


def _entry(name: str, arrays: int, paper: str, phi: float, **rest: Any) -> Row:
    chosen = {"sampling": EntrySampling, "defaults": {"phi": phi}, "tier": "study", **rest}
    rule = chosen.pop("rule", AdaGrad)
    return Row(name, F3, rule, "φ/k", arrays, paper, NEW, **chosen)


ROWS: tuple[Row, ...] = (
    Row("mu", F1, MultiplicativeUpdate, "1", 11, "none", "He et al. 2011"),
    Row("mu-nndsvd", F1, MultiplicativeUpdate, "1", 11, "none", "He et al. 2011", start="nndsvd"),
    Row("mu-trace", F1, TraceNormUpdate, "1", 11, "lam below 1", NEW, "study"),
    Row("exponentiated-gradient", F1, ExponentiatedGradient, "1", 11, "none stated",
        "Kivinen and Warmuth 1997", "study"),
    Row("pgd", F2, ProjectedGradient, "1+", 14, "c=1e-4, halving", "Lin 2007"),
    Row("pgd-momentum", F2, HeavyBall, "1", 11, "none stated", "Polyak 1964", "study"),
    Row("fista", F2, Fista, "1+", 18, "c=1e-4, halving", "Beck and Teboulle 2009"),
    Row("adagrad", F3, AdaGrad, "1", 11, "eta=2", DUCHI),
    Row("rmsprop", F3, RMSprop, "1", 12, "eta=0.05, alpha=0.99, momentum=0.5", "Hinton 2012",
        reactions=FORGET),
    Row("adam", F3, Adam, "1", 12, "eta=0.01, beta1=0.9, beta2=0.999", "Kingma and Ba 2015",
        reactions=FORGET),
    Row("nadam", F3, Adam, "1", 13, "as adam", "Dozat 2016", reactions=FORGET,
        defaults={"nesterov": True}),
    Row("adan", F3, Adan, "1", 15, "none stated", "Xie et al. 2023", reactions=FORGET),
    Row("piecewise-adagrad", F3, AdaGrad, "1", 11, "eta=1, memory_iters=10, margin=3, 10 or 30",
        NEW, reactions=(Reset,)),
    Row("row-adagrad", F3, AdaGrad, "φ", 13, "eta=2, phi=0.5", NEW, "study", sampling=RowSampling),
    Row("row-svrg", F3, AdaGrad, "φ + 1/period", 13, "eta=2, phi=0.5", NEW, sampling=RowSampling,
        hybrid=True),
    Row("row-reset", F3, AdaGrad, "φ", 13, "fails", NEW, "study", sampling=RowSampling,
        reactions=(Reset,)),
    _entry("entry-adagrad", 12, "phi up to 0.2: fails", 0.1),
    _entry("entry-svrg", 13, "phi up to 0.2: fails", 0.1, hybrid=True),
    _entry("entry-reset", 12, "phi up to 0.2: fails", 0.1, reactions=(Reset,)),
    _entry("entry-averaged", 13, "phi up to 0.2: fails", 0.1, averaged=True),
    _entry("entry-dual-averaging", 13, "phi up to 0.2: fails", 0.1, rule=DualAveraging),
    _entry("adaptgrow", 12, "eta=1, phi=0.25", 0.25, reactions=(Grow,)),
    _entry("adaptgrow-svrg", 13, "eta=1, phi=0.25", 0.25, hybrid=True, reactions=(Grow,)),
    _entry("adaptgrow-reset", 12, "eta=1, phi=0.25", 0.25, reactions=(Grow, Reset)),
    _block("block-adaptgrow", 14, "phi=0.5", reactions=(Grow,)),
    _block("block-svrg-adaptgrow", 14, "phi=0.5 or 0.75", hybrid=True, reactions=(Grow,)),
    _block("block-reset-adaptgrow", 14, "phi=0.5", reactions=(Grow, Reset), tier="study"),
    _block("block-svrg-reset-adaptgrow", 14, "phi=0.5", hybrid=True, reactions=(Grow, Reset),
           tier="study"),
    Row("hals", F4, HALS, "1", 12, "alpha=100 to 10000", "Kim et al. 2014"),
    Row("anls", F4, ANLS, "1", 13, "alpha=100 or 1000", "Kuang et al. 2015"),
    Row("newton", F5, DiagonalNewton, "1+", 15, "eta=0.1, reg=0.5", "Marquardt 1963"),
    Row("lbfgs", F5, LBFGS, "1+", 40, "pairs=100", "Nocedal and Wright 2006"),
    Row("pgncg", F5, PGNCG, "1+", 14, "none stated", "Eswar et al. 2020"),
    Row("admm", F6, ADMM, "1", 11, "rho=50 or 500", "Boyd et al. 2011"),
    Row("lai", F6, LAI, "0, then 1", 12, "alpha=100, refine=False", "Hayashi et al. 2024"),
    Row("sketched", F6, Sketched, "0, then 0.1", 18, "rejects sketching", "this library"),
    Row("symnmf-net", F7, SymNMFNet, "2T", 40, "blocks=5, rate=0.1", "Li et al. 2022", "study"),
    Row("pgd-log", F2, ProjectedGradient, "1+", 17, "as pgd", "Lin 2007", **LOG),
    Row("pgd-momentum-log", F2, HeavyBall, "1", 13, "as pgd-momentum", "Polyak 1964", **LOG),
    Row("fista-log", F2, Fista, "2+", 22, "as fista", "Beck and Teboulle 2009", **LOG),
    Row("adagrad-log", F3, AdaGrad, "1", 13, "as adagrad", DUCHI, **LOG),
    Row("rmsprop-log", F3, RMSprop, "1", 14, "as rmsprop", "Hinton 2012", reactions=FORGET, **LOG),
    Row("adam-log", F3, Adam, "1", 14, "as adam", "Kingma and Ba 2015", reactions=FORGET, **LOG),
    Row("nadam-log", F3, Adam, "1", 14, "as adam", "Dozat 2016", reactions=FORGET,
        defaults={"nesterov": True}, **LOG),
    Row("adan-log", F3, Adan, "1", 16, "as adan", "Xie et al. 2023", reactions=FORGET, **LOG),
    Row("newton-log", F5, DiagonalNewton, "1+", 18, "as newton", "Marquardt 1963", **LOG),
    Row("lbfgs-log", F5, LBFGS, "1+", 42, "as lbfgs", "Nocedal and Wright 2006", **LOG),
    Row("pgncg-log", F5, PGNCG, "1+", 20, "as pgncg", "Eswar et al. 2020", **LOG),
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
