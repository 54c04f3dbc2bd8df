"""A line of progress on the terminal, as a callback."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from types import TracebackType

from rich.console import Console
from rich.status import Status as Spinner
from torch import Tensor

from symnmf.contract import Check

#: Looks from which the way of the gradient is carried on.
TREND = 6


class Progress:
    """Shows products, error, excess, gradient and time left at the newest look.

    A context manager. It is silent when the console is no terminal.

    Arguments:
        title: what is being done.
        console: where to show it; standard error by default.
        excess: of an error, where it is known.
        max_iter, max_seconds: the budget of the run.
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
        self.looks: list[Check] = []

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
        """Show a look."""
        self.looks = [*self.looks[1 - TREND :], check]
        self.spinner.update(self.line())

    def line(self) -> str:
        """What the newest look says."""
        check = self.looks[-1]
        excess = None if self.excess is None else self.excess(check.error)
        words = [
            f"iteration {check.iteration}",
            f"{check.products:.0f} products",
            f"error {check.error:.3e}",
            *([] if excess is None else [f"excess {max(0.0, excess):.4f}"]),
            f"gradient {check.kkt_ratio:.3g} × gate",
            f"{check.seconds:.0f} s",
        ]
        left = time_left(self.looks, self.max_iter, self.max_seconds)
        return f"{self.title}: {', '.join([*words, *([] if left is None else [left])])}"


def time_left(
    looks: Sequence[Check], max_iter: int | None = None, max_seconds: float | None = None
) -> str | None:
    """How long a run may still take, in words; None when nothing is known.

    Where the gradient has been falling it is carried on to its gate, at the mean rate of the last
    looks; the budget is the most in any case.

    Arguments:
        looks: the last ones, oldest first.
        max_iter, max_seconds: the budget.
    """
    first, last = looks[0], looks[-1]
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
