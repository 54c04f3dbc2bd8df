"""Groups in windows, and windows on disk: all of them with tables, or those so far."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from torch import Tensor

from symnmf import __version__, files
from symnmf.contract import Result
from symnmf.data.panel import Panel
from symnmf.files import safe_cell
from symnmf.results import complete, pack, pack_json, plain, unpack, unpack_json

KIND, UNFINISHED = "symnmf set of windows", "unfinished"
#: Files that appear beside the windows under fixed names; the last one by the command line.
WRITTEN = ("windows.csv", "labels.csv", "loadings.parquet", "config.toml")
#: Names of the folder of a run, and of its windows: number and checksum.
RUN, NUMBERED = re.compile("[0-9a-f]{16}"), re.compile(r"\d{6,}-[0-9a-f]{64}\.safetensors")


@dataclass(frozen=True)
class Window:
    """One window of a table and its groups.

    Attributes:
        number: from 0 on.
        begin, stop: its rows of the panel; ``first`` and ``last`` their dates.
        result: factorization, its columns in the order of the window before.
        ari_before: agreement of labels with the window before.
        ari_width: with the last window that shares no date with this one.
        moved: names whose group is not that of the window before.
        broke: whether this window breaks with those before it.
    """

    number: int
    begin: int
    stop: int
    first: str
    last: str
    result: Result
    ari_before: float | None
    ari_width: float | None
    moved: tuple[str, ...]
    broke: bool


@dataclass(frozen=True)
class Rolling:
    """The groups of every window.

    Attributes:
        windows: in order of time.
        names: of the instruments.
        identity: of the run, where its windows were kept in a folder.
    """

    windows: tuple[Window, ...]
    names: tuple[str, ...]
    identity: str | None = None

    @property
    def products(self) -> float:
        """Of all windows together, with k columns."""
        return sum(window.result.products for window in self.windows)

    @property
    def breaks(self) -> tuple[Window, ...]:
        """Windows that break with those before."""
        return tuple(window for window in self.windows if window.broke)

    def labels(self) -> np.ndarray:  # (windows, n)
        """Group of each instrument in each window; columns are aligned, so numbers compare."""
        return np.stack([w.result.labels().cpu().numpy() for w in self.windows])


def save_rolling(found: Rolling, folder: str | Path, *, force: bool = False) -> Path:
    """Write windows to a folder, as :func:`symnmf.save` does with a result.

    The model for :func:`load_rolling`, then tables: ``windows.csv``, ``labels.csv`` (windows and
    instruments) and ``loadings.parquet``. Windows that :func:`symnmf.rolling` kept there go.

    Arguments:
        found: what :func:`symnmf.rolling` returned.
        folder: made when missing.
        force: replace windows that are there. Not needed where those of ``found`` were kept.

    Example:
        >>> import tempfile, numpy as np, symnmf as sn
        >>> X = np.random.default_rng(0).normal(size=(90, 6)) @ np.kron(np.eye(2), np.ones((3, 3)))
        >>> X = X + np.random.default_rng(1).normal(size=X.shape)
        >>> found = sn.rolling(X, 30, 30, 2, "correlation")
        >>> back = load_rolling(save_rolling(found, tempfile.mkdtemp()))
        >>> bool((back.labels() == found.labels()).all())
        True
    """
    folder = Path(folder)
    with files.lock(folder):
        begun = found.identity is not None and bool(_kept(folder / UNFINISHED / found.identity))
        files.check_free(folder, KIND, WRITTEN, force=force or begun)
        tensors: dict[str, Tensor] = {}
        said = []
        for number, window in enumerate(found.windows):
            part, words = _pack(window)
            tensors |= {f"{number}.{name}": tensor for name, tensor in part.items()}
            said.append(words)
        tensors["about"] = pack_json({"names": list(found.names), "windows": said})
        content = {"version": __version__, "windows": len(said), "instruments": len(found.names)}
        files.write_set(folder, KIND, tensors, content, _tables(found), WRITTEN)
        _discard(folder)
    return folder


def load_rolling(folder: str | Path) -> Rolling:
    """Read windows that :func:`save_rolling` wrote, after checking their checksums.

    Arguments:
        folder: of the windows.

    Example:
        >>> import tempfile, symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> found = sn.rolling(panel, 2000, 2000, 3, "correlation")
        >>> [w.first for w in load_rolling(sn.save_rolling(found, tempfile.mkdtemp())).windows]
        ['1990-01-03', '1997-11-28', '2005-11-10', '2013-10-23']
    """
    found, _ = files.read_manifest(Path(folder), KIND)
    with complete(folder, "windows", "Run it again"):
        tensors = files.read_tensors(found["model"])
        about = unpack_json(tensors["about"])
        names, windows = tuple(about["names"]), []
        if not all(isinstance(name, str) for name in names):
            raise TypeError("names")
        parts: dict[str, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            number, _, part = name.partition(".")
            parts.setdefault(number, {})[part] = tensor
        for place, words in enumerate(about["windows"]):
            windows.append(_unpack(parts[str(place)], words, names))
        return Rolling(tuple(windows), names)


def _pack(window: Window) -> tuple[dict[str, Tensor], dict[str, Any]]:
    tensors, content = pack(replace(window.result, names=None))
    said = {f.name: getattr(window, f.name) for f in fields(Window) if f.name != "result"}
    return tensors, {"window": said, "result": content}


def _unpack(
    tensors: Mapping[str, Tensor], said: Mapping[str, Any], names: tuple[str, ...]
) -> Window:
    result = replace(unpack(tensors, said["result"]), names=names)
    about = said["window"]
    if len(result.H) != len(names) or not set(about["moved"]) <= set(names):
        raise ValueError("another number of instruments")
    numbers = [about[name] for name in ("ari_before", "ari_width") if about[name] is not None]
    numbers += [about[name] for name in ("number", "begin", "stop", "broke")]
    numbers += [getattr(result, name) for name in ("seed", "iterations", "seconds", "products")]
    if not all(isinstance(value, int | float) and isfinite(value) for value in numbers):
        raise TypeError("numbers")
    dates = {name: str(about[name]) for name in ("first", "last")}
    return Window(**{**about, **dates, "moved": tuple(about["moved"]), "result": result})


def _tables(found: Rolling) -> dict[str, Any]:
    """What people read, by file name."""
    dates = [w.last for w in found.windows]
    labels = pd.DataFrame(found.labels(), index=pd.Index(dates, name="last"))
    labels.columns = pd.Index([safe_cell(name) for name in found.names])
    loadings = pd.concat(
        pd.DataFrame(w.result.H.cpu().numpy())
        .add_prefix("group_")
        .assign(last=w.last, name=list(found.names))
        for w in found.windows
    )
    rows = [
        {
            "first": w.first,
            "last": w.last,
            "status": w.result.status.name,
            "excess": w.result.certificate.excess,
            "products": w.result.products,
            "ari_before": w.ari_before,
            "ari_width": w.ari_width,
            "moved": len(w.moved),
            "broke": w.broke,
            "who": " ".join(w.moved),
        }
        for w in found.windows
    ]
    return {
        "windows.csv": pd.DataFrame(rows).map(safe_cell).to_csv(index=False),
        "labels.csv": labels.to_csv(),
        "loadings.parquet": lambda path: loadings.to_parquet(path, index=False),
    }


class Kept:
    """The windows of an unfinished run: a file for each, which bears its checksum in its name.

    Arguments:
        folder: of all windows.
        identity: of this run.
        names: of the instruments.
    """

    def __init__(self, folder: Path, identity: str, names: tuple[str, ...]):
        self.folder, self.identity, self.names = folder / UNFINISHED / identity, identity, names
        self.there = _kept(self.folder)

    @classmethod
    @contextmanager
    def of(cls, folder: str | Path, panel: Panel, asked: Any, force: bool) -> Iterator[Kept]:
        """Those of a table and of what was asked for; the folder is held against other writers.

        Where there are none yet, it has to be free, or its windows are to be replaced.
        """
        folder, values = Path(folder), np.ascontiguousarray(panel.values)
        dates = panel.date_words(np.arange(len(values)))
        words = [list(panel.names), dates, [plain(value) for value in asked], __version__]
        digest = hashlib.sha256(values.data)
        digest.update(json.dumps(words).encode())
        with files.lock(folder):
            kept = cls(folder, digest.hexdigest()[:16], panel.names)
            files.check_free(folder, KIND, WRITTEN, force=force or bool(kept.there))
            yield kept

    def keep(self, window: Window, vectors: Tensor) -> None:
        """Write a window and its eigenvectors, from which the next one goes on."""
        from safetensors.torch import save

        tensors, said = _pack(window)
        content = save({**tensors, "vectors": vectors.contiguous(), "about": pack_json(said)})
        seal = hashlib.sha256(content).hexdigest()
        with files.writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        with files.atomic(self.folder / f"{window.number:06d}-{seal}.safetensors") as temporary:
            temporary.write_bytes(content)

    def take(self, number: int) -> tuple[Window, Tensor] | None:
        """A window and its eigenvectors, if it is there and whole."""
        for path in self.there:
            place, _, seal = path.stem.partition("-")
            if int(place) == number and files.checksum(path) == seal:
                tensors = files.read_tensors(path)
                with complete(path, "window", "Remove it"):
                    said, vectors = unpack_json(tensors["about"]), tensors["vectors"]
                    if vectors.ndim != 2 or len(vectors) != len(self.names):
                        raise ValueError("vectors")
                    return _unpack(tensors, said, self.names), vectors
        return None


def _kept(own: Path) -> list[Path]:
    """Windows that a run has kept, by their names alone."""
    return sorted(p for p in own.glob("*") if NUMBERED.fullmatch(p.name) and p.is_file())


def _runs(folder: Path) -> list[Path]:
    """Folders of runs that kept windows."""
    return [own for own in folder.glob(f"{UNFINISHED}/*") if RUN.fullmatch(own.name)]


def unfinished(folder: str | Path) -> int:
    """How many windows of unfinished runs a folder holds."""
    return sum(len(_kept(own)) for own in _runs(Path(folder)))


def _discard(folder: Path) -> None:
    """Remove windows that were kept, and nothing else; what cannot be removed does no harm."""
    for own in _runs(folder):
        of_the_dead = own.glob(".[0-9]*.safetensors.*.tmp")
        for path in (*_kept(own), *of_the_dead):
            with suppress(OSError):
                files.about_to("clean up")
                path.unlink()
        with suppress(OSError):  # something of someone else is in it
            own.rmdir()
    with suppress(OSError):
        (folder / UNFINISHED).rmdir()
