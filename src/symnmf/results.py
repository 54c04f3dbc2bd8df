"""A result as a folder of plain files, and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import torch

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
        H = result.H.cpu().contiguous()
        names = list(result.names or (str(i) for i in range(len(H))))
        model = {"H": H, "history": pack_history(list(result.history))}
        if result.eigenvalues is not None:
            model["eigenvalues"] = result.eigenvalues.cpu().contiguous()
        if result.names is not None:  # too many for a manifest that anyone may have written
            model["names"] = torch.frombuffer(
                bytearray(json.dumps(names), "utf-8"), dtype=torch.uint8
            )
        content = {
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
        columns = [f"group_{j}" for j in range(H.shape[1])]
        loadings = pd.DataFrame(H.numpy(), index=pd.Index(names, name="name"), columns=columns)
        labels = pd.DataFrame(
            {"group": result.labels().cpu().numpy(), "margin": result.margins().cpu().numpy()},
            index=loadings.index,
        )
        looks = pd.DataFrame([asdict(check) for check in result.history]).set_index("iteration")
        name = f"model-{uuid4().hex[:12]}.safetensors"
        files.write_tensors(folder / name, model)
        for old in WRITTEN:  # nothing made from another model beside a new one
            (folder / old).unlink(missing_ok=True)
        files.write_manifest(folder, KIND, {"model": name}, content)
        with files.atomic(folder / "loadings.parquet") as temporary:
            loadings.to_parquet(temporary)
        _write_csv(folder / "loadings.csv", loadings)
        _write_csv(folder / "labels.csv", labels)
        _write_csv(folder / "history.csv", looks)
        files.write_json(folder / "certificate.json", content["certificate"])
        files.remove_all_but(folder, "model-", {name})
    return folder


def check_free(folder: Path, *, force: bool) -> None:
    """Refuse a folder that holds a result, or a file of that name, unless told to replace it."""
    if force:
        return
    if (folder / files.MANIFEST).exists():
        raise InvalidFile(
            str(folder), "already holds a result", "Choose another folder, or pass force"
        )
    for name in WRITTEN:
        if (folder / name).exists():
            raise InvalidFile(
                str(folder / name), "is there already", "Choose another folder, or pass force"
            )


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
    try:
        tensors = files.read_tensors(found["model"])
        names = json.loads(tensors["names"].numpy().tobytes()) if "names" in tensors else None
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
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as broken:
        if isinstance(broken, InvalidFile):
            raise
        raise InvalidFile(str(folder), "holds no complete result", "Run the fit again") from broken


def csv_text(table: pd.DataFrame) -> str:
    """A table as csv in which no name is run as a formula; numbers stay as they are.

    Example:
        >>> csv_text(pd.DataFrame({"x": [-1.5]}, index=pd.Index(["=1+1"], name="name")))
        "name,x\\n'=1+1,-1.5\\n"
    """
    if table.index.dtype.kind not in "iuf":
        table = table.rename(index=files.safe_cell)
    return str(table.rename(columns=files.safe_cell).to_csv(lineterminator="\n"))


def _check(H: torch.Tensor, names: Any) -> None:
    """Refuse what is no factor with names."""
    if H.ndim != 2 or not H.is_floating_point() or not bool((H >= 0).all()):
        raise ValueError("H")
    if names is not None and not (
        isinstance(names, list) and len(names) == len(H) and all(isinstance(x, str) for x in names)
    ):
        raise TypeError("names")


def _write_csv(path: Path, table: pd.DataFrame) -> None:
    files.write_text(path, csv_text(table))


def plain(value: Any) -> Any:
    """Values as JSON takes them; what it does not know becomes its words."""
    if isinstance(value, dict):
        return {str(name): plain(v) for name, v in value.items()}
    if isinstance(value, torch.Tensor):
        return f"tensor of shape {tuple(value.shape)}"
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)


def _numbers(values: dict[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`plain` for numbers that JSON does not know."""
    strange = {"inf", "-inf", "nan"}
    return {name: float(v) if v in strange else v for name, v in values.items()}
