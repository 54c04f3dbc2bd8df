"""A study: which problems, which configurations and which budget, read from a file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.resources import files as package_files
from itertools import product
from math import isqrt
from pathlib import Path
from typing import Any

from symnmf.bench.measurement import measurement_names
from symnmf.bench.results_store import record_key
from symnmf.errors import InvalidFile, UnknownName
from symnmf.solvers.registry import available, find

STUDIES = package_files("symnmf.bench") / "studies"


@dataclass(frozen=True)
class Run:
    """A task on a problem with a configuration.

    Attributes:
        study: the study that it belongs to.
        task: what to do, a name of :mod:`symnmf.bench.tasks`.
        kind, n, k, seed: the problem.
        solver: row of the registry, or another name that the task knows.
        options: hyper-parameters.
        seconds, iterations: budget.
        label: name of the configuration in tables; the solver and its options when empty.
        claim: what the paper says about the configuration, if it says anything.
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
        """Digest of the work and its budget, without the names that tables give it."""
        return self._digest("study", "label", "claim")

    @property
    def work(self) -> str:
        """Digest of the work alone, whatever time it may take."""
        return self._digest("study", "label", "claim", "seconds")

    @property
    def about(self) -> dict[str, Any]:
        """The fields of its record."""
        return asdict(self)

    def _digest(self, *without: str) -> str:
        about = {k: v for k, v in asdict(self).items() if k not in without}
        if self.task == "published":  # another published form is another run
            start = self.options.get("start", "random")
            row = find(self.solver)
            about["stated"] = row.published(self.n, tail=self.kind == "tpdm", start=start)
        return record_key(about)

    @property
    def configuration(self) -> str:
        """Its name in tables: the label, or the solver and its options."""
        words = ", ".join(f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
                          for name, value in self.options.items())  # fmt: skip
        return self.label or (f"{self.solver} ({words})" if words else self.solver)


@dataclass(frozen=True)
class Part:
    """Problems and a task, under one budget.

    Attributes:
        task: the task of all its runs.
        kinds, sizes, seeds: its problems; ``k`` is a number, or ``"sqrt"``.
        solvers: rows of the registry; ``["all"]`` for every row, ``["standard"]`` or ``["study"]``
            for the rows of that tier, ``[""]`` for a task without a solver, or a name that the
            task knows.
        configurations: solver, or ``"every"`` → lists of options to try.
        defaults: whether each solver also runs with its default options.
        claims: further runs with what the paper says about them.
        seconds, iterations: budget of a run.
    """

    task: str
    kinds: tuple[str, ...]
    sizes: tuple[int, ...]
    seeds: tuple[int, ...]
    k: int | str
    solvers: tuple[str, ...]
    configurations: dict[str, list[dict[str, Any]]]
    defaults: bool
    claims: tuple[dict[str, Any], ...]
    seconds: float
    iterations: int

    def runs(self, study: str) -> Iterator[Run]:
        """Every run, small problems first."""
        rows = self._rows()
        for n, kind, seed in product(self.sizes, self.kinds, self.seeds):
            base = Run(
                study,
                self.task,
                kind,
                n,
                min(n, isqrt(n) if self.k == "sqrt" else int(self.k)),
                seed,
                seconds=self.seconds,
                iterations=self.iterations,
            )
            for solver in rows:
                tried = self.configurations.get(solver, []) + self.configurations.get("every", [])
                for options in [{}, *tried] if self.defaults else tried:
                    yield replace(base, solver=solver, options=options)
            for claim in self.claims:
                if kind in claim.get("kinds", self.kinds):
                    yield replace(
                        base,
                        solver=claim["solver"],
                        options=claim.get("options", {}),
                        k=min(n, int(claim.get("k", base.k))),
                        label=claim["label"],
                        claim=claim.get("paper", ""),
                    )

    def _rows(self) -> list[str]:
        known = available()
        found: list[str] = []
        for name in self.solvers:
            if name == "all":
                found += [row for row in known if row not in found]
            elif name in ("standard", "study"):
                found += [r for r in known if known[r].tier == name and r not in found]
            else:
                found.append(name)
        return found


