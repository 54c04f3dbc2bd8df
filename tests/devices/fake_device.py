"""A device that does not exist: torch's FakeTensorMode decides where tensors are, a twin computes.

Every tensor is a FakeTensor (of which torch checks the device in each operation, as it would with
a GPU) with a twin on the CPU that holds its numbers, so that code whose course depends on numbers
runs as well. Copies from the device to the host are counted with the place that asked for them.
"""

import traceback
from collections import Counter
from contextlib import contextmanager, nullcontext
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
)
from torch.utils._pytree import tree_map

import symnmf

PACKAGE = Path(symnmf.__file__).parent
aten = torch.ops.aten
#: Operations that return a number to the host, or whose result has a size that the host must learn.
TO_HOST = {"_local_scalar_dense", "nonzero", "equal", "unique", "_unique2", "masked_select"}
#: A copy of more entries than this is one of an array, not of numbers that decide something.
NUMBERS = 64


def _getitem(x, index):
    """``x[index]`` by operations: that of a torch without CUDA looks for the driver."""
    parts = list(index) if isinstance(index, tuple) else [index]
    used = sum(p.ndim if _mask(p) else p is not None and p is not Ellipsis for p in parts)
    if Ellipsis in [p for p in parts if not isinstance(p, torch.Tensor)]:
        place = next(m for m, p in enumerate(parts) if p is Ellipsis)
        parts[place : place + 1] = [slice(None)] * (x.ndim - used)
    out, dim, tensors = x, 0, {}
    for part in parts:
        if part is None:
            out, dim = out.unsqueeze(dim), dim + 1
        elif isinstance(part, slice):
            if part != slice(None):
                out = aten.slice.Tensor(out, dim, part.start, part.stop, part.step or 1)
            dim += 1
        elif isinstance(part, int):
            out = aten.select.int(out, dim, part)
        else:
            tensors[dim] = torch.as_tensor(part) if not isinstance(part, torch.Tensor) else part
            dim += part.ndim if _mask(part) else 1
    if not tensors:
        return out if out is not x else aten.alias(x)
    return aten.index.Tensor(out, _places(tensors))


def _setitem(x, index, value):
    """``x[index] = value`` by operations."""
    parts = index if isinstance(index, tuple) else (index,)
    tensors = {m: p for m, p in enumerate(parts) if isinstance(p, torch.Tensor)}
    if not tensors:
        view = _getitem(x, index)
        view.copy_(value) if isinstance(value, torch.Tensor) else view.fill_(value)
        return
    view = _getitem(x, tuple(slice(None) if m in tensors else p for m, p in enumerate(parts)))
    if not isinstance(value, torch.Tensor):
        value = torch.full((), value, dtype=x.dtype, device=x.device)
    aten.index_put_(view, _places(tensors), value.to(x.dtype))


def _mask(part):
    return isinstance(part, torch.Tensor) and part.dtype == torch.bool


def _places(tensors):
    return [tensors.get(dim) for dim in range(max(tensors) + 1)]


def _number(x):
    return aten._local_scalar_dense(x)


def _numbers(x):
    return _number(x) if x.ndim == 0 else [_numbers(part) for part in x.unbind()]


# Only FakeTensors, which nothing else in these tests uses, take this way.
FakeTensor.__getitem__, FakeTensor.__setitem__ = _getitem, _setitem
FakeTensor.__float__ = lambda x: float(_number(x))
FakeTensor.__int__ = FakeTensor.__index__ = lambda x: int(_number(x))
FakeTensor.__bool__ = lambda x: bool(_number(x))
FakeTensor.item = _number
FakeTensor.tolist = lambda x: _numbers(x.cpu())  # one copy for all numbers
FakeTensor.__invert__ = lambda x: aten.bitwise_not(x)
FakeTensor.numpy = lambda x: x.fake_mode.as_numpy(x)
FakeTensor.copy_ = lambda x, y: aten.copy_(x, y)
FakeTensor.contiguous = lambda x: (
    x if x.is_contiguous() else aten.clone(x, memory_format=torch.contiguous_format)
)
FakeTensor.nonzero = lambda x: aten.nonzero(x)


