"""``symnmf inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from symnmf.cli.app import app
from symnmf.cli.output import Output, summary, window_line, windows_document
from symnmf.cli.shared_options import Json


@app.command()
def inspect(
    folder: Annotated[Path, typer.Argument(help="Folder of a result, a matrix or windows.")],
    as_json: Json = False,
) -> None:
    """Show what a folder holds: a result, a matrix, windows, or an interrupted run.

    Verifies checksums.

    \b
    Examples:
      symnmf inspect groups
      symnmf inspect tpdm5 --json
    """
    from symnmf import storage
    from symnmf.errors import InvalidFile
    from symnmf.storage.kinds import MATRIX, RESULT, WINDOWS
    from symnmf.storage.window_cache import unfinished

    shown = Output(as_json)
    manifest = folder / storage.MANIFEST
    if not manifest.is_file() and (folder / "checkpoint" / storage.MANIFEST).is_file():
        words = "an interrupted run; the same command with --resume continues it"
        shown.line(f"{folder}: {words}")
        shown.document({"kind": "interrupted run", "folder": str(folder)})
        return
    if not manifest.is_file() and (windows := unfinished(folder)):
        words = f"{windows} windows of an interrupted run; the same command continues it"
        shown.line(f"{folder}: {words}")
        shown.document({"kind": "interrupted run", "folder": str(folder), "windows": windows})
        return
    if manifest.is_file():
        storage.read_json(manifest)  # raises InvalidFile where it is damaged
    kind = storage.held(folder)
    if kind == RESULT.name:
        shown.document({"kind": "result", "folder": str(folder), **_result(shown, folder)})
    elif kind == MATRIX.name:
        shown.document({"kind": "matrix", "folder": str(folder), **_matrix(shown, folder)})
    elif kind == WINDOWS.name:
        shown.document({"kind": "windows", "folder": str(folder), **_windows(shown, folder)})
    else:
        raise InvalidFile(
            str(folder),
            "contains no symnmf result, matrix or windows",
            "Pass the folder of one of these",
        )


def _result(shown: Output, folder: Path) -> dict[str, Any]:
    from symnmf.analysis.folder import load
    from symnmf.grouping.naming import groups

    result = load(folder)
    shown.result(f"{folder}: a result, {result.H.shape[0]} × {result.H.shape[1]}", result)
    for group in groups(result):
        members = ", ".join(group.members[:8])
        more = len(group.members) - 8
        shown.line(f"  {group.name}: {members}{f' and {more} more' if more > 0 else ''}")
    others = sorted(p.name for p in folder.iterdir() if not p.name.startswith("."))
    shown.line(f"Files: {', '.join(others)}")
    return {**summary(result), "files": others}


def _windows(shown: Output, folder: Path) -> dict[str, Any]:
    from symnmf.grouping.rolling_folder import load_rolling

    found = load_rolling(folder)
    count, instruments = len(found.windows), len(found.names)
    shown.line(f"{folder}: {count} windows of {instruments} instruments, checksums verified")
    for w in found.windows:
        shown.line(window_line(w))
    return windows_document(found)


def _matrix(shown: Output, folder: Path) -> dict[str, Any]:
    from symnmf.operators.stored import open_matrix
    from symnmf.storage.matrix_format import read_stored_matrix

    stored, S = read_stored_matrix(folder), open_matrix(folder)
    shown.line(f"{folder}: a matrix of {S.n:,} rows, checksums verified")
    shown.line(f"- {stored.form}, {stored.dtype} {stored.shape}")
    named = "no names" if stored.names is None else f"names from {stored.names[0]!r} on"
    shown.line(f"- {named}; mean entry {S.mean():.4g}")
    for name, value in stored.description.items():
        shown.line(f"- {name}: {value}")
    described = {"form": stored.form, "dtype": stored.dtype, "shape": list(stored.shape)}
    return {**described, "named": stored.names is not None, "about": stored.description}
