"""The split of an iteration by torch's profiler: which operators its time goes to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torch
from torch.profiler import ProfilerActivity, profile, record_function

from symnmf.distributed.process_group import ProcessGroup

#: Names of the ranges in the profile: what a process multiplies, exchanges and sums over chunks.
STEP, PRODUCT, EXCHANGE, REDUCTION = (
    f"symnmf {name}" for name in ("step", "product", "exchange", "reduction")
)
T = TypeVar("T")


def profiled_parts(
    group: ProcessGroup, S: Any, step: Callable[[], object], steps: int
) -> list[float]:
    """Milliseconds of a step: product, communication, reduction, other operators, host.

    *Host* is the time between operators. Operators count where they run: those within a product
    of the operator are the product, those of the sum over chunks the reduction.

    Arguments:
        group: the processes that share the rows.
        S: the operator, whose products are marked in the profile.
        step: function that makes one step.
        steps: number of steps.
    """
    call, tree, matmul = group._call, group.tree, S.matmul
    own = dict(group.__dict__), dict(S.__dict__)

    def marked_call(collective: Callable[[], T]) -> T:
        with record_function(EXCHANGE):
            return call(collective)

    def marked_tree(leaf: Callable[[int], torch.Tensor]) -> torch.Tensor:
        def marked_leaf(chunk: int) -> torch.Tensor:
            with record_function(PRODUCT):
                return leaf(chunk)

        with record_function(REDUCTION):
            return tree(marked_leaf)

    def marked_matmul(X: torch.Tensor) -> torch.Tensor:
        with record_function(PRODUCT):
            made: torch.Tensor = matmul(X)
        return made

    group.__dict__.update(_call=marked_call, tree=marked_tree)
    S.__dict__["matmul"] = marked_matmul
    try:
        with profile(activities=[ProfilerActivity.CPU]) as found:
            for _ in range(steps):
                with record_function(STEP):
                    step()
    finally:
        for thing, before in zip((group, S), own, strict=True):
            thing.__dict__.clear()
            thing.__dict__.update(before)
    return [microseconds / 1e3 / steps for microseconds in _sums(found.events())]


def _sums(events: Any) -> list[float]:
    """Microseconds of the five parts, over all steps."""
    parts = dict.fromkeys((PRODUCT, EXCHANGE, REDUCTION, STEP), 0.0)
    whole = 0.0
    for event in events:
        if event.name == STEP:
            whole += event.cpu_time_total
        elif event.name == EXCHANGE:  # all of it, with its waiting
            parts[EXCHANGE] += event.cpu_time_total if _range_of(event) else 0.0
        elif event.name not in parts:
            within = _range_of(event)
            if within in (PRODUCT, REDUCTION, STEP):
                parts[within] += event.self_cpu_time_total
    product, exchange, reduction, others = parts.values()
    return [
        product, exchange, reduction, others,
        max(0.0, whole - product - exchange - reduction - others),
    ]  # fmt: skip


def _range_of(event: Any) -> str | None:
    """The nearest of our ranges around an event; None outside of a step."""
    around = event.cpu_parent
    while around is not None and around.name not in (STEP, PRODUCT, EXCHANGE, REDUCTION):
        around = around.cpu_parent
    return None if around is None else str(around.name)
