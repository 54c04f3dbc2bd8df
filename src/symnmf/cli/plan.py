"""``symnmf plan``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from symnmf.cli.app import app
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Json


@app.command()
def plan(
    n: Annotated[int, typer.Option("--n", help="Number of instruments.")],
    k: Annotated[
        int | None, typer.Option("--k", help="Number of groups (default √n, rounded down).")
    ] = None,
    form: Annotated[
        str, typer.Option("--form", help="Form of the matrix: dense, gram or tiles.")
    ] = "dense",
    m: Annotated[int, typer.Option("--m", help="Number of exceedances, for --form gram.")] = 400,
    nproc: Annotated[
        int, typer.Option("--nproc", help="Number of processes that share the rows.")
    ] = 1,
    gpu: Annotated[
        float | None,
        typer.Option("--gpu", help="Gigabytes of a GPU, one for each process; no GPU by default."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what a run needs: memory, disk, products, communication, time.

    \b
    Example:
      symnmf plan --n 100000 --form gram
      symnmf plan --n 1000000 --k 1000 --nproc 64 --gpu 192
    """
    from symnmf.planning.requirements import plan as needs
    from symnmf.resources import free_memory

    plans = needs(
        n, k, form=form, m=m, processes=nproc, gpu_bytes=None if gpu is None else gpu * 1e9
    )
    first, have = plans[0], free_memory()
    shown = Output(as_json)
    shown.line(
        f"n = {n:,}, k = {first.k}, {form}, {nproc} process{'es' if nproc > 1 else ''}; matrix on "
        f"disk {_bytes(first.storage)}, H {_bytes(4 * n * first.k)}, free memory of this machine "
        f"{'unknown' if have is None else _bytes(have)}"
    )
    headings = ("solver", "memory", "naive", "products", "received per product", "time")
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
        "Memory is that of each process; naive is the memory with n×n residuals instead of the "
        "trace identity. Products are those counted at n = 10,000; time follows from the rate of "
        "products measured now."
    )
    for p in plans if gpu is not None else []:
        often = "once" if p.resident else "for every product: S does not fit"
        fits = "" if p.device_memory <= (gpu or 0) * 1e9 else ", which is more than it has"
        shown.line(
            f"On each GPU of {gpu:g} GB, {p.solver} needs {_bytes(p.device_memory)}{fits}; "
            f"{_bytes(p.moved)} of S are moved to it {often}."
        )
    if have is not None and first.memory > have:
        remedy = "--form gram (S is not formed), --form tiles (S on disk) or a larger --nproc"
        shown.line(f"This machine does not have enough memory for {form}: try {remedy}.")
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
