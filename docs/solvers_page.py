"""The views of the registry and of the sketched solver: its phases and its constants."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import cache, partial
from math import log10

from symnmf.options import Constraint
from symnmf.solvers.registry import Row, available
from symnmf.solvers.sketch_phases import TRANSITIONS
from symnmf.solvers.sketch_schedule import Schedule

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
        [f"[{r.name}](solvers/{home(r)}.md)", r.family, r.tier, r.products, str(r.arrays)]
        for r in available().values()
    ]
    return table(["name", "family", "tier", "products", "arrays"], rows)


def details(chosen: list[Row]) -> str:
    """Some rows with their options."""
    rows = []
    for r in chosen:
        options = ", ".join(f"{name}={value}" for name, value in r.parameters.items()) or "none"
        stated = ", ".join(f"{name}={value}" for name, value in r.published().items())
        rows.append(
            [f"`{r.name}`", r.tier, r.products, str(r.arrays), options, stated or "–", r.reference]
        )
    columns = ["name", "tier", "products", "arrays", "options", "as published", "from"]
    return f"{table(columns, rows)}\n{allowed(chosen)}"


def allowed(chosen: list[Row]) -> str:
    """What the options of some rows may be."""
    ranges = {
        (name, limits(constraint)): None
        for r in chosen
        for name, constraint in r.constraints.items()
    }
    rows = [[f"`{name}`", words] for name, words in ranges]
    return table(["option", "allowed"], rows) if rows else "No options.\n"


def limits(constraint: Constraint) -> str:
    """A constraint in words."""
    return constraint.words + (", or None" if constraint.optional else "")


def chosen(name: str) -> str:
    """The rows of a family, or one row, with their options."""
    return details([r for r in available().values() if name in (r.name, r.family.split()[0])])


def arrays(name: str) -> str:
    """n×k arrays that are alive in a fit with a solver."""
    return str(available()[name].arrays)


# ---- the sketched solver ----


def phases() -> str:
    """Its phases, with those that may follow each."""
    rows = []
    for phase, after in TRANSITIONS.items():
        about = (inspect.getdoc(phase) or "").splitlines()[0]
        following = ", ".join(f"`{other.__name__}`" for other in after) or "the end"
        rows.append([f"`{phase.__name__}`", about, following])
    return table(["phase", "in it", "followed by"], rows)


@cache
def meanings() -> dict[str, str]:
    """Constant of the schedule → the sentence below it in the source."""
    (owner,) = ast.parse(inspect.getsource(Schedule)).body
    assert isinstance(owner, ast.ClassDef)
    found = {}
    for field, below in zip(owner.body, owner.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            assert isinstance(below, ast.Expr), f"{field.target.id} has no sentence"
            found[field.target.id] = ast.literal_eval(below.value)
    return found


def schedule() -> str:
    """Its constants."""
    rows = [[f"`{name}`", constant(name), about] for name, about in meanings().items()]
    return table(["constant", "value", "meaning"], rows)


def constant(name: str) -> str:
    """A constant of the schedule; powers of ten as such."""
    value = getattr(Schedule(), name)
    power = log10(value)
    if power == round(power) and power <= -4:
        return "10" + str(round(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:g}" if power > -4 else f"{value:.5f}".rstrip("0")


VIEWS: dict[str, Callable[[], str]] = {
    "solver-count": lambda: str(len(available())),
    "solvers-all": overview,
    **{f"solvers-{name}": partial(chosen, name) for name in (*HOME, "sketched")},
    **{f"arrays-{name}": partial(arrays, name) for name in available()},
    "sketched-phases": phases,
    "sketched-schedule": schedule,
    **{f"schedule-{f.name}": partial(constant, f.name) for f in fields(Schedule)},
}
