"""A mapped file that is cut short: an error before a tile, a sentence within one."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch

import faults
import symnmf as sn
from symnmf.errors import InvalidFile
from symnmf.operators.stored import open_matrix, write_matrix

SIDE = 300


@pytest.fixture(params=["dense", "gram"])
def folder(request, tmp_path):
    array = np.ones((SIDE, SIDE if request.param == "dense" else 40), np.float32)
    return write_matrix(tmp_path / "S", array, form=request.param)


def test_a_cut_between_two_tiles_is_an_error(folder):
    S = open_matrix(folder)
    os.truncate(folder / "data.npy", 4096)
    for use in (lambda: S.matmul(torch.ones(SIDE, 2)), lambda: S.block(*[torch.tensor([1])] * 2)):
        with pytest.raises(InvalidFile, match="was cut short while it was in use"):
            use()


def test_a_cut_of_a_memory_map_is_an_error(tmp_path):
    np.save(tmp_path / "S.npy", np.ones((SIDE, SIDE), np.float32))
    S = sn.as_operator(np.load(tmp_path / "S.npy", mmap_mode="r"))
    os.truncate(tmp_path / "S.npy", 4096)
    with pytest.raises(InvalidFile, match="was cut short"):
        S.matmul(torch.ones(SIDE, 2))


@pytest.mark.slow
def test_a_cut_within_a_tile_ends_with_a_sentence(folder):
    """The size was checked a moment before: the signal of the system becomes our sentence."""
    code = f"""
import os, torch
from symnmf.operators.stored import open_matrix
S = open_matrix({str(folder)!r})
S.rows.source = None  # the check was before the cut
os.truncate({str(folder / "data.npy")!r}, 4096)
S.matmul(torch.ones({SIDE}, 2))
"""
    ended = subprocess.run(
        [sys.executable, "-c", code], env=faults.ENVIRONMENT, capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "data.npy: was cut short while it was in use. Restore it" in ended.stderr
