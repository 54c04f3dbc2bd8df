"""Random streams by name: every draw is a function of a seed and a place, nothing is stored."""

from __future__ import annotations

import zlib

import numpy as np
import torch


def _words(seed: int, place: tuple[str | int, ...]) -> list[int]:
    return [seed, *(zlib.crc32(p.encode()) if isinstance(p, str) else p for p in place)]


def numpy_stream(seed: int, *place: str | int) -> np.random.Generator:
    """A Philox stream for (seed, place): the same numbers on every machine.

    Example:
        >>> float(numpy_stream(7, "demo", 0).random()) == float(numpy_stream(7, "demo", 0).random())
        True
    """
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(_words(seed, place))))


def torch_seed(seed: int, *place: str | int) -> int:
    """A 63-bit seed for (seed, place)."""
    state = np.random.SeedSequence(_words(seed, place)).generate_state(1, np.uint64)
    return int(state[0] >> np.uint64(1))


def torch_stream(seed: int, *place: str | int) -> torch.Generator:
    """A torch generator on the CPU for (seed, place); draws are moved to the device afterwards."""
    return torch.Generator().manual_seed(torch_seed(seed, *place))
