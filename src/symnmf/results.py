"""A result as a folder of plain files, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import Tensor

from symnmf import __version__, files
from symnmf.certificate import Certificate
from symnmf.contract import Result, Status
from symnmf.engine.checkpoint import pack_history, unpack_history
from symnmf.errors import InvalidFile

KIND = "symnmf result"
#: Files that appear beside the model under fixed names; the last ones by the command line.
WRITTEN = (
    "loadings.parquet",
    "loadings.csv",
    "labels.csv",
    "history.csv",
    "certificate.json",
    "data.json",
    "classes.csv",
    "config.toml",
    "report.html",
)


def save(result: Result, folder: str | Path, *, force: bool = False) -> Path:
    """Write a result to a folder.

    The model (``model-….safetensors``) and ``manifest.json``, which make it current in one step:
    whoever is killed leaves the old result or the new one. Then the tables made from it:
    ``loadings`` (csv and parquet), ``labels.csv``, ``history.csv``, ``certificate.json``.

    Arguments:
        result: what :func:`symnmf.factorize` returned.
        folder: made when missing.
        force: replace a result that is there.

    Example:
        >>> import tempfile, numpy as np, symnmf as sn
        >>> result = sn.factorize(np.kron(np.eye(2), np.ones((3, 3))), k=2)
        >>> sn.load(sn.save(result, tempfile.mkdtemp())).status.name
        'EXACT'
    """
    folder = Path(folder)
    with files.lock(folder):
        check_free(folder, force=force)
        model, content = pack(result)
        H = result.H.cpu()
        names = list(result.names or (str(i) for i in range(len(H))))
        columns = [f"group_{j}" for j in range(H.shape[1])]
        loadings = pd.DataFrame(H.numpy(), index=pd.Index(names, name="name"), columns=columns)
        labels = pd.DataFrame(
            {"group": result.labels().cpu().numpy(), "margin": result.margins().cpu().numpy()},
            index=loadings.index,
        )
        looks = pd.DataFrame([asdict(check) for check in result.history]).set_index("iteration")
        tables: dict[str, str | Callable[[Path], Any]] = {
            "loadings.parquet": loadings.to_parquet,
            "loadings.csv": csv_text(loadings),
            "labels.csv": csv_text(labels),
            "history.csv": csv_text(looks),
            "certificate.json": json.dumps(content["certificate"], indent=1) + "\n",
        }
        files.write_set(folder, KIND, model, content, tables, WRITTEN)
    return folder


def check_free(folder: Path, *, force: bool) -> None:
    """Refuse a folder that holds a result, or a file of that name, unless told to replace it."""
    files.check_free(folder, KIND, WRITTEN, force=force)


def load(folder: str | Path) -> Result:
    """Read a result that :func:`save` wrote, after checking its checksums.

    Arguments:
        folder: of the result.

    Example:
        >>> import tempfile, numpy as np, symnmf as sn
        >>> result = sn.factorize(np.kron(np.eye(2), np.ones((3, 3))), k=2)
        >>> again = load(sn.save(result, tempfile.mkdtemp()))
        >>> bool((again.H == result.H).all()), again.certificate == result.certificate
        (True, True)
    """
    found, content = files.read_manifest(Path(folder), KIND)
    with complete(folder, "result", "Run the fit again"):
        return unpack(files.read_tensors(found["model"]), content)


@contextmanager
def complete(folder: str | Path, what: str, remedy: str) -> Iterator[None]:
    """What is missing or of another type in files of others is said in our own words."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as broken:
        if isinstance(broken, InvalidFile):
            raise
        raise InvalidFile(str(folder), f"holds no complete {what}", remedy) from broken


def pack(result: Result) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """A result as tensors, and the rest of it for JSON."""
    tensors = {"H": result.H.cpu().contiguous(), "history": pack_history(list(result.history))}
    if result.eigenvalues is not None:
        tensors["eigenvalues"] = result.eigenvalues.cpu().contiguous()
    if result.names is not None:  # too many for a manifest that anyone may have written
        tensors["names"] = pack_json(list(result.names))
    return tensors, {
        "version": __version__,
        "status": result.status.name,
        "certificate": plain(result.certificate.as_dict()),
        "solver": result.solver,
        "options": plain(result.options),
        "seed": result.seed,
        "iterations": result.iterations,
        "seconds": result.seconds,
        "products": result.products,
        "notes": list(result.notes),
    }


def unpack(tensors: Mapping[str, Tensor], content: Mapping[str, Any]) -> Result:
    """The inverse of :func:`pack`, for tensors and content that may come from anyone."""
    names = unpack_json(tensors["names"]) if "names" in tensors else None
    _check(tensors["H"], names)
    return Result(
        H=tensors["H"],
        status=Status[content["status"]],
        certificate=Certificate(**_numbers(content["certificate"])),
        history=tuple(unpack_history(tensors["history"])),
        solver=content["solver"],
        seed=content["seed"],
        iterations=content["iterations"],
        seconds=content["seconds"],
        products=content["products"],
        options=content["options"],
        names=None if names is None else tuple(names),
        notes=tuple(str(note) for note in content.get("notes", ())),
        eigenvalues=tensors.get("eigenvalues"),
    )


def pack_json(value: Any) -> Tensor:
    """A value as bytes of JSON."""
    return torch.frombuffer(bytearray(json.dumps(value), "utf-8"), dtype=torch.uint8)


def unpack_json(packed: Tensor) -> Any:
    """The inverse of :func:`pack_json`."""
    return json.loads(packed.numpy().tobytes())


def csv_text(table: pd.DataFrame) -> str:
    """A table as csv in which no name is run as a formula; numbers stay as they are.

    Example:
        >>> csv_text(pd.DataFrame({"x": [-1.5]}, index=pd.Index(["=1+1"], name="name")))
        "name,x\\n'=1+1,-1.5\\n"
    """
    if table.index.dtype.kind not in "iuf":
        table = table.rename(index=files.safe_cell)
    return str(table.rename(columns=files.safe_cell).to_csv(lineterminator="\n"))


def _check(H: Tensor, names: Any) -> None:
    """Refuse what is no factor with names."""
    if H.ndim != 2 or not H.is_floating_point() or not bool((H >= 0).all()):
        raise ValueError("H")
    if names is not None and not (
        isinstance(names, list) and len(names) == len(H) and all(isinstance(x, str) for x in names)
    ):
        raise TypeError("names")


def plain(value: Any) -> Any:
    """Values as JSON takes them; what it does not know becomes its words."""
    if isinstance(value, dict):
        return {str(name): plain(v) for name, v in value.items()}
    if isinstance(value, Tensor):
        return f"tensor of shape {tuple(value.shape)}"
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _numbers(values: dict[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`plain` for numbers that JSON does not know."""
    strange = {"inf", "-inf", "nan"}
    return {name: float(v) if v in strange else v for name, v in values.items()}
