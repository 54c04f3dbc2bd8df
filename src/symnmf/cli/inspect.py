"""``symnmf inspect``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from symnmf.cli.app import app
from symnmf.cli.options import Json
from symnmf.cli.output import Output, summary, window_line, windows_document


@app.command()
def inspect(
    folder: Annotated[Path, typer.Argument(help="Folder of a result, a matrix or windows.")],
    as_json: Json = False,
) -> None:
    """What a folder holds: a result, a matrix, windows, or a run that can go on.

    Checksums are looked at.

    \b
    Examples:
      symnmf inspect groups
      symnmf inspect tpdm5 --json
    """
    from symnmf import files
    from symnmf.errors import InvalidFile
    from symnmf.groups.windows import KIND as WINDOWS
    from symnmf.groups.windows import unfinished
    from symnmf.operators.store import KIND as MATRIX
    from symnmf.results import KIND as RESULT

    shown = Output(as_json)
    manifest = folder / files.MANIFEST
    if not manifest.is_file() and (folder / "checkpoint" / files.MANIFEST).is_file():
        words = "a run that was interrupted; the same command with --resume goes on"
        shown.line(f"{folder}: {words}")
        shown.document({"kind": "interrupted run", "folder": str(folder)})
        return
    if not manifest.is_file() and (windows := unfinished(folder)):
        words = f"{windows} windows of a run that was interrupted; the same command goes on"
        shown.line(f"{folder}: {words}")
        shown.document({"kind": "interrupted run", "folder": str(folder), "windows": windows})
        return
    if manifest.is_file():
        files.read_json(manifest)  # says so when it is damaged
    kind = files.held(folder)
    if kind == RESULT:
        shown.document({"kind": "result", "folder": str(folder), **_result(shown, folder)})
    elif kind == MATRIX:
        shown.document({"kind": "matrix", "folder": str(folder), **_matrix(shown, folder)})
    elif kind == WINDOWS:
        shown.document({"kind": "windows", "folder": str(folder), **_windows(shown, folder)})
    else:
        raise InvalidFile(
            str(folder), "holds nothing of ours", "Pass the folder of a result, a matrix or windows"
        )


def _result(shown: Output, folder: Path) -> dict[str, Any]:
    from symnmf.groups.naming import groups
    from symnmf.results import load

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
    from symnmf.groups.windows import load_rolling

    found = load_rolling(folder)
    count, instruments = len(found.windows), len(found.names)
    shown.line(f"{folder}: {count} windows of {instruments} instruments, checksums right")
    for w in found.windows:
        shown.line(window_line(w))
    return windows_document(found)


def _matrix(shown: Output, folder: Path) -> dict[str, Any]:
    from symnmf.operators.store import open_matrix, read_stored

    stored, S = read_stored(folder), open_matrix(folder)
    shown.line(f"{folder}: a matrix of {S.n:,} rows, checksums right")
    shown.line(f"- {stored.form}, {stored.dtype} {stored.shape}")
    named = "no names" if stored.names is None else f"names from {stored.names[0]!r} on"
    shown.line(f"- {named}; mean entry {S.mean():.4g}")
    for name, value in stored.about.items():
        shown.line(f"- {name}: {value}")
    described = {"form": stored.form, "dtype": stored.dtype, "shape": list(stored.shape)}
    return {**described, "named": stored.names is not None, "about": stored.about}
