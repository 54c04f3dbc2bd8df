"""Tensors and JSON values in safetensors files."""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from symnmf.errors import InvalidFile
from symnmf.storage.atomic_files import atomic

#: Largest header of a safetensors file.
HEADER_BYTES = 8 << 20


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write a safetensors file atomically; tensors that share memory are written one by one."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    with atomic(path) as temporary:
        try:
            save_file(_apart(tensors), temporary)
        except SafetensorError as broken:  # the error of the system is only in its text
            code = re.search(r"(?:code: |os error )(\d+)", str(broken))
            raise OSError(int(code[1]) if code else errno.EIO, str(broken)) from broken


def _apart(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors, with copies of those that share memory with another."""
    seen: set[int] = set()
    found = {}
    for name, tensor in tensors.items():
        place = tensor.untyped_storage().data_ptr()
        found[name] = tensor.clone() if place in seen and tensor.numel() else tensor
        seen.add(place)
    return found


def read_tensors(path: Path, device: str = "cpu") -> dict[str, Tensor]:
    """Read an untrusted safetensors file; the length of its header is checked first.

    Raises:
        InvalidFile: the file cannot be read, or is not a safetensors file.
    """
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
            str(path),
            f"cannot be read as tensors ({type(broken).__name__})",
            "Restore it, or run again",
        ) from broken


def pack_json(value: Any) -> Tensor:
    """A value as a tensor of the bytes of its JSON text."""
    return torch.frombuffer(bytearray(json.dumps(value), "utf-8"), dtype=torch.uint8)


def unpack_json(packed: Tensor) -> Any:
    """The inverse of :func:`pack_json`."""
    return json.loads(packed.numpy().tobytes())


def plain(value: Any) -> Any:
    """Values that JSON can represent; anything else becomes its text."""
    if isinstance(value, dict):
        return {str(name): plain(v) for name, v in value.items()}
    if isinstance(value, Tensor):
        return f"tensor of shape {tuple(value.shape)}"
    if isinstance(value, float) and not isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else repr(value)
