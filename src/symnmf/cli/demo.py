"""``symnmf demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symnmf.cli.app import EXIT_CODES, app
from symnmf.cli.output import Output, summary
from symnmf.cli.shared_options import Device, Json, Out, Seed, SolverName, fits_on
from symnmf.defaults import SOLVER

if TYPE_CHECKING:
    from symnmf.analysis import Analysis

#: The two kinds of dependence: folder → estimator.
DEPENDENCE = {"tpdm": "tail", "corr": "correlation"}
#: Number of groups of the bundled stocks.
DEMO_GROUPS = 4


@app.command(epilog=EXIT_CODES)
def demo(
    out: Out = Path("demo"),
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="Use a synthetic market whose groups are known.")
    ] = False,
    n: Annotated[
        int, typer.Option("--n", help="Number of instruments of the synthetic market.")
    ] = 100,
    seed: Seed = 7,
    solver: SolverName = SOLVER,
    device: Device = None,
    as_json: Json = False,
) -> None:
    """Find the groups of twenty stocks, in crashes and on ordinary days.

    \b
    Examples:
      symnmf demo
      symnmf demo --synthetic --n 1000
    """
    from symnmf.analysis import analyse
    from symnmf.core.result import Status
    from symnmf.data import read_panel
    from symnmf.data.samples import sp500_prices
    from symnmf.dependence.synthetic import benchmark_matrix

    shown, found = Output(as_json), {}
    data: Any = None
    if synthetic:
        title = f"A synthetic market of {n} instruments with known groups, seed {seed}"
    else:
        data = read_panel(sp500_prices(), kind="prices")
        first, last = data.summary.first, data.summary.last
        title = f"Daily prices of {len(data.names)} S&P 500 stocks, {first} to {last}"
    shown.line(f"{title}.")
    for kind, dependence in DEPENDENCE.items():
        k, true_labels = DEMO_GROUPS, None
        if synthetic:
            market = benchmark_matrix(kind, n, seed=seed)
            data, k, true_labels = market.operator, market.k, market.labels
        with fits_on(device):
            found[kind] = analyse(
                data,
                k,
                kind="matrix" if synthetic else "returns",
                dependence=dependence,
                title=title,
                solver=solver,
                seed=seed,
                progress=True,
            )
        if found[kind].result.status is Status.STOPPED:
            raise KeyboardInterrupt  # the second fit is not begun
        _write(found[kind], out / kind)
        _show(shown, found[kind], true_labels, out / kind)
    results = {kind: answer.result for kind, answer in found.items()}
    shown.document({kind: summary(result) for kind, result in results.items()})
    raise typer.Exit(0 if all(result.status.good for result in results.values()) else 1)


def _write(found: Analysis, folder: Path) -> None:
    """Write the result and its report as one set."""
    from symnmf.analysis.folder import ResultFolder
    from symnmf.report import gather, render

    page = render(gather(found))
    with ResultFolder.held(folder, force=True) as held:
        held.write(found, report=page)


def _show(shown: Output, found: Analysis, true_labels: Any, folder: Path) -> None:
    shown.answer(found)
    if true_labels is not None:
        from symnmf.core.labels import adjusted_rand

        ari = adjusted_rand(true_labels, found.result.labels())
        shown.line(f"Agreement with the true groups (ARI): {ari:.2f}")
    shown.line(f"Files: {folder}; open {folder / 'report.html'} in a browser\n")
