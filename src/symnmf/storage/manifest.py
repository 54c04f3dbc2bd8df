"""Sets of files whose manifest is renamed last: a set is old or new, never a mixture."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from symnmf.errors import InvalidFile, spelled
from symnmf.storage.atomic_files import about_to, atomic, json_text, sync
from symnmf.storage.kinds import SetKind
from symnmf.storage.tensors import write_tensors
from symnmf.storage.untrusted import read_json

if TYPE_CHECKING:
    from torch import Tensor


#: The file that makes a set of files current, and the maximum of files that it may name.
MANIFEST, MAX_FILES = "manifest.json", 16
#: How often a reader begins again while the set is being replaced.
MAX_READS = 20

T = TypeVar("T")


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(
    folder: Path,
    kind: str,
    files: Mapping[str, str],
    content: Any,
    stale: Iterable[str] = (),
) -> None:
    """Make a set of already written files current.

    Arguments:
        folder: folder of the files.
        kind: kind of the set, verified when it is read.
        files: mapping from role to file name in the folder.
        content: any value that JSON can represent.
        stale: names of files to remove immediately before the set becomes current.
    """
    described = {
        role: {
            "name": name,
            "bytes": (folder / name).stat().st_size,
            "sha256": checksum(folder / name),
        }
        for role, name in files.items()
    }
    body = {"kind": kind, "files": described, "content": content}
    with atomic(folder / MANIFEST) as temporary:
        temporary.write_text(json_text({**body, "seal": _seal(body)}), encoding="utf-8")
        sync(temporary)  # no disk space is needed from here on
        for name in stale:
            about_to("remove")
            (folder / name).unlink(missing_ok=True)


def _seal(body: Mapping[str, Any]) -> str:
    """Checksum of the content of a manifest."""
    text = json.dumps([body[part] for part in ("kind", "files", "content")], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read_manifest(folder: Path, kind: str) -> tuple[dict[str, Path], Any]:
    """Read the current set, and verify every checksum.

    Arguments:
        folder: folder of the set.
        kind: kind that the set must have.

    Returns:
        The files by role, and the content.

    Raises:
        InvalidFile: the manifest or one of the files is missing, damaged or of another kind.
    """
    path = folder / MANIFEST
    manifest = read_json(path)
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        found = manifest.get("kind") if isinstance(manifest, dict) else None
        other = isinstance(found, str) and found.startswith("symnmf ")
        raise InvalidFile(
            str(path),
            f"is not the manifest of a {kind.removeprefix('symnmf ')}"
            + (f", but of a {str(found).removeprefix('symnmf ')[:40]}" if other else ""),
            "Pass another folder, or the table itself" if other else "Check the folder",
        )
    files: dict[str, Path] = {}
    try:
        if len(manifest["files"]) > MAX_FILES:
            raise InvalidFile(str(path), f"names {len(manifest['files'])} files", "Check it")
        for role, described in manifest["files"].items():
            name = described["name"]
            if name != Path(name).name or name in ("", ".", "..") or "\0" in name:
                raise InvalidFile(str(path), f"names {name!r}", "Files must be in the folder")
            file = folder / name
            if not file.is_file() or file.is_symlink():
                raise InvalidFile(str(file), "is missing", "The folder is not complete")
            size, digest = described["bytes"], described["sha256"]
            if file.stat().st_size != size or checksum(file) != digest:
                raise InvalidFile(str(file), "is damaged (checksum)", "Restore it, or run again")
            files[role] = file
        if "seal" in manifest and manifest["seal"] != _seal(manifest):
            raise InvalidFile(str(path), "is damaged (checksum)", "Restore it, or run again")
        return files, manifest["content"]
    except (KeyError, TypeError, AttributeError, OSError) as broken:
        raise InvalidFile(str(path), "is not a complete manifest", "Check the folder") from broken


def read_while_written(folder: Path, read: Callable[[], T]) -> T:
    """Read a set that another process may be replacing: all of the old one or all of the new one.

    A reader that finds a file missing while the manifest has become another one reads again.

    Arguments:
        folder: folder of the set.
        read: function that reads the manifest and its files.
    """
    for _ in range(MAX_READS):
        before = _stamp(folder)
        try:
            return read()
        except InvalidFile:
            if before is None or _stamp(folder) == before:
                raise
    return read()


def _stamp(folder: Path) -> tuple[int, int] | None:
    """What changes when the manifest is replaced; None without one."""
    try:
        found = (folder / MANIFEST).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def held(folder: Path) -> str | None:
    """Kind of the set that a folder holds; None without a readable manifest."""
    try:
        found = read_json(folder / MANIFEST)
    except InvalidFile:
        return None
    kind = found.get("kind") if isinstance(found, dict) else None
    return kind if isinstance(kind, str) else None


def check_free(folder: Path, kind: SetKind, *, force: bool) -> None:
    """Raise InvalidFile if a folder holds a set, or a file with a name that the set uses.

    A set of another kind is never replaced.

    Arguments:
        folder: folder to write to.
        kind: kind of the set to be written.
        force: whether a set of this kind may be replaced.
    """
    present = held(folder)
    other = present not in (None, kind.name)
    if other or ((folder / MANIFEST).exists() and not force):
        what = "a manifest that cannot be read"
        if present:
            what = f"a {present.removeprefix('symnmf ')}"
        remedy = "Choose another folder" + ("" if other else f", or pass {spelled('force')}")
        raise InvalidFile(str(folder), f"already holds {what}", remedy)
    for name in () if force else kind.files:
        if (folder / name).exists():
            raise InvalidFile(
                str(folder / name),
                "already exists",
                f"Choose another folder, or pass {spelled('force')}",
            )


def write_set(
    folder: Path,
    kind: SetKind,
    model: Mapping[str, Tensor],
    content: Any,
    tables: Mapping[str, str | Callable[[Path], Any]],
) -> None:
    """Make a model current in one step, then write the tables that are derived from it.

    A process that is killed leaves the old model or the new one, never a table of one with the
    other.

    Arguments:
        folder: folder of the set, locked by the caller.
        kind: kind of the set; its other files, derived from the old model, are removed.
        model: tensors by name.
        content: content of the manifest.
        tables: mapping from file name to its text, or to a function that writes it to a path.
    """
    name = f"model-{uuid4().hex[:12]}.safetensors"
    write_tensors(folder / name, model)
    stale = dict.fromkeys((*tables, *kind.files))
    write_manifest(folder, kind.name, {"model": name}, content, stale)
    for table, write in tables.items():
        with atomic(folder / table) as temporary:
            temporary.write_text(write, "utf-8") if isinstance(write, str) else write(temporary)
    remove_all_but(folder, "model-", {name})


def remove_all_but(folder: Path, prefix: str, keep: set[str]) -> None:
    """Remove the files of older sets and the temporary files of dead writers, by prefix.

    A file that cannot be removed stays until the next call: the new set is already written.
    """
    for file in [*folder.glob(f"{prefix}*"), *folder.glob(f".{prefix}*.tmp")]:
        if file.name not in keep:
            with suppress(OSError):
                about_to("clean up")
                file.unlink(missing_ok=True)
