"""The command line: parse, call, print. One module a command or two; help lists them so."""

from symnmf.cli import demo, fit, inspect, through_time, matrices, registry, bench  # noqa: I001
from symnmf.cli.app import app, main

__all__ = [
    "app",
    "bench",
    "demo",
    "fit",
    "inspect",
    "main",
    "matrices",
    "registry",
    "through_time",
]
