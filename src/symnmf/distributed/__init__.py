"""Processes that work on one matrix: their process group and their launching."""

from symnmf.distributed.launching import exit_code, restarted, run_under_torchrun
from symnmf.distributed.process_group import (
    ProcessGroup,
    first_decides,
    join,
    process_number,
    processes_on_this_machine,
    under_torchrun,
)

__all__ = [
    "ProcessGroup",
    "exit_code",
    "first_decides",
    "join",
    "process_number",
    "processes_on_this_machine",
    "restarted",
    "run_under_torchrun",
    "under_torchrun",
]
