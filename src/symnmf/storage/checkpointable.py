"""State that a checkpoint can hold, and its flattening to tensors and JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any, ClassVar

from torch import Tensor


@dataclass
class Checkpointable:
    """State of a run: tensors, numbers, strings, None, tuples and other Checkpointables.

    Every subclass is registered by name, so that one generic flattening serves all checkpoints.
    """

    kinds: ClassVar[dict[str, type[Checkpointable]]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()  # sets up generic subclasses
        Checkpointable.kinds[cls.__qualname__] = cls


Checkpointable.kinds["Checkpointable"] = Checkpointable


def flatten(value: Any, tensors: dict[str, Tensor], path: str = "run") -> Any:
    """Collect the tensors of a value by path, and return everything else for JSON.

    Tensors that share memory are stored once.

    Arguments:
        value: a Checkpointable or a value that it may hold.
        tensors: mapping to which the tensors are added.
        path: name of the value in that mapping.

    Raises:
        TypeError: the value has a type that a Checkpointable cannot hold.
    """
    if isinstance(value, Tensor):
        for name, known in tensors.items():
            same = known.data_ptr() == value.data_ptr() and known.dtype == value.dtype
            if same and known.shape == value.shape and value.numel():
                return {"tensor": name}
        tensors[path] = value.contiguous()
        return {"tensor": path}
    if isinstance(value, Checkpointable):
        parts = {
            f.name: flatten(getattr(value, f.name), tensors, f"{path}.{f.name}")
            for f in fields(value)
        }
        return {"memory": type(value).__qualname__, "fields": parts}
    if isinstance(value, tuple):
        return {"tuple": [flatten(v, tensors, f"{path}.{m}") for m, v in enumerate(value)]}
    if isinstance(value, float) and not isfinite(value):
        return {"float": str(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{path}: a Checkpointable cannot hold a {type(value).__name__}")


def unflatten(spec: Any, tensors: Mapping[str, Tensor]) -> Any:
    """The inverse of :func:`flatten`."""
    if not isinstance(spec, dict):
        return spec
    if "tensor" in spec:
        return tensors[spec["tensor"]]
    if "tuple" in spec:
        return tuple(unflatten(part, tensors) for part in spec["tuple"])
    if "float" in spec:
        return float(spec["float"])
    parts = {name: unflatten(part, tensors) for name, part in spec["fields"].items()}
    return Checkpointable.kinds[spec["memory"]](**parts)
