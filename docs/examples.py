"""Run the python of a page: `python -P docs/examples.py docs/start.md --write`.

The ```python blocks of a page run one after the other in one namespace, in a folder of their own. A
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
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n?```text\n(.*?)^```\n)?", re.DOTALL | re.MULTILINE)


def filled(text: str, name: str = "page", said: list[str] | None = None) -> str:
    """The page with what its blocks print; an error of a block is raised.

    Arguments:
        text: of the page.
        name: for tracebacks.
        said: gets what each block prints, shown or not.
    """
    namespace: dict[str, object] = {"__name__": name}

    def run(match: re.Match[str]) -> str:
        code, shown = match.groups()
        line = text[: match.start(1)].count("\n")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(compile("\n" * line + code, name, "exec", dont_inherit=True), namespace)
        if said is not None:
            said.append(printed.getvalue())
        if shown is None:
            return match.group()
        lines = "".join(f"{part.rstrip()}\n" for part in printed.getvalue().splitlines())
        return f"```python\n{code}```\n\n```text\n{lines}```\n"

    with tempfile.TemporaryDirectory() as folder:
        here = Path.cwd()
        os.chdir(folder)
        try:
            return BLOCK.sub(run, text)
        finally:
            os.chdir(here)


def main(arguments: list[str]) -> int:
    """Run pages; with --write, put what they print into them."""
    stale = 0
    for path in (Path(a) for a in arguments if a != "--write"):
        old = path.read_text("utf-8")
        new = filled(old, str(path))
        if new != old and "--write" in arguments:
            path.write_text(new, encoding="utf-8")
        elif new != old:
            stale = 1
            sys.stderr.write(f"{path} does not show what its examples print\n")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
