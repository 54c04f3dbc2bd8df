"""The command line: parse, call, print. One module a command or two."""

from symnmf.cli import bench, demo, fit, matrices, registry, through_time
from symnmf.cli.app import app, main

__all__ = ["app", "bench", "demo", "fit", "main", "matrices", "registry", "through_time"]
