"""``symnmf fit``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from symnmf.cli.app import PLAIN, app
from symnmf.cli.options import (
    Dependence,
    Force,
    Fraction,
    MaxMissing,
    Missing,
    Out,
    Prices,
    Returns,
    Seed,
    SolverName,
    Starts,
    Tail,
)
from symnmf.cli.output import show

if TYPE_CHECKING:
    from symnmf.contract import Result


@app.command()
def fit(
    k: Annotated[int, typer.Option("--k", help="Number of groups.")],
    matrix: Annotated[
        Path | None,
        typer.Option(
            "--matrix", help="Dependence matrix: .csv, .parquet, .npy, .npz, or a folder."
        ),
    ] = None,
    returns: Returns = None,
    prices: Prices = None,
    dependence: Dependence = "tail",
    q: Fraction = None,
    tail: Tail = "lower",
    missing: Missing = "error",
    max_missing: MaxMissing = 0.0,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", help="Your own classes: .csv with a name and a class a row."),
    ] = None,
    out: Out = Path("symnmf-out"),
    solver: SolverName = "auto",
    seed: Seed = 0,
    starts: Starts = 5,
    max_iter: Annotated[int | None, typer.Option("--max-iter", help="Most iterations.")] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="Most wall time.")
    ] = None,
    force: Force = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that was interrupted.")
    ] = False,
    save_every: Annotated[
        float, typer.Option("--save-every", help="Seconds between two checkpoints.")
    ] = 60.0,
    nproc: Annotated[
        int, typer.Option("--nproc", help="Processes of this machine that share the rows.")
    ] = 1,
    timeout: Annotated[
        float, typer.Option("--timeout", help="Seconds to wait for another process.")
    ] = 300.0,
) -> None:
    """Find the groups of a table or a dependence matrix, and certify the answer.

    Example: symnmf fit --prices prices.csv --k 10 --out groups

    On several machines: torchrun --nnodes N --nproc-per-node P -m symnmf fit ...
    """
    from symnmf import launch
    from symnmf.operators.group import first_decides, join

    if nproc > 1 and not launch.inside():
        raise typer.Exit(launch.again(sys.argv[1:], nproc))
    from symnmf.data.matrix import read_classes
    from symnmf.engine import Checkpoint
    from symnmf.factorize import factorize
    from symnmf.files import write_json
    from symnmf.groups.naming import ordered
    from symnmf.results import check_free, save

    classes = None if compare is None else read_classes(compare)
    group = join(timeout)
    replace = force or resume
    if group is None:
        check_free(out, force=replace)
    else:
        first_decides(group, lambda: check_free(out, force=replace))
    resume = resume or launch.restarted()
    S, record = _operator(matrix, returns, prices, dependence, q, tail, missing, max_missing, group)
    result = factorize(
        S,
        k,
        solver,
        seed=seed,
        n_init=starts,
        max_iter=max_iter,
        max_seconds=max_seconds,
        progress=True,
        checkpoint=Checkpoint(out / "checkpoint", save_every, overwrite=force),
        resume=resume,
    )
    if group is not None and group.rank > 0:
        group.leave()
        raise typer.Exit(0)
    result = ordered(result)
    save(result, out, force=replace)
    if group is not None:
        group.leave()
    if record:
        write_json(out / "data.json", record)
    console = Console()
    for step in [*record.get("panel", ()), *record.get("dependence", ())]:
        console.print(f"- {step}", **PLAIN)
    show(console, str(matrix or returns or prices), result)
    if classes is not None:
        _compare(console, result, classes, out)
    console.print(f"Files: {out}")
    raise typer.Exit(launch.exit_code(0 if result.status.good else 1))


def _compare(console: Console, result: Result, classes: dict[str, str], out: Path) -> None:
    """Groups against the user's own classes: two numbers, and a table as a file."""
    from symnmf.files import atomic, safe_cell
    from symnmf.groups.naming import compare

    found = compare(result, classes)
    with atomic(out / "classes.csv") as temporary:
        found.table.rename(index=safe_cell, columns=safe_cell).to_csv(temporary)
    left = f"; {len(found.missing)} names have no class" if found.missing else ""
    console.print(
        f"Against your classes: ARI {found.ari:.2f}, NMI {found.nmi:.2f}{left}; see classes.csv",
        **PLAIN,
    )


def _operator(
    matrix: Path | None,
    returns: Path | None,
    prices: Path | None,
    dependence: str,
    q: float | None,
    tail: str,
    missing: str,
    max_missing: float,
    group: Any,
) -> tuple[Any, dict[str, Any]]:
    """The dependence matrix of what the caller has, and what was done to it."""
    from dataclasses import asdict

    from symnmf.data import read_matrix, read_panel
    from symnmf.dependence import estimate
    from symnmf.errors import InvalidInput
    from symnmf.operators import as_operator
    from symnmf.operators.store import open_matrix, shard

    given = {"--matrix": matrix, "--returns": returns, "--prices": prices}
    named = [name for name, path in given.items() if path is not None]
    if len(named) != 1:
        problem = f"{' and '.join(named)} were given together" if named else "nothing was given"
        raise InvalidInput("input", problem, f"Pass exactly one of {', '.join(given)}")
    if matrix is not None and matrix.is_dir():
        return open_matrix(matrix, group=group), {}
    if matrix is not None:
        S = as_operator(read_matrix(matrix))
        return S if group is None else shard(S, group), {}
    kind = named[0].removeprefix("--")
    panel = read_panel(returns or prices, kind=kind, missing=missing, max_missing=max_missing)
    options = {"tail": tail, "q": q} if dependence == "tail" else {}
    S = estimate(dependence, panel, **options)
    record = {"panel": list(panel.summary.steps), "dependence": list(S.about.steps)}
    S = S if group is None else shard(S, group)
    return S, {**record, "summary": asdict(panel.summary)}
