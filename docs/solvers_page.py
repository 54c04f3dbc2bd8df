"""Fill the tables of docs/solvers.md and docs/solvers/ from the registry.

`python -P docs/solvers_page.py` puts the rows of a family, of all, or one row by its name between
`<!-- rows NAME -->` and `<!-- end rows -->`. The words around them are written by hand.
"""

import re
from pathlib import Path

from symnmf.solvers.registry import Row, solvers

DOCS = Path(__file__).parent
PAGES = [DOCS / "solvers.md", *sorted((DOCS / "solvers").glob("*.md"))]
MARK = re.compile(r"(<!-- rows ([\w-]+) -->\n).*?(<!-- end rows -->)", re.DOTALL)
#: Family → its page.
HOME = {
    "F1": "multiplicative",
    "F2": "projected",
    "F3": "adaptive",
    "F4": "coordinate",
    "F5": "second-order",
    "F6": "splitting",
    "F7": "unfolded",
}


def home(row: Row) -> str:
    """The page of a row."""
    return "sketched" if row.name == "sketched" else HOME[row.family.split()[0]]


def table(columns: list[str], rows: list[list[str]]) -> str:
    """A table as markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def overview() -> str:
    """Every row with its page and its cost."""
    rows = [
        [f"[{r.name}](solvers/{home(r)}.md)", r.family, r.tier, r.products, str(r.memory)]
        for r in solvers().values()
    ]
    return table(["name", "family", "tier", "products", "arrays"], rows)


def details(chosen: list[Row]) -> str:
    """Some rows with their options."""
    rows = []
    for r in chosen:
        options = ", ".join(f"{name}={value}" for name, value in r.parameters.items()) or "none"
        rows.append(
            [f"`{r.name}`", r.tier, r.products, str(r.memory), options, r.paper, r.reference]
        )
    columns = ["name", "tier", "products", "arrays", "options", "the paper's", "from"]
    return table(columns, rows)


def filled(text: str) -> str:
    """A page with its tables."""

    def replaced(match: re.Match[str]) -> str:
        begin, name, end = match.groups()
        if name == "all":
            return begin + overview() + end
        chosen = [r for r in solvers().values() if name in (r.name, r.family.split()[0])]
        if not chosen:
            raise ValueError(f"no solver or family is called {name}")
        return begin + details(chosen) + end

    return MARK.sub(replaced, text)


if __name__ == "__main__":
    for path in PAGES:
        path.write_text(filled(path.read_text("utf-8")), encoding="utf-8")
