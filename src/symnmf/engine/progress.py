"""A line of progress on the terminal, as a callback."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.status import Status as Spinner
from torch import Tensor

from symnmf.contract import Check


class Progress:
    """Shows iteration, products, error and gradient of the newest look; a context manager.

    It is silent when the console is no terminal.

    Arguments:
        title: what is being done.
        console: where to show it; standard error by default.
    """

    def __init__(self, title: str = "factorizing", console: Console | None = None):
        self.title = title
        self.spinner = Spinner(title, console=console or Console(stderr=True))

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
        self.spinner.update(
            f"{self.title}: iteration {check.iteration}, {check.products:.0f} products, "
            f"error {check.error:.3e}, gradient {check.kkt_ratio:.3g} × gate, "
            f"{check.seconds:.0f} s"
        )
