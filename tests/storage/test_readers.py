"""Readers while a set is replaced, and sets with very many members."""

import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

import symnmf as sn
from symnmf.errors import InvalidFile
from symnmf.grouping.rolling_folder import _joined, _separated
from symnmf.storage.tensors import HEADER_BYTES, read_tensors, write_tensors


def test_readers_get_the_old_result_or_the_new_one(tmp_path):
    """A writer replaces the result without pause; no reader sees a mixture or an error."""
    S = np.kron(np.eye(2), np.ones((3, 3)))
    first = sn.factorize(S, 2)
    second = replace(first, H=first.H + 1, seed=1)
    sn.save(first, tmp_path)
    done, wrong = threading.Event(), []

    def read():
        while not done.is_set():
            try:
                found = sn.load(tmp_path)
                expected = first if found.seed == 0 else second
                assert torch.equal(found.H, expected.H)
            except Exception as error:
                wrong.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for attempt in range(12):
        sn.save(first if attempt % 2 else second, tmp_path, force=True)
    done.set()
    for reader in readers:
        reader.join()
    assert not wrong


def test_a_damaged_result_is_still_an_error(tmp_path):
    sn.save(sn.factorize(np.kron(np.eye(2), np.ones((3, 3))), 2), tmp_path)
    next(tmp_path.glob("model-*")).unlink()
    with pytest.raises(InvalidFile, match="is missing"):
        sn.load(tmp_path)


@pytest.mark.slow
def test_forty_thousand_windows_fit_in_a_file(tmp_path):
    """The header of the file does not grow with the number of windows."""
    parts = [
        {"H": torch.full((2, 1), float(m)), "history": torch.zeros(m % 3, 2, dtype=torch.float64)}
        for m in range(40_000)
    ]
    tensors, shapes = _joined(parts)
    write_tensors(tmp_path / "windows.safetensors", tensors)
    with (tmp_path / "windows.safetensors").open("rb") as file:
        assert int.from_bytes(file.read(8), "little") < HEADER_BYTES / 1000
    back = list(_separated(read_tensors(tmp_path / "windows.safetensors"), shapes))
    assert len(back) == len(parts)
    for m in (0, 1, 2, 39_999):
        assert all(torch.equal(back[m][name], parts[m][name]) for name in ("H", "history"))


@pytest.mark.parametrize("shape", [[-1, 2], [3, 2], ["2", 1], [2.0, 1]])
def test_shapes_that_lie_are_refused(shape):
    with pytest.raises(ValueError, match="shape|another number"):
        list(_separated({"H float32": torch.zeros(2)}, [{"H float32": shape}]))
