"""A study: which problems, which configurations, which budget; read from a file."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files as package_files
from itertools import product
from math import isqrt
from pathlib import Path
from typing import Any

from symnmf import __version__
from symnmf.errors import InvalidFile, UnknownName
from symnmf.solvers.registry import solvers

#: Version of what a result looks like; a change makes every run new.
SCHEMA = 1
STUDIES = package_files("symnmf.bench") / "studies"


@dataclass(frozen=True)
class Run:
    """One thing to do: a task on a problem with a configuration.

    Attributes:
        study: it belongs to.
        task: what to do, a name of :mod:`symnmf.bench.tasks`.
        kind, n, k, seed: the problem.
        solver: row of the registry, or another name that the task knows.
        options: hyper-parameters.
        seconds, iterations: budget.
        label: of the configuration in tables; the solver and its options when empty.
        claim: what the paper says of it, where it says something.
    """

    study: str
    task: str
    kind: str
    n: int
    k: int
    seed: int
    solver: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    seconds: float = 60.0
    iterations: int = 10_000
    label: str = ""
    claim: str = ""

    @property
    def key(self) -> str:
        """What makes this run this run, at this version of the code."""
        same = {k: v for k, v in asdict(self).items() if k not in ("study", "label", "claim")}
        text = json.dumps({"schema": SCHEMA, "version": __version__, **same}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:20]

    @property
    def configuration(self) -> str:
        """Solver and options in words."""
        words = ", ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
                          for name, value in self.options.items())  # fmt: skip
        return self.label or (f"{self.solver} ({words})" if words else self.solver)


@dataclass(frozen=True)
class Study:
    """A study as it stands in its file.

    Attributes:
        name, title: of the study.
        task: of all its runs.
        kinds, sizes, seeds: its problems; ``k`` a number, or ``"sqrt"``.
        solvers: rows; ``["all"]`` for every one in the registry, ``["default"]`` for those of that
            tier, ``[""]`` where the task needs none.
        configurations: solver → lists of options to try beside the defaults.
        claims: further runs with what the paper says of them.
        seconds, iterations: budget of a run.
        columns: of the table.
        paper: published figures: kind, n, column, value, and the configuration where one is meant.
    """

    name: str
    title: str
    task: str
    kinds: tuple[str, ...]
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    k: int | str
    solvers: tuple[str, ...]
    configurations: dict[str, list[dict[str, Any]]]
    claims: tuple[dict[str, Any], ...]
    seconds: float
    iterations: int
    columns: tuple[str, ...]
    paper: tuple[dict[str, Any], ...]

    def runs(self) -> Iterator[Run]:
        """Every run, small problems first."""
        rows = self._rows()
        for n, kind, seed in product(self.sizes, self.kinds, self.seeds):
            base = Run(
                self.name,
                self.task,
                kind,
                n,
                min(n, isqrt(n) if self.k == "sqrt" else int(self.k)),
                seed,
                seconds=self.seconds,
                iterations=self.iterations,
            )
            for solver in rows:
                for options in [{}, *self.configurations.get(solver, [])]:
                    yield replace(base, solver=solver, options=options)
            for claim in self.claims:
                if kind in claim.get("kinds", self.kinds) and n in claim.get("sizes", self.sizes):
                    yield replace(
                        base,
                        solver=claim["solver"],
                        options=claim.get("options", {}),
                        k=min(n, int(claim.get("k", base.k))),
                        label=claim["label"],
                        claim=claim["paper"],
                    )

    def _rows(self) -> list[str]:
        known = solvers()
        found: list[str] = []
        for name in self.solvers:
            if name == "all":
                found += [row for row in known if row not in found]
            elif name == "default":
                found += [r for r in known if known[r].tier == "default" and r not in found]
            else:
                found.append(name)
        return found


def names() -> list[str]:
    """Studies that come with the package."""
    return sorted(p.name.removesuffix(".toml") for p in STUDIES.iterdir() if p.name != "grid.toml")


def load(
    study: str | Path,
    *,
    sizes: Sequence[int] = (),
    seeds: Sequence[int] = (),
    solvers: Sequence[str] = (),
    seconds: float | None = None,
) -> Study:
    """Read a study by name or from a file; what is given replaces what stands there."""
    path = Path(str(study))
    if str(study) in names():
        text, name = (STUDIES / f"{study}.toml").read_text("utf-8"), str(study)
    elif path.suffix == ".toml" and path.is_file():
        text, name = path.read_text("utf-8", errors="replace"), path.stem
    else:
        raise UnknownName(
            "study",
            f"unknown study {str(study)!r}",
            f"Choose {', '.join(names())}, or a .toml file",
        )
    try:
        content = tomllib.loads(text)
        made = _study(name, content)
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as broken:
        raise InvalidFile(str(study), f"is no study: {broken}", "Compare it with ours") from broken
    return replace(
        made,
        sizes=tuple(sizes) or made.sizes,
        seeds=tuple(seeds) or made.seeds,
        solvers=tuple(solvers) or made.solvers,
        seconds=made.seconds if seconds is None else seconds,
    )


def _study(name: str, content: Mapping[str, Any]) -> Study:
    configurations = {}
    if content.get("grid"):
        configurations = expand(tomllib.loads((STUDIES / "grid.toml").read_text("utf-8")))
    configurations |= expand(content.get("configurations", {}))
    return Study(
        name=name,
        title=content["title"],
        task=content["task"],
        kinds=tuple(content.get("kinds", ("tpdm", "corr"))),
        sizes=tuple(content["sizes"]),
        seeds=tuple(content.get("seeds", (7, 42, 99))),
        k=content.get("k", "sqrt"),
        solvers=tuple(content.get("solvers", ("",))),
        configurations=configurations,
        claims=tuple(content.get("claims", ())),
        seconds=float(content.get("seconds", 60.0)),
        iterations=int(content.get("iterations", 10_000)),
        columns=tuple(content.get("columns", ())),
        paper=tuple(content.get("paper", ())),
    )


def expand(grid: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Lists of options for each solver: every combination of the values in a table.

    Example:
        >>> expand({"adam": {"beta1": [0.5, 0.9], "beta2": [0.99]}})
        {'adam': [{'beta1': 0.5, 'beta2': 0.99}, {'beta1': 0.9, 'beta2': 0.99}]}
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for solver, tables in grid.items():
        for table in tables if isinstance(tables, list) else [tables]:
            values = [v if isinstance(v, list) else [v] for v in table.values()]
            combinations = (dict(zip(table, choice, strict=True)) for choice in product(*values))
            found.setdefault(solver, []).extend(combinations)
    return found
