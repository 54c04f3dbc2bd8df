"""The command line: parse, call, print. One module per command, in the order of the help."""

from symnmf.cli import (  # noqa: I001
    demo,
    fit,
    rank,
    roll,
    risk,
    bootstrap,
    compare,
    export,
    inspect,
    generate,
    plan,
    solvers,
    bench,
)
from symnmf.cli.app import app, main

__all__ = [
    "app",
    "bench",
    "bootstrap",
    "compare",
    "demo",
    "export",
    "fit",
    "generate",
    "inspect",
    "main",
    "plan",
    "rank",
    "risk",
    "roll",
    "solvers",
]
