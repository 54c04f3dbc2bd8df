"""The one atomic writer, the one lock, and manifests with checksums.

A file appears under its name whole or not at all: it is written under a temporary name, flushed
to the disk, renamed. A set of files is as its manifest says, and the manifest is renamed last:
whoever is killed in between leaves the old set, never a mixture.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import socket
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from symnmf.errors import FolderBusy, InvalidFile, NotEnough, NotWritable, SymnmfError

if TYPE_CHECKING:
    from torch import Tensor

MANIFEST, LOCK = "manifest.json", ".lock"
#: A spreadsheet takes a cell that begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")
#: Largest JSON file that is read.
JSON_BYTES = 4 << 20
#: Largest header of a safetensors file, and most files of a manifest.
HEADER_BYTES, MOST_FILES = 8 << 20, 16
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
def writing(folder: Path) -> Iterator[None]:
    """What the disk refuses is said with what to do about it."""
    try:
        yield
    except OSError as broken:
        if isinstance(broken, SymnmfError):
            raise
        if broken.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise NotEnough(
                f"{folder}: the disk is full. What was there before is still whole: make room and "
                "run again, or choose another folder."
            ) from broken
        if broken.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EIO):
            reason = os.strerror(broken.errno)
            raise NotWritable(
                f"{folder}: cannot be written ({reason}). Choose another folder, or change who may "
                "write there."
            ) from broken
        raise


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A temporary path to write to; on success it becomes ``path`` in one step.

    Until then no other user can read it.

    Example:
        >>> import tempfile
        >>> target = Path(tempfile.mkdtemp()) / "a.txt"
        >>> with atomic(target) as temporary:
        ...     _ = temporary.write_text("whole")
        >>> target.read_text()
        'whole'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with writing(path.parent):
        try:
            about_to("write")
            mode = _create_private(temporary)
            yield temporary
            about_to("sync")
            _sync(temporary)
            temporary.chmod(mode)
            about_to("rename")
            os.replace(temporary, path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise
        about_to("sync folder")
        _sync(path.parent)


def _create_private(path: Path) -> int:
    """An empty file that only its owner can read, and the mode it would have had."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        os.fchmod(descriptor, 0o600)
        return mode
    finally:
        os.close(descriptor)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file atomically."""
    write_text(path, _json(value))


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write a safetensors file atomically."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    with atomic(path) as temporary:
        try:
            save_file(dict(tensors), temporary)
        except SafetensorError as broken:  # it says what the system said in words
            code = re.search(r"(?:code: |os error )(\d+)", str(broken))
            raise OSError(int(code[1]) if code else errno.EIO, str(broken)) from broken


def read_tensors(path: Path, device: str = "cpu") -> dict[str, Tensor]:
    """Read a safetensors file that may come from anyone; its header is looked at first."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
        if length > HEADER_BYTES:
            raise InvalidFile(str(path), f"has a header of {length} bytes", "Use another file")
        return load_file(path, device=device)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as broken:
        if isinstance(broken, InvalidFile):
            raise
        raise InvalidFile(
            str(path), f"holds no tensors ({type(broken).__name__})", "Restore it, or run again"
        ) from broken


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
        if path.exists() and not path.is_file():  # a pipe would be waited for
            raise InvalidFile(str(path), "is no file", "Check the path")
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


def write_manifest(
    folder: Path,
    kind: str,
    files: Mapping[str, str],
    content: Any,
    stale: Iterable[str] = (),
) -> None:
    """Make a set of already written files current.

    Arguments:
        folder: where they are.
        kind: what the set is, checked when it is read.
        files: role → file name in the folder.
        content: anything for JSON.
        stale: names in the folder that go in the last moment before.
    """
    described = {
        role: {
            "name": name,
            "bytes": (folder / name).stat().st_size,
            "sha256": checksum(folder / name),
        }
        for role, name in files.items()
    }
    said = {"kind": kind, "files": described, "content": content}
    with atomic(folder / MANIFEST) as temporary:
        temporary.write_text(_json({**said, "seal": _seal(said)}), encoding="utf-8")
        _sync(temporary)  # from here on no space is needed
        for name in stale:
            about_to("remove")
            (folder / name).unlink(missing_ok=True)


def _seal(said: Mapping[str, Any]) -> str:
    """Checksum of what a manifest says."""
    words = json.dumps([said[part] for part in ("kind", "files", "content")], sort_keys=True)
    return hashlib.sha256(words.encode()).hexdigest()


