"""The table of what was tried and what survived, which ``make trust`` measures."""

from __future__ import annotations

from symnmf.bench.measurement import MeasuredTable, Measurement

TRUST = MeasuredTable(
    "trust", "Trust", ("what was tried",), ("tried", "survived"), {"survived": "lower"}
)
MEASUREMENT = Measurement("trust", "What was tried and what survived", (TRUST,))
