"""Conversion of results and histories to tensors and JSON, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from symnmf import __version__
from symnmf.core.certificate import Certificate
from symnmf.core.result import Result, Status
from symnmf.core.solver import Check
from symnmf.storage.tensors import pack_json, plain, unpack_json

#: Columns of a packed history.
CHECK_FIELDS = tuple(f.name for f in fields(Check))


def pack_history(history: list[Check]) -> Tensor:
    """A (checks, fields) tensor in float64."""
    rows = [[float(getattr(check, name)) for name in CHECK_FIELDS] for check in history]
    return torch.tensor(rows, dtype=torch.float64).reshape(len(rows), len(CHECK_FIELDS))


def unpack_history(table: Tensor) -> list[Check]:
    """The inverse of :func:`pack_history`."""
    kinds = {
        "iteration": int, "reactions": int, "stagnant": bool, "whole": bool, "paper_gates": bool
    }  # fmt: skip
    return [
        Check(
            **{
                name: kinds.get(name, float)(value)
                for name, value in zip(CHECK_FIELDS, row, strict=True)
            }
        )
        for row in table.tolist()
    ]


def pack_result(result: Result) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """A result as tensors and as a mapping for JSON."""
    tensors = {"H": result.H.cpu().contiguous(), "history": pack_history(list(result.history))}
    if result.eigenvalues is not None:
        tensors["eigenvalues"] = result.eigenvalues.cpu().contiguous()
    if result.names is not None:  # too large for an untrusted manifest
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
        "reactions": dict(result.reactions),
    }


def unpack_result(tensors: Mapping[str, Tensor], content: Mapping[str, Any]) -> Result:
    """The inverse of :func:`pack_result`, for untrusted tensors and content.

    Raises:
        KeyError, TypeError, ValueError: a field is missing or invalid; see
            :func:`symnmf.storage.untrusted.complete`.
    """
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
        reactions={str(kind): int(n) for kind, n in content.get("reactions", {}).items()},
        eigenvalues=tensors.get("eigenvalues"),
    )


def _check(H: Tensor, names: Any) -> None:
    """Raise an error unless H is a factor and the names fit its rows."""
    if H.ndim != 2 or not H.is_floating_point() or not bool((H >= 0).all()):
        raise ValueError("H")
    if names is not None and not (
        isinstance(names, list) and len(names) == len(H) and all(isinstance(x, str) for x in names)
    ):
        raise TypeError("names")


def _numbers(values: dict[str, Any]) -> dict[str, Any]:
    """The inverse of :func:`plain` for numbers that JSON cannot represent."""
    nonfinite = {"inf", "-inf", "nan"}
    return {name: float(v) if v in nonfinite else v for name, v in values.items()}
