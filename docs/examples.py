"""Run the examples of a page: `python docs/examples.py --write docs/start.md`, or `--check`.

The ```python blocks of a page run one after the other in one namespace, in a temporary folder. A
```text block right after one of them holds what it prints: `--write` puts it there.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

from generated import command

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


def filled(text: str, name: str = "page") -> str:
    """The page with what its blocks print; an error of a block is raised.

    Arguments:
        text: of the page.
        name: for tracebacks.
    """
    namespace: dict[str, object] = {"__name__": name}

    def run(match: re.Match[str]) -> str:
        code, shown = match.groups()
        line = text[: match.start(1)].count("\n")
        output = io.StringIO()
        with contextlib.redirect_stdout(output), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile("\n" * line + code, name, "exec", dont_inherit=True), namespace)
        if shown is None:
            return match.group()
        lines = "".join(f"{part.rstrip()}\n" for part in output.getvalue().splitlines())
        return f"```python\n{code}```\n\n```text\n{lines}```\n"

    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        os.chdir(folder)
        try:
            return BLOCK.sub(run, text)
        finally:
            os.chdir(here)


def main(arguments: Sequence[str]) -> int:
    """Run the examples of pages; write or check what they print."""

    def change(page: Path, text: str) -> str:
        shown = "```python" in text and page.name != "README.md"  # whose commands come first
        return filled(text, str(page)) if shown else text

    about, remedy = "Run the examples of pages.", "Run `python docs/examples.py --write`"
    return command(arguments, about, change, remedy)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
