"""The device that is not there, and what torch needs to be told about it."""

import pytest
import torch

from devices.fake_device import FakeDevice, compressed_rows


@pytest.fixture
def device(monkeypatch):
    """A fake GPU."""
    monkeypatch.setattr(torch, "sparse_csr_tensor", compressed_rows)
    return FakeDevice()


@pytest.fixture
def generators(monkeypatch):
    """Generators of the device draw on the CPU: there is none of a device that is not there."""
    real = torch.Generator

    def made(device="cpu"):
        assert torch.device(device).type in ("cpu", "cuda")
        return real()

    monkeypatch.setattr(torch, "Generator", made)


@pytest.fixture
def found(monkeypatch):
    """torch finds the GPU; a function that sets its free bytes."""
    free = [8e9]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda place: (free[0], free[0]))

    def set_free(size):
        free[0] = size

    return set_free
