"""Fill the generated parts of the pages: `python docs/generated.py --write`, or `--check`.

A generated part stands between `<!-- generated: NAME -->` and `<!-- end -->`. NAME is a view: a
function without arguments that returns markdown. The views are in insert_results.py (results/),
paper_tables.py and plateau_picture.py (results/ beside the paper's figures), solvers_page.py (the
registry), scaling_model.py (the model of docs/scaling.md), licences_page.py (installed packages)
and tests/package_graph.py.
"""

from __future__ import annotations

import argparse
import importlib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
MARK = re.compile(r"(?<!`)(<!-- generated: ([\w.-]+) -->)(.*?)(<!-- end -->)", re.DOTALL)
View = Callable[[], str]
#: Modules of this folder whose VIEWS are shown.
MODULES = (
    "insert_results", "paper_tables", "plateau_picture", "solvers_page", "scaling_model",
    "licences_page",
)  # fmt: skip


class Missing(Exception):
    """Something that a page shows cannot be generated."""


def pages() -> list[Path]:
    """README, CONTRIBUTING and every page of the documentation."""
    found = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    return [page for page in found if "_build" not in page.parts]


def views() -> dict[str, View]:
    """All views by name."""
    sys.path += [str(ROOT / folder) for folder in ("docs", "tests")]
    found: dict[str, View] = {"package-graph": importlib.import_module("package_graph").table}
    for module in MODULES:
        for name, view in importlib.import_module(module).VIEWS.items():
            if name in found:
                raise Missing(f"two views are called {name}")
            found[name] = view
    return found


def filled(text: str, known: Mapping[str, View]) -> str:
    """A page with its generated parts.

    A part that has several lines, or gets several, stands between empty lines.
    """

    def replaced(match: re.Match[str]) -> str:
        begin, name, old, end = match.groups()
        if name not in known:
            raise Missing(f"no view is called {name}")
        made = known[name]()
        block = "\n" in old or "\n" in made
        return f"{begin}\n\n{made.strip()}\n\n{end}" if block else f"{begin}{made}{end}"

    return MARK.sub(replaced, text)


def command(
    arguments: Sequence[str], about: str, change: Callable[[Path, str], str], remedy: str
) -> int:
    """Write the pages that change, or name them: the command line of every generator.

    Arguments:
        arguments: ``--write`` or ``--check``, and pages; all pages by default.
        about: what the generator does.
        change: from a page and its text to the text that it should have.
        remedy: what to run when a page is not what it should be.

    Returns:
        The exit code.
    """
    parser = argparse.ArgumentParser(description=about)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--write", action="store_true", help="write the pages that change")
    mode.add_argument("--check", action="store_true", help="fail when a page would change")
    parser.add_argument("pages", nargs="*", type=Path, help="all pages by default")
    given = parser.parse_args(arguments)
    stale = []
    for page in given.pages or pages():
        old = page.read_text("utf-8")
        new = change(page, old)
        if new == old:
            continue
        stale.append(str(page.resolve().relative_to(ROOT)))
        if given.write:
            page.write_text(new, encoding="utf-8")
    if stale and given.check:
        sys.stderr.write(f"Out of date: {', '.join(stale)}. {remedy}.\n")
        return 1
    return 0


def main(arguments: Sequence[str]) -> int:
    """Fill or check the generated parts of the pages."""
    known = views()

    def change(page: Path, text: str) -> str:
        return filled(text, known)

    return command(
        arguments, "Fill the generated parts of the pages.", change, "Run `make numbers`"
    )


if __name__ == "__main__":
    import generated  # the same module as the one that the views import

    try:
        sys.exit(generated.main(sys.argv[1:]))
    except generated.Missing as missing:
        sys.exit(f"{missing}")
