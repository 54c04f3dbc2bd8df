"""A measurement: tables of figures that are measured again and compared with published ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from importlib import import_module
from importlib.resources import files as package_files
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from symnmf.bench.results_store import SCHEMA, Store, is_current, record_key
from symnmf.errors import InvalidInput, UnknownName

if TYPE_CHECKING:
    import pandas as pd
    from plotly.graph_objects import Figure

#: Package of the measurements, one per module.
PACKAGE = "symnmf.bench.measurements"
Cell = str | int | float | None


@dataclass(frozen=True)
class MeasuredRow:
    """A row of a table.

    Attributes:
        measurement, table: names of its measurement and its table.
        labels: heading → what the row is about.
        found: heading → what was measured.
    """

    measurement: str
    table: str
    labels: dict[str, Cell]
    found: dict[str, Cell]

    @property
    def key(self) -> str:
        """Digest of what the row is about."""
        return record_key(self.about)

    @property
    def about(self) -> dict[str, Any]:
        """The fields of its record that are not measured."""
        return {"measurement": self.measurement, "table": self.table, "labels": self.labels}

    @property
    def place(self) -> tuple[Any, ...]:
        """Its table and its labels: the same row of another run has the same place."""
        return (self.table, *self.labels.items())

    @classmethod
    def of(cls, record: dict[str, Any]) -> MeasuredRow:
        """A row from its record."""
        return cls(record["measurement"], record["table"], record["labels"], record["found"])


@dataclass(frozen=True)
class MeasuredTable:
    """The columns of a table, and which figures count as worse.

    Attributes:
        name: name of the measurement, followed by that of the table where there are several.
        title: a line about the table.
        labels: headings that name a row.
        figures: headings of what is measured.
        worse: figure → the direction in which it gets worse; other figures are not compared.
        compared: first labels of the rows that are compared; all rows when it is empty.
    """

    name: str
    title: str
    labels: tuple[str, ...]
    figures: tuple[str, ...]
    worse: dict[str, Literal["higher", "lower"]]
    compared: tuple[str, ...] = ()

    @property
    def headings(self) -> tuple[str, ...]:
        """All columns."""
        return self.labels + self.figures

    def row(self, *cells: Any) -> MeasuredRow:
        """A row from its cells, in the order of the headings."""
        plain = [_plain(cell) for cell in cells]
        filled = dict(zip(self.headings, plain, strict=True))
        labels = {heading: filled.pop(heading) for heading in self.labels}
        return MeasuredRow(self.name.partition("-")[0], self.name, labels, filled)


@dataclass(frozen=True)
class Choices:
    """What the caller chose instead of the defaults of a measurement.

    Attributes:
        sizes: instead of its own sizes.
        solvers: instead of all rows that it compares.
        seconds: budget of a run.
        data: folder of a measurement that reads or writes data.
        scratch: folder in which a measurement may keep what it has finished; never a choice.
        note: function called with a line of progress.
    """

    sizes: tuple[int, ...] = ()
    solvers: tuple[str, ...] = ()
    seconds: float | None = None
    data: Path | None = None
    note: Callable[[str], None] = lambda line: None
    scratch: Path | None = None

    @property
    def made(self) -> list[str]:
        """Names of the choices that were made."""
        choices = (f.name for f in fields(self) if f.name not in ("note", "scratch"))
        return [name for name in choices if getattr(self, name)]

    def size(self, default: int) -> int:
        """The one size of a measurement that has one."""
        if len(self.sizes) > 1:
            raise InvalidInput("--sizes", f"got {len(self.sizes)} sizes", "Pass one size")
        return self.sizes[0] if self.sizes else default

    def file(self, name: str) -> Path:
        """A file of the data folder."""
        if self.data is None or not (self.data / name).is_file():
            got = "is not given" if self.data is None else f"{self.data} has no {name}"
            raise InvalidInput("--data", got, f"Pass a folder that holds {name}")
        return self.data / name


@dataclass(frozen=True)
class Measurement:
    """Tables, and the function that measures their rows.

    Attributes:
        name, title: name and title of the measurement.
        tables: what it fills.
        options: the fields of :class:`Choices` that it takes.
        measure: yields rows as they are measured; None when the tests measure them.
        named: whether the labels of a row name all choices, so that a part of the rows can be
            compared and published.
        draw: makes a figure of the rows of the first table.
    """

    name: str
    title: str
    tables: tuple[MeasuredTable, ...]
    options: tuple[str, ...] = ()
    measure: Callable[[Choices], Iterator[MeasuredRow]] | None = None
    named: bool = False
    draw: Callable[[pd.DataFrame], Figure] | None = None

    def check(self, choices: Choices, publish: bool = False) -> None:
        """Raise an error where a choice does not suit the measurement."""
        for name in choices.made:
            if name not in self.options:
                option = "--budget" if name == "seconds" else f"--{name}"
                raise InvalidInput(option, f"{self.name} does not take this option", "Leave it out")
        if publish and not self.comparable(choices):
            chosen = ", ".join(name for name in choices.made if name != "data")
            raise InvalidInput(
                "--publish", f"got other {chosen} than the published ones", "Leave out one of them"
            )

    def comparable(self, choices: Choices) -> bool:
        """Whether the rows can be compared with the published ones."""
        return self.named or set(choices.made) <= {"data"}


def published_rows(
    measurement: Measurement, store: Store, *, any_numerics: bool = False
) -> list[MeasuredRow]:
    """The published rows of all tables.

    Arguments:
        measurement: what they belong to.
        store: store of the rows.
        any_numerics: also rows that were measured with other digits of the solvers.
    """
    return [
        MeasuredRow.of(record)
        for record in store.results(measurement.name)
        if is_current(record) or (any_numerics and record.get("schema") == SCHEMA)
    ]


def measurement_names() -> list[str]:
    """Names of the measurements that come with the package.

    Example:
        >>> "speed" in measurement_names()
        True
    """
    modules = (package_files("symnmf.bench") / "measurements").iterdir()
    found = (module.name for module in modules)
    return sorted(name[:-3] for name in found if name.endswith(".py") and name[0] != "_")


def find_measurement(name: str) -> Measurement:
    """A measurement by its name; only its module is imported."""
    if name not in measurement_names():
        choices = ", ".join(measurement_names())
        raise UnknownName("measurement", f"unknown name {name!r}", f"Choose {choices}")
    return cast("Measurement", import_module(f"{PACKAGE}.{name}").MEASUREMENT)


def _plain(cell: Any) -> Cell:
    """Text and whole numbers stay; other numbers become ones that JSON can hold, or None."""
    if isinstance(cell, str | int) or cell is None:
        return cell
    return float(cell) if isfinite(cell) else None
