"""Processes that work on one matrix: their process group and their launching."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

#: Name → the module that defines it; imported when it is first used, as some need torch.
_HOME = {
    "ProcessGroup": "process_group",
    "RESUME_ME": "batch_signals",
    "Stopped": "batch_signals",
    "handle_batch_signals": "batch_signals",
    "exit_code": "environment",
    "first_decides": "process_group",
    "join": "process_group",
    "process_number": "environment",
    "processes_on_this_machine": "environment",
    "restarted": "environment",
    "run_under_torchrun": "launching",
    "under_torchrun": "environment",
}

if TYPE_CHECKING:
    from symnmf.distributed.batch_signals import RESUME_ME, Stopped, handle_batch_signals
    from symnmf.distributed.environment import (
        exit_code,
        process_number,
        processes_on_this_machine,
        restarted,
        under_torchrun,
    )
    from symnmf.distributed.launching import run_under_torchrun
    from symnmf.distributed.process_group import ProcessGroup, first_decides, join

__all__ = [
    "RESUME_ME",
    "ProcessGroup",
    "Stopped",
    "exit_code",
    "first_decides",
    "handle_batch_signals",
    "join",
    "process_number",
    "processes_on_this_machine",
    "restarted",
    "run_under_torchrun",
    "under_torchrun",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'symnmf.distributed' has no attribute {name!r}")
    value = getattr(import_module(f"symnmf.distributed.{_HOME[name]}"), name)
    globals()[name] = value
    return value
