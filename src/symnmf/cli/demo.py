"""``symnmf demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from symnmf.cli.app import PLAIN, app
from symnmf.cli.options import Out, Seed, SolverName
from symnmf.cli.output import show

#: The two kinds of dependence: folder, estimator, and what it means.
TITLES = {
    "tpdm": ("tail", "crash together (tail dependence)"),
    "corr": ("correlation", "move together (correlation)"),
}


@app.command()
def demo(
    out: Out = Path("demo"),
    synthetic: Annotated[
        bool, typer.Option("--synthetic", help="A synthetic market whose groups are known.")
    ] = False,
    n: Annotated[int, typer.Option("--n", help="Instruments of the synthetic market.")] = 100,
    seed: Seed = 7,
    solver: SolverName = "auto",
) -> None:
    """Find the groups of twenty stocks, in crashes and in ordinary days."""
    from symnmf.data import read_panel
    from symnmf.data.samples import sp500_prices
    from symnmf.dependence import estimate
    from symnmf.synthetic import benchmark_matrix

    console = Console()
    if synthetic:
        console.print(f"A synthetic market of {n} instruments with known groups, seed {seed}.")
    else:
        panel = read_panel(sp500_prices(), kind="prices")
        first, last = panel.summary.first, panel.summary.last
        console.print(f"Daily prices of {len(panel.names)} S&P 500 stocks, {first} to {last}.")
    good = True
    for kind, (dependence, title) in TITLES.items():
        if synthetic:
            market = benchmark_matrix(kind, n, seed=seed)
            S, k, truth = market.operator, market.k, market.labels
        else:
            S, k, truth = estimate(dependence, panel), 4, None
        good = _demo_part(console, S, k, truth, out / kind, title, solver, seed) and good
    raise typer.Exit(0 if good else 1)


def _demo_part(
    console: Console,
    S: Any,
    k: int,
    truth: Any,
    folder: Path,
    title: str,
    solver: str,
    seed: int,
) -> bool:
    """Factorize, save, show; whether the criterion was met."""
    from sklearn.metrics import adjusted_rand_score

    from symnmf.factorize import factorize
    from symnmf.files import write_text
    from symnmf.groups.naming import groups, ordered
    from symnmf.plot import heat_maps
    from symnmf.results import save

    result = ordered(factorize(S, k, solver, seed=seed, n_init=5, progress=True))
    save(result, folder, force=True)
    write_text(folder / "groups.html", heat_maps(S, result, title).to_html())
    show(console, f"Instruments that {title}, k = {k}", result)
    if truth is not None:
        ari = adjusted_rand_score(truth, result.labels())
        console.print(f"Agreement with the true groups (ARI): {ari:.2f}")
    else:
        for group in groups(result):
            console.print(f"  {group.name}: {', '.join(group.members)}", **PLAIN)
    console.print(f"Files: {folder}; open {folder / 'groups.html'} in a browser\n")
    return result.status.good
