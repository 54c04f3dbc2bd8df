"""Windows of an unfinished run: one file per window, with its checksum in its name."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from torch import Tensor

from symnmf.storage.atomic_files import about_to, atomic, writing
from symnmf.storage.manifest import checksum
from symnmf.storage.tensors import read_tensors

#: Folder of unfinished runs.
UNFINISHED = "unfinished"
#: Patterns for the folder of a run and for its windows (number and checksum).
RUN, NUMBERED = re.compile("[0-9a-f]{16}"), re.compile(r"\d{6,}-[0-9a-f]{64}\.safetensors")


class WindowCache:
    """The windows that an unfinished run has stored so far.

    Arguments:
        folder: folder of the set of windows.
        identity: 16 hexadecimal digits that identify the run.
    """

    def __init__(self, folder: Path, identity: str):
        self.folder, self.identity = folder / UNFINISHED / identity, identity
        self.stored = stored_windows(self.folder)

    def put(self, number: int, tensors: Mapping[str, Tensor]) -> None:
        """Store the tensors of a window."""
        from safetensors.torch import save

        content = save(dict(tensors))
        seal = hashlib.sha256(content).hexdigest()
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        with atomic(self.folder / f"{number:06d}-{seal}.safetensors") as temporary:
            temporary.write_bytes(content)

    def get(self, number: int) -> tuple[Path, dict[str, Tensor]] | None:
        """The file and the tensors of a window; None if it is missing or damaged."""
        for path in self.stored:
            place, _, seal = path.stem.partition("-")
            if int(place) == number and checksum(path) == seal:
                return path, read_tensors(path)
        return None


def stored_windows(own: Path) -> list[Path]:
    """Files of the windows that a run has stored, selected by name alone."""
    return sorted(p for p in own.glob("*") if NUMBERED.fullmatch(p.name) and p.is_file())


def _runs(folder: Path) -> list[Path]:
    """Folders of unfinished runs."""
    return [own for own in folder.glob(f"{UNFINISHED}/*") if RUN.fullmatch(own.name)]


def unfinished(folder: str | Path) -> int:
    """Number of windows of unfinished runs in a folder."""
    return sum(len(stored_windows(own)) for own in _runs(Path(folder)))


def discard_windows(folder: Path) -> None:
    """Remove the windows of unfinished runs, and no other files; failures are ignored."""
    for own in _runs(folder):
        of_dead_writers = own.glob(".[0-9]*.safetensors.*.tmp")
        for path in (*stored_windows(own), *of_dead_writers):
            with suppress(OSError):
                about_to("clean up")
                path.unlink()
        with suppress(OSError):  # not empty: it holds another file
            own.rmdir()
    with suppress(OSError):
        (folder / UNFINISHED).rmdir()
