"""A step that differentiates, on a device that is not there.

torch refuses to differentiate on a CUDA that it was not built with. It accepts a device of its
own kind for extensions ("privateuse1"), which is registered for the whole process: a program of
its own, that prints the devices of the state and the copies that are not allowed.
"""

import json
import sys

import torch

from devices.fake_device import FakeDevice
from devices.host_copies import not_allowed
from devices.test_fake_device import steps, tensors

NAME = "fakegpu"


class Guard(torch._C._acc.DeviceGuard):
    """Switches between devices of this kind: there is one."""

    def type_(self):
        return torch._C._autograd.DeviceType.PrivateUse1


class Hooks(torch._C._acc.PrivateUse1Hooks):
    """What torch asks about devices of this kind."""

    def is_built(self):
        return True

    def is_available(self):
        return True

    def has_primary_context(self, index):
        return True


def main(row: str) -> None:
    torch.utils.rename_privateuse1_backend(NAME)
    guard, hooks = Guard(), Hooks()
    torch._C._acc.register_python_privateuseone_hook(hooks)
    torch._C._acc.register_python_privateuseone_device_guard(guard)
    device = FakeDevice(f"{NAME}:0")
    with device:
        state, copies = steps(device, row, "dense", 2)
    expected = steps_here(row)
    print(json.dumps({
        "devices": sorted({str(t.device) for t in tensors(state) if t.ndim}),
        "not allowed": not_allowed(copies, row),
        "same": torch.equal(device.numbers(state.H), expected.H),
    }))  # fmt: skip


def steps_here(row: str):
    """The same steps on the CPU."""

    class Here:
        put = staticmethod(lambda x: x)
        counting = FakeDevice().counting

    return steps(Here, row, "dense", 2)[0]


if __name__ == "__main__":
    main(sys.argv[1])
