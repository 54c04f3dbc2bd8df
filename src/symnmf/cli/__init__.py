"""The command line: parse, call, print. One module per command, in the order of the help."""

from symnmf.cli import demo, fit, inspect, roll, rank, generate, plan, solvers, bench  # noqa: I001
from symnmf.cli.app import app, main

__all__ = [
    "app",
    "bench",
    "demo",
    "fit",
    "generate",
    "inspect",
    "main",
    "plan",
    "rank",
    "roll",
    "solvers",
]
