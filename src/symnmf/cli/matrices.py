"""``symnmf generate`` and ``symnmf plan``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from symnmf.cli.app import app
from symnmf.cli.options import Json, Seed
from symnmf.cli.output import Output


@app.command()
def generate(
    kind: Annotated[str, typer.Argument(help="tpdm or corr.")],
    n: Annotated[int, typer.Option("--n", help="Number of instruments.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the matrix.")],
    seed: Seed = 7,
    samples: Annotated[int, typer.Option("--samples", help="Observations drawn.")] = 40_000,
    dense: Annotated[
        bool, typer.Option("--dense", help="Write S itself where its factor would be smaller.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a benchmark matrix to disk, piece by piece; run again, it goes on.

    \b
    Example:
      symnmf generate tpdm --n 100000 --out tpdm5
      symnmf fit --matrix tpdm5 --k 316
    """
    from rich.progress import BarColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    from symnmf.generate import generate as write
    from symnmf.operators.store import read_stored

    err = Console(stderr=True)
    columns = (BarColumn(), "{task.percentage:.0f} %", TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        write(
            kind,
            n,
            out,
            seed=seed,
            samples=samples,
            dense=dense,
            report=lambda share: bar.update(task, completed=share),
        )
    stored, size = read_stored(out), (out / "data.npy").stat().st_size
    shown = Output(as_json)
    shown.line(f"{out}: {stored.form}, {stored.dtype} {stored.shape}, {size / 1e9:.3g} GB")
    described = {"form": stored.form, "dtype": stored.dtype, "shape": list(stored.shape)}
    shown.document({**described, "bytes": size, "out": str(out)})


@app.command()
def plan(
    n: Annotated[int, typer.Option("--n", help="Number of instruments.")],
    k: Annotated[
        int | None, typer.Option("--k", help="Number of groups; the root of n by default.")
    ] = None,
    form: Annotated[str, typer.Option("--form", help="dense, gram or tiles.")] = "dense",
    m: Annotated[int, typer.Option("--m", help="Exceedances, for gram.")] = 400,
    nproc: Annotated[int, typer.Option("--nproc", help="Processes that share the rows.")] = 1,
    as_json: Json = False,
) -> None:
    """What a run needs: memory, disk, products, communication, time.

    \b
    Example:
      symnmf plan --n 100000 --form gram
    """
    from symnmf.memory import free_memory
    from symnmf.plan import plan as needs

    plans = needs(n, k, form=form, m=m, processes=nproc)
    first, have = plans[0], free_memory()
    shown = Output(as_json)
    shown.line(
        f"n = {n:,}, k = {first.k}, {form}, {nproc} process{'es' if nproc > 1 else ''}; matrix on "
        f"disk {_bytes(first.storage)}, H {_bytes(4 * n * first.k)}, free memory here "
        f"{'unknown' if have is None else _bytes(have)}"
    )
    headings = ("solver", "memory", "naive", "products", "received a product", "time")
    rows = [
        (
            p.solver,
            _bytes(p.memory),
            _bytes(p.naive),
            str(p.products),
            _bytes(p.traffic),
            _duration(p.seconds),
        )
        for p in plans
    ]
    shown.table(headings, rows)
    shown.line(
        "Memory is that of each process; naive is with n×n residuals instead of the trace "
        "identity. Products are those counted at n = 10,000; time is from the rate measured now."
    )
    if have is not None and first.memory > have:
        remedy = "gram (never formed), tiles (on disk) or more processes"
        shown.line(f"Not enough memory here for {form}: try {remedy}.")
    shown.document({"free_memory": have, "plans": [asdict(p) for p in plans]})


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000 or unit == "TB":
            return f"{count:.3g} {unit}"
        count /= 1000
    return ""


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"
