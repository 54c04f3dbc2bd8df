"""``symnmf generate``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from symnmf.cli.app import app
from symnmf.cli.output import Output
from symnmf.cli.shared_options import Json, Seed


@app.command()
def generate(
    kind: Annotated[str, typer.Argument(help="Kind of matrix: tpdm or corr.")],
    n: Annotated[int, typer.Option("--n", help="Number of instruments.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the matrix.")],
    seed: Seed = 7,
    samples: Annotated[
        int, typer.Option("--samples", help="Number of observations drawn.")
    ] = 40_000,
    dense: Annotated[
        bool, typer.Option("--dense", help="Write S itself even where its factor is smaller.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a benchmark matrix to disk in pieces; the same command continues after a stop.

    \b
    Example:
      symnmf generate tpdm --n 100000 --out tpdm5
      symnmf fit --matrix tpdm5 --k 316
    """
    from rich.progress import BarColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    from symnmf.dependence.synthetic.on_disk import generate as write
    from symnmf.storage.matrix_format import read_stored_matrix

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
            on_progress=lambda share: bar.update(task, completed=share),
        )
    stored, size = read_stored_matrix(out), (out / "data.npy").stat().st_size
    shown = Output(as_json)
    shown.line(f"{out}: {stored.form}, {stored.dtype} {stored.shape}, {size / 1e9:.3g} GB")
    described = {"form": stored.form, "dtype": stored.dtype, "shape": list(stored.shape)}
    shown.document({**described, "bytes": size, "out": str(out)})
