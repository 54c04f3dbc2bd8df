"""The stopping criterion: three gates, evaluated every few iterations for every solver."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from symnmf.core.bounds import ErrorBounds
from symnmf.core.certificate import Certificate
from symnmf.core.objective import gradient, gradient_resolution, projected_norm
from symnmf.core.problem import Problem
from symnmf.core.solver import Check
from symnmf.errors import InvalidInput
from symnmf.options import check_options, option

#: The paper's gates (its section 4.1): error, gradient per entry for n ≥ 10⁴, stagnation.
ERROR_GATE, KKT_GATE, KKT_REFERENCE, STAGNATION = 0.1, 1e-4, 10_000, 1e-5
#: The paper's warm-up: checks before this iteration cannot meet its gates.
WARM_UP = 50
#: The paper's exception (its section 4.1): the gradient's gate of a TPDM with this many rows.
TPDM_ROWS, TPDM_KKT_GATE = 1_000_000, 1e-3


@dataclass(frozen=True)
class Monitor:
    """The thresholds of the criterion.

    Arguments:
        kkt_gate: threshold τ_g of the gradient; by default the paper's 10⁻⁴ · max(1, 10⁴ / n). The
            effective gate is never below the rounding of the gradient.
        stagnation: threshold τ of the decrease relative to the error at the start.
        patience: number of checks without progress (error within its resolution, gradient not a
            tenth lower) after which the run ends.
        paper: whether to stop by the paper's rule alone: where its three gates are met, even if H
            has no groups, and not for want of progress.
        warm_start: whether the start is a fit already, so that a run may end before the warm-up of
            its solver is over.

    Example:
        >>> Monitor().gate(n=1000), Monitor(kkt_gate=1e-6).gate(n=1000)
        (0.001, 1e-06)
    """

    kkt_gate: float | None = option(None, above=0)
    stagnation: float = option(STAGNATION, above=0)
    patience: int = option(20, whole=True, at_least=1)
    paper: bool = option(False)
    warm_start: bool = option(False)

    def __post_init__(self) -> None:
        check_options(self)
        if self.paper and self.kkt_gate is not None:
            raise InvalidInput(
                "kkt_gate",
                f"got {self.kkt_gate} for a published run, which stops by the paper's gates",
                "Leave one of them out",
            )

    def gate(self, n: int) -> float:
        """The threshold τ_g(n) of the gradient."""
        return self.kkt_gate or KKT_GATE * max(1.0, KKT_REFERENCE / n)

    def begin(self, problem: Problem, least_entry: float = 0.0) -> RunMonitor:
        """Begin to monitor a run.

        Arguments:
            problem: problem to solve.
            least_entry: least entry that a factor of the solver can have.
        """
        bounds = problem.bounds  # computes the spectrum, whose work is counted separately
        return RunMonitor(self, problem, bounds, work_before=problem.spent, least_entry=least_entry)


def paper_kkt_gate(problem: Problem) -> float:
    """The paper's threshold of the gradient, with its exception for large TPDMs."""
    S = problem.S
    if S.n >= TPDM_ROWS and S.provenance is not None and S.provenance.is_tail:
        return TPDM_KKT_GATE
    return KKT_GATE * max(1.0, KKT_REFERENCE / S.n)