def read_manifest(folder: Path, kind: str) -> tuple[dict[str, Path], Any]:
    """The files and the content of the current set, after checking every checksum."""
    path = folder / MANIFEST
    manifest = read_json(path)
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        raise InvalidFile(str(path), f"is no manifest of a {kind}", "Check the folder")
    files: dict[str, Path] = {}
    try:
        if len(manifest["files"]) > MOST_FILES:
            raise InvalidFile(str(path), f"names {len(manifest['files'])} files", "Check it")
        for role, described in manifest["files"].items():
            name = described["name"]
            if name != Path(name).name or name in ("", ".", "..") or "\0" in name:
                raise InvalidFile(str(path), f"names {name!r}", "Files must lie in the folder")
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
        raise InvalidFile(str(path), "is no complete manifest", "Check the folder") from broken


def held(folder: Path) -> str | None:
    """What kind of set a folder holds; None where there is none that can be read."""
    try:
        found = read_json(folder / MANIFEST)
    except InvalidFile:
        return None
    kind = found.get("kind") if isinstance(found, dict) else None
    return kind if isinstance(kind, str) else None


def check_free(folder: Path, kind: str, names: Iterable[str], *, force: bool) -> None:
    """Refuse a folder that holds a set of files, or one of its names, unless told to replace it.

    A set of another kind is never replaced.
    """
    there = held(folder)
    other = there not in (None, kind)
    if other or ((folder / MANIFEST).exists() and not force):
        what = f"a {there.removeprefix('symnmf ')}" if there else "a manifest that cannot be read"
        remedy = "Choose another folder" + ("" if other else ", or pass force")
        raise InvalidFile(str(folder), f"already holds {what}", remedy)
    for name in () if force else names:
        if (folder / name).exists():
            raise InvalidFile(
                str(folder / name), "is there already", "Choose another folder, or pass force"
            )


def write_set(
    folder: Path,
    kind: str,
    model: Mapping[str, Tensor],
    content: Any,
    tables: Mapping[str, str | Callable[[Path], Any]],
    stale: Iterable[str] = (),
) -> None:
    """Make a model current in one step, then write the tables that are made from it.

    Whoever is killed leaves the old model or the new one, and no table of one beside the other.

    Arguments:
        folder: which is locked.
        kind: of the manifest.
        model: tensors by name.
        content: of the manifest.
        tables: file name → its text, or what writes it to a path.
        stale: other files that were made from the old model.
    """
    name = f"model-{uuid4().hex[:12]}.safetensors"
    write_tensors(folder / name, model)
    write_manifest(folder, kind, {"model": name}, content, {**tables, **dict.fromkeys(stale)})
    for table, write in tables.items():
        with atomic(folder / table) as temporary:
            temporary.write_text(write, "utf-8") if isinstance(write, str) else write(temporary)
    remove_all_but(folder, "model-", {name})


def remove_all_but(folder: Path, prefix: str, keep: set[str]) -> None:
    """Remove files of earlier sets and temporaries of dead writers, by prefix.

    What cannot be removed stays until the next time: the set is written, and no worse for it.
    """
    for file in [*folder.glob(f"{prefix}*"), *folder.glob(f".{prefix}*.tmp")]:
        if file.name not in keep:
            with suppress(OSError):
                about_to("clean up")
                file.unlink(missing_ok=True)


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Hold the folder against other writers; a dead holder's lock is free at once.

    Raises:
        FolderBusy: another process holds it; the message names it and its age.
    """
    import fcntl

    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as held:
            age = max(0.0, time.time() - os.fstat(descriptor).st_mtime)  # clocks are set back
            owner = os.read(descriptor, 200).decode(errors="replace").strip() or "unknown"
            raise FolderBusy(
                f"{folder} is being written by {owner}, for {age:.0f} s. {_about_owner(owner)}"
            ) from held
        with writing(folder):
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode())
        yield
    finally:
        os.close(descriptor)


def _about_owner(owner: str) -> str:
    """What to do about whoever holds a folder; the lock of a dead process is free by itself."""
    words = re.fullmatch(r"process (\d+) on (.*)", owner)
    if words and words[2] == socket.gethostname():
        try:
            os.kill(int(words[1]), 0)
        except ProcessLookupError:
            return (
                "That process is gone, but one that it started is alive and still holds the "
                "folder: end that one, or choose another folder."
            )
        except (PermissionError, OverflowError):
            pass
    return "Wait for it, or choose another folder."
