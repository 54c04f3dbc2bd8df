"""The criterion: three gates, looked at every few iterations, the same for every solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import torch
from torch import Tensor

from symnmf.certificate import Certificate, Yardstick
from symnmf.contract import Check, Problem
from symnmf.errors import InvalidInput
from symnmf.objective import error, gradient, gradient_resolution, projected_norm

#: The paper's gates (its section 4.1): error, gradient an entry for n ≥ 10⁴, stagnation.
ERROR_GATE, KKT_GATE, KKT_REFERENCE, STAGNATION = 0.1, 1e-4, 10_000, 1e-5


@dataclass(frozen=True)
class Monitor:
    """The thresholds of the criterion.

    Arguments:
        kkt_gate: τ_g; by default the paper's 10⁻⁴ · max(1, 10⁴ / n). The gate in force is never
            below what rounding lets the gradient reach.
        stagnation: τ of the decrease against the error at the start.
        patience: looks without progress (error within its resolution, gradient not a tenth lower)
            before the run is given up.

    Example:
        >>> Monitor().gate(n=1000), Monitor(kkt_gate=1e-6).gate(n=1000)
        (0.001, 1e-06)
    """

    kkt_gate: float | None = None
    stagnation: float = STAGNATION
    patience: int = 20

    def __post_init__(self) -> None:
        for name in ("kkt_gate", "stagnation", "patience"):
            value = getattr(self, name)
            number = isinstance(value, int | float) and 0 < value < inf
            if not (number or (value is None and name == "kkt_gate")):
                raise InvalidInput(f"Monitor.{name}", f"got {value!r}", "Pass a positive number")

    def gate(self, n: int) -> float:
        """τ_g(n)."""
        return self.kkt_gate or KKT_GATE * max(1.0, KKT_REFERENCE / n)

    def watch(self, problem: Problem) -> Watch:
        """Begin to watch a run."""
        yardstick = problem.yardstick  # makes the spectrum, which counts apart
        return Watch(self, problem, yardstick, since=problem.spent)


def paper_gates(check: Check, n: int) -> bool:
    """Whether a look meets the paper's three gates, literally."""
    return (
        check.error < ERROR_GATE
        and check.kkt < KKT_GATE * max(1.0, KKT_REFERENCE / n)
        and check.iteration >= 50
        and check.decrease < STAGNATION
    )


@dataclass
class Watch:
    """One run under observation: what the criterion has to remember between looks."""

    monitor: Monitor
    problem: Problem
    yardstick: Yardstick
    history: list[Check] = field(default_factory=list)
    last_H: Tensor | None = None
    quiet: int = 0  # looks since there was progress
    since: int = 0  # what the problem had spent before this run

    def look(
        self,
        iteration: int,
        seconds: float,
        H: Tensor,
        SH: Tensor,
        *,
        warm: bool = True,
    ) -> Check:
        """Measure H and append to the history.

        ``warm`` says that the warm-up is over and that a whole interval lies behind: without it
        the look cannot be stagnant.
        """
        problem, frob_sq = self.problem, self.problem.S.frob_sq()
        now = error(H, SH, frob_sq)
        kkt, gate = self._kkt(H, SH)
        first, last = (self.history[0], self.history[-1]) if self.history else (None, None)
        drop = last.error - now if last else float("inf")
        start = first.error if first else now
        resolution = self.yardstick.resolution
        self.quiet = 0 if self._progress(now, kkt) else self.quiet + 1
        stagnant = warm and (
            drop < max(self.monitor.stagnation * start, resolution) or self.yardstick.at_floor(now)
        )
        check = Check(
            iteration=iteration,
            seconds=seconds,
            products=problem.products(self.since),
            error=now,
            decrease=drop / start if start > 0 else 0.0,
            kkt=kkt,
            kkt_gate=gate,
            stagnant=stagnant,
            relative_decrease=abs(drop) / last.error if last and last.error else float("inf"),
            iterate_change=self._change(H),
            kkt_relative=kkt / first.kkt if first and first.kkt > 0 else 1.0,
        )
        self.history.append(check)
        return check

    def paper_converged(self, check: Check) -> bool:
        """The paper's three gates, literally."""
        return paper_gates(check, self.problem.S.n)

    def _progress(self, now: float, kkt: float) -> bool:
        """Whether error or gradient moved since the look at which ``quiet`` began."""
        if not self.history:
            return True
        since = self.history[-1 - self.quiet]
        return abs(now - since.error) >= self.yardstick.resolution or kkt < 0.9 * since.kkt

    def given_up(self) -> bool:
        """Whether nothing has changed for too many looks."""
        return self.quiet >= self.monitor.patience

    def certify(self, check: Check) -> Certificate:
        """The verdict at a look."""
        low, high = self.yardstick.floor
        collapsed = self.yardstick.collapsed(check.error)
        wanted = self.monitor.gate(self.problem.S.n)
        return Certificate(
            error=check.error,
            floor_low=low,
            floor_high=high,
            floor_exact=self.problem.spectrum.exact,
            rank_one=self.problem.spectrum.rank_one,
            excess=self.yardstick.excess(check.error),
            worth=self.yardstick.worth(check.error),
            possible=self.yardstick.possible(),
            kkt=check.kkt,
            kkt_gate=check.kkt_gate,
            kkt_bound="rounding" if check.kkt_gate > wanted else "criterion",
            resolution=self.yardstick.resolution,
            collapsed=collapsed,
            converged=check.gates_met and not collapsed,
            paper_converged=self.paper_converged(check),
        )

    def _kkt(self, H: Tensor, SH: Tensor) -> tuple[float, float]:
        """Projected gradient an entry, free of the scale of S, and the gate in force."""
        problem = self.problem
        unit = problem.S.n * problem.k * problem.S.scale() ** 1.5
        rounding = gradient_resolution(H, SH) / unit
        gate = max(self.monitor.gate(problem.S.n), rounding)
        return projected_norm(H, gradient(H, SH)) / unit, gate

    def _change(self, H: Tensor) -> float:
        if self.last_H is None:
            self.last_H = H.clone()
            return float("inf")
        before = float(torch.linalg.vector_norm(self.last_H, dtype=torch.float64))
        moved = float(torch.linalg.vector_norm(self.last_H.sub_(H), dtype=torch.float64))
        self.last_H.copy_(H)
        return moved / before if before > 0 else float("inf")