@dataclass
class RunMonitor:
    """The monitor of one run, with the state of the criterion between checks.

    Attributes:
        monitor: the thresholds.
        problem: problem to solve.
        bounds: bounds on the error from its spectrum.
        history: checks so far.
        last_H: factor at the last check.
        quiet: number of checks since the last progress.
        work_before: work done with S before this run.
        least_entry: least entry that a factor can have, the boundary of the projected gradient.
    """

    monitor: Monitor
    problem: Problem
    bounds: ErrorBounds
    history: list[Check] = field(default_factory=list)
    last_H: Tensor | None = None
    quiet: int = 0
    work_before: int = 0
    least_entry: float = 0.0

    def measure(
        self,
        iteration: int,
        seconds: float,
        H: Tensor,
        SH: Tensor,
        *,
        warm: bool = True,
        whole: bool = True,
        reactions: int = 0,
    ) -> Check:
        """Evaluate the criterion at H and append the check to the history.

        Arguments:
            iteration, seconds: iterations and time spent so far.
            H, SH: factor and product S @ H.
            warm: whether the warm-up of the solver is over; otherwise the check cannot be stagnant.
            whole: whether a whole interval has passed since the last check; otherwise the check
                can neither be stagnant nor meet the paper's gates.
            reactions: number of times that the solver has reacted to stagnation so far.
        """
        problem = self.problem
        now = problem.error(H, SH)
        kkt, gate = self._kkt(H, SH)
        first, last = (self.history[0], self.history[-1]) if self.history else (None, None)
        drop = last.error - now if last else float("inf")
        start = first.error if first else now
        resolution = self.bounds.resolution
        self.quiet = 0 if self._progress(now, kkt) else self.quiet + 1
        stagnant = (
            (warm or self.monitor.warm_start)
            and whole
            and (
                drop < max(self.monitor.stagnation * start, resolution) or self.bounds.at_floor(now)
            )
        )
        decrease = drop / start if start > 0 else 0.0
        check = Check(
            iteration=iteration,
            seconds=seconds,
            products=problem.products(self.work_before),
            error=now,
            decrease=decrease,
            kkt=kkt,
            kkt_gate=gate,
            stagnant=stagnant,
            whole=whole,
            paper_gates=(
                whole
                and iteration >= WARM_UP
                and now < ERROR_GATE
                and kkt < paper_kkt_gate(problem)
                and decrease < STAGNATION
            ),
            reactions=reactions,
            relative_decrease=abs(drop) / last.error if last and last.error else float("inf"),
            iterate_change=self._change(H),
            kkt_relative=kkt / first.kkt if first and first.kkt > 0 else 1.0,
        )
        self.history.append(check)
        return check

    def _progress(self, now: float, kkt: float) -> bool:
        """Whether error or gradient changed since the last check with progress."""
        if not self.history:
            return True
        since = self.history[-1 - self.quiet]
        return abs(now - since.error) >= self.bounds.resolution or kkt < 0.9 * since.kkt

    def stops(self, check: Check) -> bool:
        """Whether the criterion is met: that of the paper, or ours."""
        if self.monitor.paper:
            return check.paper_gates
        return self.converged(check)

    def converged(self, check: Check, H: Tensor | None = None) -> bool:
        """Whether our gates are met by a factor that is not collapsed and leaves no groups out."""
        if not check.gates_met or self.bounds.leaves_groups(check.error):
            return False
        return not self.collapsed(check, H)

    def collapsed(self, check: Check, H: Tensor | None = None) -> bool:
        """Whether the factor of a check has no groups; by default that of the last check."""
        H = self.last_H if H is None else H
        assert H is not None
        return self.bounds.collapsed(check.error, H)

    def holds_at(self, H: Tensor, SH: Tensor) -> bool:
        """Whether a run that begins at H, and gains nothing there, would converge at once.

        The gradient meets its gate, and H is not collapsed and leaves no groups out. Nothing is
        added to the history.
        """
        error, (kkt, gate) = self.problem.error(H, SH), self._kkt(H, SH)
        settled = kkt < gate and not self.bounds.leaves_groups(error)
        return settled and not self.bounds.collapsed(error, H)

    def given_up(self) -> bool:
        """Whether there was no progress for ``patience`` checks."""
        return not self.monitor.paper and self.quiet >= self.monitor.patience

    def certify(self, check: Check, H: Tensor | None = None) -> Certificate:
        """The certificate of a check; the paper's gates are those of the end of the run.

        Arguments:
            check: check to certify.
            H: its factor; by default that of the last check.
        """
        ended = next((c for c in reversed(self.history) if c.whole), check)
        first = next((c.iteration for c in self.history if c.paper_gates), None)
        low, high = self.bounds.floor
        H = self.last_H if H is None else H
        assert H is not None
        return Certificate(
            error=check.error,
            floor_low=low,
            floor_high=high,
            floor_exact=self.bounds.exact,
            rank_one=self.bounds.rank_one,
            excess=self.bounds.excess(check.error),
            factors_explained=self.bounds.factors_explained(check.error),
            factors_available=self.bounds.factors_available(),
            kkt=check.kkt,
            kkt_gate=check.kkt_gate,
            kkt_bound="rounding" if check.kkt_gate > self._wanted else "criterion",
            resolution=self.bounds.resolution,
            collapsed=self.collapsed(check, H),
            converged=self.converged(check, H),
            paper_converged=ended.paper_gates,
            paper_iteration=first,
            observed=self.problem.share,
            distinct_columns=self.bounds.distinct_columns(H),
            noise_share=self.bounds.noise_share(check.error),
        )

    def _kkt(self, H: Tensor, SH: Tensor) -> tuple[float, float]:
        """Projected gradient per entry, independent of the scale of S, and the effective gate."""
        problem = self.problem
        unit = problem.S.n * problem.k * problem.S.scale() ** 1.5
        rounding = gradient_resolution(H, SH) / unit
        norm = projected_norm(H, gradient(H, SH), self.least_entry)
        return norm / unit, max(self._wanted, rounding)

    @property
    def _wanted(self) -> float:
        """The threshold of the gradient, before rounding raises it."""
        if self.monitor.paper:
            return paper_kkt_gate(self.problem)
        return self.monitor.gate(self.problem.S.n)

    def _change(self, H: Tensor) -> float:
        if self.last_H is None:
            self.last_H = H.clone()
            return float("inf")
        before = float(torch.linalg.vector_norm(self.last_H, dtype=torch.float64))
        moved = float(torch.linalg.vector_norm(self.last_H.sub_(H), dtype=torch.float64))
        self.last_H.copy_(H)
        return moved / before if before > 0 else float("inf")
