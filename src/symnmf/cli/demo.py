"""``symnmf demo``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symnmf.cli.app import EXIT_CODES, app
from symnmf.cli.options import Json, Out, Seed, SolverName
from symnmf.cli.output import Output, summary

if TYPE_CHECKING:
    from symnmf.contract import Result
    from symnmf.data import Panel

#: The two kinds of dependence: folder, estimator, and what it means.
TITLES = {
    "tpdm": ("tail", "crash together (tail dependence)"),
    "corr": ("correlation", "move together (correlation)"),
}


@app.command(epilog=EXIT_CODES)
def demo(
    out: Out = Path("demo"),
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="A synthetic market whose groups are known.")
    ] = False,
    n: Annotated[int, typer.Option("--n", help="Instruments of the synthetic market.")] = 100,
    seed: Seed = 7,
    solver: SolverName = "auto",
    as_json: Json = False,
) -> None:
    """Find the groups of twenty stocks, in crashes and in ordinary days.

    \b
    Examples:
      symnmf demo
      symnmf demo --synthetic --n 1000
    """
    from symnmf.data import read_panel
    from symnmf.data.samples import sp500_prices
    from symnmf.dependence import estimate
    from symnmf.synthetic import benchmark_matrix

    shown, found, panel = Output(as_json), {}, None
    if synthetic:
        about = f"A synthetic market of {n} instruments with known groups, seed {seed}"
    else:
        panel = read_panel(sp500_prices(), kind="prices")
        first, last = panel.summary.first, panel.summary.last
        about = f"Daily prices of {len(panel.names)} S&P 500 stocks, {first} to {last}"
    shown.line(f"{about}.")
    for kind, (dependence, title) in TITLES.items():
        if synthetic:
            market = benchmark_matrix(kind, n, seed=seed)
            S, k, truth = market.operator, market.k, market.labels
        else:
            assert panel is not None
            S, k, truth = estimate(dependence, panel), 4, None
        result = _part(S, k, panel, out / kind, about, solver, seed)
        _show(shown, result, truth, title, out / kind)
        found[kind] = result
    shown.document({kind: summary(result) for kind, result in found.items()})
    raise typer.Exit(0 if all(result.status.good for result in found.values()) else 1)


def _part(
    S: Any, k: int, panel: Panel | None, folder: Path, title: str, solver: str, seed: int
) -> Result:
    """Factorize, save, report."""
    from symnmf.factorize import factorize
    from symnmf.groups.naming import ordered
    from symnmf.report import write_report
    from symnmf.results import save

    result = ordered(factorize(S, k, solver, seed=seed, n_init=5, progress=True))
    save(result, folder, force=True)
    write_report(folder / "report.html", result, S, title=title, panel=panel, force=True)
    return result


def _show(shown: Output, result: Result, truth: Any, title: str, folder: Path) -> None:
    from sklearn.metrics import adjusted_rand_score

    from symnmf.groups.naming import groups

    shown.result(f"Instruments that {title}, k = {result.H.shape[1]}", result)
    if truth is not None:
        ari = adjusted_rand_score(truth, result.labels())
        shown.line(f"Agreement with the true groups (ARI): {ari:.2f}")
    else:
        for group in groups(result):
            shown.line(f"  {group.name}: {', '.join(group.members)}")
    shown.line(f"Files: {folder}; open {folder / 'report.html'} in a browser\n")
