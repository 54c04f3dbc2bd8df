"""A line of progress on the terminal, as a callback."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from math import isfinite, log
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.status import Status as Spinner
from torch import Tensor

from symnmf.core.solver import Check

#: Number of last checks from which the gradient is extrapolated.
TREND_CHECKS = 6


class Progress:
    """Shows products, error, excess, gradient and remaining time at the newest check.

    A context manager. It is silent if the console is not a terminal.

    Arguments:
        title: name of the task.
        console: console of the line; by default standard error.
        excess: function that returns the excess of an error, or None.
        max_iter, max_seconds: budget of the run.
    """

    def __init__(
        self,
        title: str = "factorizing",
        console: Console | None = None,
        *,
        excess: Callable[[float], float | None] | None = None,
        max_iter: int | None = None,
        max_seconds: float | None = None,
    ):
        self.title = title
        self.spinner = Spinner(title, console=console or Console(stderr=True))
        self.excess, self.max_iter, self.max_seconds = excess, max_iter, max_seconds
        self.checks: list[Check] = []

    def __enter__(self) -> Progress:
        if self.spinner.console.is_terminal:
            self.spinner.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.spinner.stop()

    def __call__(self, check: Check, H: Tensor) -> None:
        """Show a check."""
        self.checks = [*self.checks[1 - TREND_CHECKS :], check]
        self.spinner.update(self.line())

    def line(self) -> str:
        """The line for the newest check."""
        check = self.checks[-1]
        excess = None if self.excess is None else self.excess(check.error)
        words = [
            f"iteration {check.iteration}",
            f"{check.products:.0f} products",
            f"error {check.error:.3e}",
            *([] if excess is None else [f"excess {max(0.0, excess):.4f}"]),
            f"gradient {check.kkt_ratio:.3g} × gate",
            f"{check.seconds:.0f} s",
        ]
        left = time_left(self.checks, self.max_iter, self.max_seconds)
        return f"{self.title}: {', '.join([*words, *([] if left is None else [left])])}"


class JsonProgress:
    """Writes a line of JSON for every check, for programs that follow a run.

    Fields: ``event`` ("check"), ``iteration``, ``products``, ``error``, ``excess`` (or null),
    ``gradient`` (relative to its gate) and ``seconds``.

    Arguments:
        stream: file of the lines; by default standard error.
        excess: function that returns the excess of an error, or None.

    Example:
        >>> import io, json, numpy as np, symnmf as sn
        >>> lines = io.StringIO()
        >>> S = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
        >>> _ = sn.factorize(S, 2, "admm", callbacks=[JsonProgress(lines)])
        >>> json.loads(lines.getvalue().splitlines()[0])["iteration"]
        0
    """

    def __init__(
        self,
        stream: TextIO | None = None,
        *,
        excess: Callable[[float], float | None] | None = None,
    ):
        self.stream, self.excess = stream, excess

    def __call__(self, check: Check, H: Tensor) -> None:
        """Write a check."""
        excess = None if self.excess is None else self.excess(check.error)
        line = {
            "event": "check",
            "iteration": check.iteration,
            "products": round(check.products, 3),
            "error": check.error,
            "excess": excess,
            "gradient": check.kkt_ratio,
            "seconds": round(check.seconds, 3),
        }
        finite = {
            k: v if not isinstance(v, float) or isfinite(v) else None for k, v in line.items()
        }
        stream = self.stream or sys.stderr
        stream.write(json.dumps(finite) + "\n")
        stream.flush()


def time_left(
    checks: Sequence[Check], max_iter: int | None = None, max_seconds: float | None = None
) -> str | None:
    """The remaining time of a run as text; None if it cannot be estimated.

    A decreasing gradient is extrapolated to its gate at the mean rate of the last checks, within
    the budget.

    Arguments:
        checks: last checks, oldest first.
        max_iter, max_seconds: budget of the run.
    """
    first, last = checks[0], checks[-1]
    spent, steps = last.seconds - first.seconds, last.iteration - first.iteration
    budget = [] if max_seconds is None else [max_seconds - last.seconds]
    if max_iter is not None and steps > 0:
        budget.append((max_iter - last.iteration) * spent / steps)
    most = max(0.0, min(budget)) if budget else None
    if spent > 0 and 1 < last.kkt_ratio < first.kkt_ratio:
        rate = log(first.kkt_ratio / last.kkt_ratio) / spent
        left = log(last.kkt_ratio) / rate
        return f"about {_duration(left if most is None else min(left, most))} left"
    return None if most is None else f"at most {_duration(most)} left"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
