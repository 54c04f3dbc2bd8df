"""The table of what was tried and what survived, which ``make trust`` measures."""

from __future__ import annotations

from symnmf.bench.measurement import MeasuredTable, Measurement

TRUST = MeasuredTable(
    "trust", "Trust", ("what was tried",), ("tried", "survived"), {"survived": "lower"}
)
HOSTS = MeasuredTable(
    "trust-hosts",
    "Faults of hosts and links: longest wait for the end of all processes, most work lost",
    ("fault",),
    ("survived", "seconds to the end", "seconds of work lost"),
    {},
)
MEASUREMENT = Measurement("trust", "What was tried and what survived", (TRUST, HOSTS))
