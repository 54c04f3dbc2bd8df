"""Import torch and the analysis as fast as a command can."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version

from symnmf.cli.deferred_modules import deferring

#: Parts of torch that no command uses: tools for compiling, exporting, quantizing and training
#: networks. They are a third of the time that the import of torch takes.
UNUSED = frozenset(
    f"torch.{name}"
    for name in (
        "_meta_registrations", "ao", "distributions", "export", "masked", "nn.intrinsic", "nn.qat",
        "nn.quantizable", "nn.quantized", "optim", "profiler", "quantization", "testing",
        "utils.data",
    )
)  # fmt: skip

#: Versions of torch whose commands were tested without these parts; others are imported whole.
TESTED = ("2.13",)


@contextmanager
def _without_unused_parts() -> Iterator[None]:
    """Import torch, if its version was tested so, without the parts that no command uses."""
    try:
        tested = version("torch").startswith(tuple(f"{known}." for known in TESTED))
    except PackageNotFoundError:
        tested = False
    if not tested:
        yield
        return
    with deferring(UNUSED):
        # Generators of random numbers are made of it.
        import torch._prims.rng_prims  # noqa: F401

        yield


def load_libraries() -> None:
    """Import torch and the analysis without parts of torch, and with the collector of cycles off.

    The collector finds nothing while modules are imported, and would look at their half a million
    objects again and again; it begins its work afterwards, and leaves these objects alone.
    """
    if "torch" in sys.modules:
        return
    collecting = gc.isenabled()
    gc.disable()
    try:
        with _without_unused_parts():
            import symnmf.analysis  # noqa: F401
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
