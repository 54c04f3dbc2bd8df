"""The one atomic writer, the one lock, and manifests with checksums.

A file appears under its name whole or not at all: it is written under a temporary name, flushed
to the disk, renamed. A set of files is as its manifest says, and the manifest is renamed last:
whoever is killed in between leaves the old set, never a mixture.
"""

from __future__ import annotations

import hashlib
import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from symnmf.errors import FolderBusy, InvalidFile

MANIFEST, LOCK = "manifest.json", ".lock"
#: A spreadsheet takes a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
#: Largest JSON file that is read.
JSON_BYTES = 16 << 20
#: Called with the name of every file operation before it happens; the tests kill there.
on_operation: Callable[[str], None] | None = None


def about_to(operation: str) -> None:
    """Tell the harness of the tests what comes next."""
    if on_operation is not None:
        on_operation(operation)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path to write to; on success it becomes ``path`` in one step.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "a.txt"
        >>> with atomic(target) as temporary:
        ...     _ = temporary.write_text("whole")
        >>> target.read_text()
        'whole'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    about_to("write")
    try:
        yield temporary
        about_to("sync")
        _sync(temporary)
        about_to("rename")
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    about_to("sync folder")
    _sync(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
    write_text(path, json.dumps(value, indent=1, allow_nan=False) + "\n")


def safe_cell(text: Any) -> Any:
    """A cell that no spreadsheet runs as a formula.

    Example:
        >>> safe_cell("=1+1")
        "'=1+1"
    """
    return f"'{text}" if isinstance(text, str) and text.startswith(FORMULA) else text


def read_json(path: Path, most: int = JSON_BYTES) -> Any:
    """Read a JSON file that may come from anyone, up to so many bytes."""
    try:
        if path.stat().st_size > most:
            raise InvalidFile(str(path), "is too large for a description", "Use another file")
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as broken:
        if isinstance(broken, InvalidFile):
            raise
        raise InvalidFile(
            str(path), f"cannot be read ({type(broken).__name__})", "Check the path, or run again"
        ) from broken


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_manifest(folder: Path, kind: str, files: Mapping[str, str], content: Any) -> None:
    """Make a set of already written files current.

    Arguments:
        folder: where they are.
        kind: what the set is, checked when it is read.
        files: role → file name in the folder.
        content: anything for JSON.
    """
    described = {
        role: {
            "name": name,
            "bytes": (folder / name).stat().st_size,
            "sha256": checksum(folder / name),
        }
        for role, name in files.items()
    }
    write_json(folder / MANIFEST, {"kind": kind, "files": described, "content": content})


def read_manifest(folder: Path, kind: str) -> tuple[dict[str, Path], Any]:
    """The files and the content of the current set, after checking every checksum."""
    path = folder / MANIFEST
    manifest = read_json(path)
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        raise InvalidFile(str(path), f"is no manifest of a {kind}", "Check the folder")
    files = {}
    try:
        for role, described in manifest["files"].items():
            name = described["name"]
            if name != Path(name).name or name in ("", ".", ".."):
                raise InvalidFile(str(path), f"names {name!r}", "Files must lie in the folder")
            file = folder / name
            if not file.is_file() or file.is_symlink():
                raise InvalidFile(str(file), "is missing", "The folder is not complete")
            size, digest = described["bytes"], described["sha256"]
            if file.stat().st_size != size or checksum(file) != digest:
                raise InvalidFile(str(file), "is damaged (checksum)", "Restore it, or run again")
            files[role] = file
        return files, manifest["content"]
    except (KeyError, TypeError, AttributeError) as broken:
        raise InvalidFile(str(path), "is no complete manifest", "Check the folder") from broken


def remove_all_but(folder: Path, prefix: str, keep: set[str]) -> None:
    """Remove files of earlier sets and temporaries of dead writers, by prefix."""
    for file in folder.glob(f"{prefix}*"):
        if file.name not in keep:
            about_to("remove")
            file.unlink(missing_ok=True)
    for file in folder.glob(f".{prefix}*.tmp"):
        file.unlink(missing_ok=True)


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold the folder against other writers; a dead holder's lock is free at once.

    Raises:
        FolderBusy: another process holds it; the message names it and its age.
    """
    import fcntl

    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as held:
            age = time.time() - os.fstat(descriptor).st_mtime
            owner = os.read(descriptor, 200).decode(errors="replace").strip() or "unknown"
            raise FolderBusy(
                f"{folder} is being written by {owner}, for {age:.0f} s. Wait for it, or choose "
                "another folder."
            ) from held
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        os.close(descriptor)