class FakeDevice(FakeTensorMode):
    """Tensors of a device that is not there, and a count of what is copied from it."""

    def __init__(self, device="cuda:0"):
        super().__init__(allow_non_fake_inputs=True)
        self.device = torch.device(device)
        self.copies: Counter[str] = Counter()
        self.twins: dict[int, tuple[FakeTensor, torch.Tensor]] = {}
        self.inside = False

    def put(self, real, device=None):
        """A tensor of the device with the numbers of a real one."""
        real = self.numbers(real)
        active = torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is self
        with nullcontext() if active else self:
            fake = torch.empty_strided(
                real.shape, real.stride(), dtype=real.dtype, device=device or self.device
            )
        return self._join(fake, real)

    def numbers(self, fake):
        """The numbers of a tensor."""
        return fake if not isinstance(fake, FakeTensor) else self.twins[id(fake)][1]

    def as_numpy(self, fake):
        """The numbers of a tensor of the CPU; numpy cannot read others."""
        assert fake.device.type == "cpu", "numpy cannot read a tensor of the device"
        with torch._C._DisableTorchDispatch():
            return self.numbers(fake).numpy()

    def _join(self, fake, real):
        assert fake.shape == real.shape, (fake.shape, real.shape)
        self.twins[id(fake)] = (fake, real)
        return fake

    def dispatch(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if self.inside:
            return super().dispatch(func, types, args, kwargs)
        self.inside = True
        try:
            return self._both(func, types, args, kwargs)
        finally:
            self.inside = False

    def _both(self, func, types, args, kwargs):
        name = func._schema.name.removeprefix("aten::").split(".")[0]
        real = self._really(func, args, kwargs)
        places = {a.device.type for a in _tensors((args, kwargs)) if isinstance(a, FakeTensor)}
        wanted = kwargs.get("device")
        leaves = wanted is not None and torch.device(wanted).type == "cpu"
        if name == "copy_":  # into a tensor of the host
            leaves = args[0].device.type == "cpu"
        reduces = name in TO_HOST
        masked = name in ("index", "index_put_") and any(map(_mask, _tensors(args[1])))
        if self.device.type in places and (
            reduces or masked or (leaves and name in ("_to_copy", "to", "copy_"))
        ):
            large = max(a.numel() for a in _tensors(args)) > NUMBERS and not (masked or reduces)
            self.copies[_asked(name) + (" (an array)" if large else "")] += 1
        try:
            fake = super().dispatch(func, types, args, kwargs)
        except (DataDependentOutputException, DynamicOutputShapeException):
            if not any(isinstance(x, torch.Tensor) for x in _leaves(real)):
                return real
            place = self.device if self.device.type in places else torch.device("cpu")
            return tree_map(lambda x: self._made(x, place), real)
        for f, r in zip(_leaves(fake), _leaves(real), strict=True):
            if isinstance(f, FakeTensor):
                if f.shape != r.shape:  # a size that depends on numbers
                    place = f.device
                    return tree_map(lambda x, place=place: self._made(x, place), real)
                if id(f) not in self.twins or self.twins[id(f)][0] is not f:
                    self._join(f, r)
        return fake

    def _made(self, x, device):
        if not isinstance(x, torch.Tensor):
            return x
        with self:
            fake = torch.empty_strided(x.shape, x.stride(), dtype=x.dtype, device=device)
        return self._join(fake, x)

    def _really(self, func, args, kwargs):
        """The operation on the twins, on the CPU."""

        def twin(x):
            if isinstance(x, FakeTensor):
                if id(x) not in self.twins:
                    raise AssertionError(f"{func} got a tensor that has no numbers")
                return self.twins[id(x)][1]
            return torch.device("cpu") if isinstance(x, torch.device) else x

        with torch._C._DisableTorchDispatch():
            return func(*tree_map(twin, args), **tree_map(twin, kwargs))

    @contextmanager
    def counting(self):
        """Count the copies inside, by the place that asked for them."""
        before, self.copies = self.copies, Counter()
        found = self.copies
        yield found
        self.copies = before + found


class CompressedRows:
    """Stands in for a tensor of compressed sparse rows: fake tensors do not have this layout."""

    def __init__(self, crow, col, values, shape, check_invariants):
        self.rows = torch.arange(shape[0], device=crow.device).repeat_interleave(crow.diff())
        self.col, self.values, self.shape = col, values, shape

    def __matmul__(self, X):
        out = torch.zeros(self.shape[0], X.shape[1], dtype=X.dtype, device=X.device)
        return out.index_add_(0, self.rows, self.values[:, None] * X[self.col])


def compressed_rows(crow, *parts, _real=torch.sparse_csr_tensor, **options):
    """``torch.sparse_csr_tensor``, also for fake tensors."""
    made = CompressedRows if isinstance(crow, FakeTensor) else _real
    return made(crow, *parts, **options)


def _leaves(tree):
    return list(tree) if isinstance(tree, tuple | list) else [tree]


def _tensors(tree):
    found = []
    tree_map(lambda x: found.append(x) if isinstance(x, torch.Tensor) else None, tree)
    return found


def _asked(name):
    """The innermost function of the package that asked for a copy: file, function, operation."""
    for frame in reversed(traceback.extract_stack(limit=60)):
        path = Path(frame.filename)
        if PACKAGE in path.parents:
            return f"{path.relative_to(PACKAGE)}:{frame.name}"
    return name
