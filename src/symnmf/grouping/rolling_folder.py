"""Windows on disk: a finished set with its tables, or the windows of an unfinished run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from math import isfinite, prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from symnmf import __version__, storage
from symnmf.core.packing import pack_result, unpack_result
from symnmf.data.panel import Panel
from symnmf.grouping.joint_crashes import WindowDependence
from symnmf.grouping.result_tables import loadings_columns
from symnmf.grouping.time_tables import labels_over_time, memberships, windows_table
from symnmf.grouping.windows import KINDS_OF_HISTORY, Changes, Mover, Rolling, Window
from symnmf.storage.kinds import WINDOWS
from symnmf.storage.tensors import pack_json, plain, unpack_json
from symnmf.storage.untrusted import complete
from symnmf.storage.window_cache import UNFINISHED, WindowCache, discard_windows, stored_windows


def save_rolling(
    found: Rolling,
    folder: str | Path,
    *,
    force: bool = False,
    config: str | None = None,
    report: str | None = None,
) -> Path:
    """Write windows to a folder, as :func:`symnmf.save` does with a result.

    The folder gets the model for :func:`load_rolling` and the tables ``windows.csv``,
    ``labels.csv`` (windows and instruments; groups are numbered from 1), ``memberships.csv`` (the
    same as a long table: a row for each window and instrument) and ``loadings.parquet``.
    Windows of the unfinished run that :func:`symnmf.rolling` stored there are removed.

    Arguments:
        found: what :func:`symnmf.rolling` returned.
        folder: folder to write; created when missing.
        force: whether to replace existing windows. Not needed in the folder of ``found``.
        config: text of ``config.toml``.
        report: text of ``report.html``.

    Returns:
        The folder.

    Raises:
        InvalidFile: the folder holds other results and ``force`` is False.

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
    with storage.lock(folder):
        own = folder / UNFINISHED / found.identity if found.identity is not None else None
        begun = own is not None and bool(stored_windows(own))
        storage.check_free(folder, WINDOWS, force=force or begun)
        packed = [_pack(window) for window in found.windows]
        tensors, shapes = _joined([part for part, _ in packed])
        about = {
            "names": list(found.names),
            "windows": [words for _, words in packed],
            "shapes": shapes,
            "changes": None if found.changes is None else asdict(found.changes),
            "kind": found.kind,
            "half_life": found.half_life,
        }
        tensors["about"] = pack_json(about)
        content = {
            "version": __version__,
            "windows": len(packed),
            "instruments": len(found.names),
        }
        tables = _tables(found) | ({} if config is None else {"config.toml": config})
        if report is not None:
            tables["report.html"] = report
        storage.write_set(folder, WINDOWS, tensors, content, tables)
        discard_windows(folder)
    return folder


def load_rolling(folder: str | Path) -> Rolling:
    """Read windows that :func:`save_rolling` wrote, after verifying their checksums.

    Arguments:
        folder: folder of the windows.

    Raises:
        InvalidFile: the folder holds no windows, or they are damaged.

    Example:
        >>> import tempfile, symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> found = sn.rolling(panel, 2000, 2000, 3, "correlation")
        >>> [w.first for w in load_rolling(sn.save_rolling(found, tempfile.mkdtemp())).windows]
        ['1990-01-03', '1997-11-28', '2005-11-10', '2013-10-23']
    """

    def read() -> Rolling:
        found, _ = storage.read_manifest(Path(folder), WINDOWS.name)
        with complete(folder, "windows", "Compute the windows again"):
            tensors = storage.read_tensors(found["model"])
            described = unpack_json(tensors["about"])
            names, windows = tuple(described["names"]), []
            if not all(isinstance(name, str) for name in names):
                raise TypeError("names")
            parts = _separated(tensors, described["shapes"])
            for part, words in zip(parts, described["windows"], strict=True):
                windows.append(_unpack(part, words, names))
            if described["kind"] not in KINDS_OF_HISTORY:
                raise ValueError("kind")
            return Rolling(
                tuple(windows),
                names,
                None,
                _changes(described["changes"], names),
                described["kind"],
                _numbers([described["half_life"]])[0],
            )

    return storage.read_while_written(Path(folder), read)


def _joined(
    parts: Sequence[Mapping[str, Tensor]],
) -> tuple[dict[str, Tensor], list[dict[str, list[int]]]]:
    """The tensors of all windows, one after the other, and their shapes.

    A file has a header with an entry for each tensor, whose size is limited; the number of windows
    is not.
    """
    flat: dict[str, list[Tensor]] = {}
    shapes: list[dict[str, list[int]]] = []
    for part in parts:
        keys = {name: f"{name} {str(t.dtype).removeprefix('torch.')}" for name, t in part.items()}
        shapes.append({keys[name]: list(tensor.shape) for name, tensor in part.items()})
        for name, tensor in part.items():
            flat.setdefault(keys[name], []).append(tensor.reshape(-1).cpu())
    return {key: torch.cat(tensors) for key, tensors in flat.items()}, shapes


def _separated(
    tensors: Mapping[str, Tensor], shapes: Sequence[Mapping[str, Sequence[int]]]
) -> Iterator[dict[str, Tensor]]:
    """The tensors of each window; the file is untrusted."""
    used = dict.fromkeys(tensors, 0)
    for window in shapes:
        part = {}
        for key, shape in window.items():
            if not all(type(side) is int and side >= 0 for side in shape):
                raise ValueError("shape")
            begin, size = used[key], prod(shape)
            if begin + size > tensors[key].numel():
                raise ValueError("another number of values")
            part[key.partition(" ")[0]] = tensors[key].reshape(-1)[begin : begin + size].view(shape)
            used[key] = begin + size
        yield part