@dataclass(frozen=True)
class Study:
    """The content of the file of a study.

    Attributes:
        name, title: name and title of the study.
        parts: its runs.
        columns: columns of its table.
        paper: figures that the paper publishes, a mapping each: ``kind``, ``n`` and
            ``configuration`` where they matter, and a figure for each column that has one.
        why: column → a sentence that explains why our figure differs.
    """

    name: str
    title: str
    parts: tuple[Part, ...]
    columns: tuple[str, ...]
    paper: tuple[dict[str, Any], ...]
    why: dict[str, str]

    def runs(self) -> list[Run]:
        """Every run once, part by part."""
        every = (run for part in self.parts for run in part.runs(self.name))
        return list({run.key: run for run in every}.values())


def names() -> list[str]:
    """Names of the studies that come with the package."""
    return sorted(p.name.removesuffix(".toml") for p in STUDIES.iterdir() if p.name != "grid.toml")


def load(
    study: str | Path,
    *,
    sizes: Sequence[int] = (),
    seeds: Sequence[int] = (),
    solvers: Sequence[str] = (),
    seconds: float | None = None,
) -> Study:
    """Read a study by name or from a file.

    Arguments:
        study: name of a study that comes with the package, or a .toml file.
        sizes, seeds: replace those of the study. A number is used by the parts that name it, and
            by the first part when none does.
        solvers: replace those of the study.
        seconds: replaces the budget of every run.
    """
    path = Path(str(study))
    if str(study) in names():
        text, name = (STUDIES / f"{study}.toml").read_text("utf-8"), str(study)
    elif path.suffix == ".toml" and path.is_file():
        text, name = path.read_text("utf-8", errors="replace"), path.stem
    else:
        raise UnknownName(
            "study",
            f"unknown study {str(study)!r}",
            f"Choose {', '.join(names())}, a .toml file, or a measurement: "
            f"{', '.join(measurement_names())}",
        )
    try:
        made = _study(name, tomllib.loads(text))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as broken:
        raise InvalidFile(
            str(study),
            f"is not a study: {broken}",
            "Compare it with those of the package",
        ) from broken
    parts = []
    for part in made.parts:
        first = part is made.parts[0]
        own_sizes = _chosen(sizes, part.sizes, {n for p in made.parts for n in p.sizes}, first)
        own_seeds = _chosen(seeds, part.seeds, {n for p in made.parts for n in p.seeds}, first)
        if own_sizes and own_seeds:
            parts.append(
                replace(
                    part,
                    sizes=own_sizes,
                    seeds=own_seeds,
                    solvers=tuple(solvers) or part.solvers,
                    claims=() if solvers else part.claims,
                    seconds=part.seconds if seconds is None else seconds,
                )
            )
    return replace(made, parts=tuple(parts))


def _chosen(
    given: Sequence[int], own: Sequence[int], known: set[int], first: bool
) -> tuple[int, ...]:
    """The given numbers that a part names; the first part also takes those that no part names."""
    if not given:
        return tuple(own)
    return tuple(n for n in given if n in own or (first and n not in known))


def _study(name: str, content: Mapping[str, Any]) -> Study:
    paper = content.get("paper", {"columns": (), "rows": ()})
    return Study(
        name=name,
        title=content["title"],
        parts=tuple(_part({**content, **part}) for part in content.get("parts", ({},))),
        columns=tuple(content.get("columns", ())),
        paper=tuple(dict(zip(paper["columns"], row, strict=True)) for row in paper["rows"]),
        why=dict(content.get("why", {})),
    )


def _part(content: Mapping[str, Any]) -> Part:
    configurations = {}
    if content.get("grid"):
        configurations = expand(tomllib.loads((STUDIES / "grid.toml").read_text("utf-8")))
    configurations |= expand(content.get("configurations", {}))
    return Part(
        task=content["task"],
        kinds=tuple(content.get("kinds", ("tpdm", "corr"))),
        sizes=tuple(content["sizes"]),
        seeds=tuple(content.get("seeds", (7, 42, 99))),
        k=content.get("k", "sqrt"),
        solvers=tuple(content.get("solvers", ("",))),
        configurations=configurations,
        defaults=bool(content.get("defaults", True)),
        claims=tuple(content.get("claims", ())),
        seconds=float(content.get("seconds", 60.0)),
        iterations=int(content.get("iterations", 10_000)),
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
