"""Import torch and the analysis as fast as a command can."""

from __future__ import annotations

import gc
import sys


def load_libraries() -> None:
    """Import torch and the analysis while the collector of cycles is off.

    It finds nothing while modules are imported, and would look at their half a million objects
    again and again; it begins its work afterwards, and leaves these objects alone.
    """
    if "torch" in sys.modules:
        return
    collecting = gc.isenabled()
    gc.disable()
    try:
        import symnmf.analysis  # noqa: F401
    finally:
        gc.freeze()
        if collecting:
            gc.enable()