def _pack(window: Window) -> tuple[dict[str, Tensor], dict[str, Any]]:
    tensors, content = pack_result(replace(window.result, names=None))
    rest = {f.name: getattr(window, f.name) for f in fields(Window) if f.name != "result"}
    rest["dependence"] = None if window.dependence is None else asdict(window.dependence)
    return tensors, {"window": rest, "result": content}


def _numbers(values: Any) -> list[Any]:
    """Finite numbers and None.

    Raises:
        TypeError: there is another value.
    """
    found = list(values)
    for value in found:
        if value is not None and not (isinstance(value, int | float) and isfinite(value)):
            raise TypeError("numbers")
    return found


def _unpack(
    tensors: Mapping[str, Tensor], described: Mapping[str, Any], names: tuple[str, ...]
) -> Window:
    rest = described["window"]
    fitted = rest["fitted"] if rest["fitted"] is None else tuple(int(i) for i in rest["fitted"])
    mine = names if fitted is None else tuple(names[i] for i in fitted if 0 <= i < len(names))
    result = replace(unpack_result(tensors, described["result"]), names=mine)
    placed = tuple((str(name), int(group)) for name, group in rest["placed"])
    known = {*rest["moved"], *(name for name, _ in placed)} <= set(names)
    if len(result.H) != len(mine) or not known or len(mine) != len(fitted or names):
        raise ValueError("another number of instruments")
    k = result.H.shape[1]
    if not all(0 <= group < k for _, group in placed):
        raise ValueError("another number of groups")
    _numbers([rest[name] for name in ("ari_before", "ari_width", "p_value")])
    numbers = [rest[name] for name in ("number", "begin", "stop", "broke")]
    numbers += [getattr(result, name) for name in ("seed", "iterations", "seconds", "products")]
    if None in _numbers(numbers):
        raise TypeError("numbers")
    dates = {name: str(rest[name]) for name in ("first", "last")}
    dependence = rest["dependence"]
    if dependence is not None:
        groups = tuple(_numbers(dependence["groups"]))
        others = {name: value for name, value in dependence.items() if name != "groups"}
        _numbers(others.values())
        if len(groups) != k:
            raise ValueError("another number of groups")
        dependence = WindowDependence(groups=groups, **others)
    return Window(
        **{
            **rest, **dates, "moved": tuple(rest["moved"]), "result": result, "fitted": fitted,
            "placed": placed, "dependence": dependence,
        }
    )  # fmt: skip


def _changes(described: Mapping[str, Any] | None, names: tuple[str, ...]) -> Changes | None:
    """What was stored of the judgement."""
    if described is None:
        return None
    movers = tuple(tuple(Mover(**mover) for mover in part) for part in described["movers"])
    every = [mover for part in movers for mover in part]
    _numbers([number for m in every for number in (m.before, m.after, m.score)])
    if not {mover.name for mover in every} <= set(names):
        raise ValueError("another instrument")
    rest = {name: value for name, value in described.items() if name != "movers"}
    by_chance = tuple(int(value) for value in rest.pop("by_chance"))
    _numbers(rest.values())
    return Changes(movers=movers, by_chance=by_chance, **rest)


def _tables(found: Rolling) -> dict[str, Any]:
    """The tables for people, by file name."""
    loadings = pd.concat(
        pd.DataFrame(loadings_columns(w.result)).assign(last=w.last) for w in found.windows
    )
    return {
        "windows.csv": windows_table(found).map(storage.safe_cell).to_csv(index=False),
        "labels.csv": labels_over_time(found).to_csv(),
        "memberships.csv": memberships(found).map(storage.safe_cell).to_csv(index=False),
        "loadings.parquet": lambda path: loadings.to_parquet(path, index=False),
    }


class UnfinishedWindows:
    """The stored windows of an unfinished run of :func:`symnmf.rolling`.

    Arguments:
        cache: store of the windows.
        names: names of the instruments.
    """

    def __init__(self, cache: WindowCache, names: tuple[str, ...]):
        self.cache, self.names = cache, names

    @classmethod
    @contextmanager
    def of(
        cls, folder: str | Path, panel: Panel, request: Any, force: bool
    ) -> Iterator[UnfinishedWindows]:
        """Open the stored windows of a table and a request, and lock the folder.

        Arguments:
            folder: folder of the run; created when missing.
            panel: the returns.
            request: arguments of the run; with the panel they identify it.
            force: whether windows of another run may be replaced.

        Raises:
            InvalidFile: the folder holds other results and ``force`` is False.
        """
        folder, values = Path(folder), np.ascontiguousarray(panel.values)
        dates = panel.date_words(np.arange(len(values)))
        words = [list(panel.names), dates, [plain(value) for value in request], __version__]
        digest = hashlib.sha256(values.data)
        digest.update(json.dumps(words).encode())
        with storage.lock(folder):
            cache = WindowCache(folder, digest.hexdigest()[:16])
            storage.check_free(folder, WINDOWS, force=force or bool(cache.stored))
            yield cls(cache, panel.names)

    def put(self, window: Window, vectors: Tensor) -> None:
        """Store a window and its eigenvectors, from which the next one starts."""
        tensors, words = _pack(window)
        parts = {**tensors, "vectors": vectors.contiguous(), "about": pack_json(words)}
        self.cache.put(window.number, parts)

    def get(self, number: int) -> tuple[Window, Tensor] | None:
        """A window and its eigenvectors, or None where it is not stored."""
        found = self.cache.get(number)
        if found is None:
            return None
        path, tensors = found
        with complete(path, "window", "Remove the file"):
            words, vectors = unpack_json(tensors["about"]), tensors["vectors"]
            if vectors.ndim != 2 or len(vectors) != len(self.names):
                raise ValueError("vectors")
            return _unpack(tensors, words, self.names), vectors
