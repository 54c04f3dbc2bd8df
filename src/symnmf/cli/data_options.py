"""Options of all commands that take data: which data, how to read them, which dependence."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symnmf.cli.estimator_options import ESTIMATOR_OPTIONS, estimator_arguments
from symnmf.cli.shared_options import Device, choices, fits_on
from symnmf.defaults import DEPENDENCE, DEPENDENCES, MAX_MISSING, MISSING, MISSING_POLICIES

if TYPE_CHECKING:
    from symnmf.analysis.loading import LoadedData
    from symnmf.data import Panel

#: Kinds of data that an option names.
SOURCES = ("prices", "returns", "values", "matrix")
#: What is wrong with a matrix where returns are needed, and the remedy.
NO_DAYS = ("is a matrix, which has no days", "Pass a table of prices or returns")
#: Parameter of a command → argument of :func:`symnmf.read_panel`.
READING = {
    "start": "start",
    "end": "end",
    "jumps": "jumps",
    "columns": "columns",
    "drop": "drop",
    "decimal": "decimal",
    "dates": "dates",
    "sheet": "sheet",
    "diagonal": "diagonal",
}


@dataclass(frozen=True)
class DataRequest:
    """The data that a command was asked to read, and how.

    Attributes:
        path: the file or folder.
        kind: what it holds; ``"auto"`` if that is to be found out.
        missing, max_missing: policy for missing numbers.
        reading: further arguments of :func:`symnmf.read_panel`.
        dependence: kind of dependence.
        estimator: values of the options of the estimator.
        device: word for the device of the fits; None for the default.
    """

    path: Path
    kind: str
    missing: str
    max_missing: float
    reading: dict[str, Any]
    dependence: str
    estimator: dict[str, Any] = field(default_factory=dict)
    device: str | None = None

    def arguments(self) -> dict[str, Any]:
        """Keywords of :func:`symnmf.analyse`."""
        return {
            "kind": self.kind,
            "dependence": self.dependence,
            "dependence_options": self.dependence_options(),
            "missing": self.missing,
            "max_missing": self.max_missing,
            "reading": self.reading,
        }

    def dependence_options(self) -> dict[str, Any]:
        """Keywords of the estimator."""
        return estimator_arguments(self.dependence, self.estimator)

    def load(self) -> LoadedData:
        """The matrix S, and the panel it was estimated from."""
        from symnmf.analysis.loading import load_data

        return load_data(
            self.path, self.kind, self.dependence, self.dependence_options(), self.missing,
            self.max_missing, self.reading,
        )  # fmt: skip

    def panel(self) -> Panel:
        """The table of returns."""
        from symnmf.data import IsMatrix, read_panel
        from symnmf.errors import InvalidInput, speaking

        if self.kind == "matrix":
            raise InvalidInput(
                "--matrix", "cannot be used here", "Pass a table of prices or returns"
            )
        reading = {name: value for name, value in self.reading.items() if name != "diagonal"}
        with speaking({"table": str(self.path), "returns": str(self.path)}):
            try:
                return read_panel(
                    self.path, kind=self.kind, missing=self.missing, max_missing=self.max_missing,
                    **reading,
                )  # fmt: skip
            except IsMatrix as matrix:
                raise InvalidInput(str(self.path), *NO_DAYS) from matrix


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=annotation)


def _option(kind: Any, flag: str, words: str, **more: Any) -> Any:
    return Annotated[kind, typer.Option(flag, help=words, **more)]


def _source(name: str, words: str) -> inspect.Parameter:
    return _parameter(name, _option(Path | None, f"--{name}", f"{words}; no default."), None)


def data_parameters(matrix: bool) -> list[inspect.Parameter]:
    """The parameters that :func:`takes_data` adds to a command.

    Arguments:
        matrix: whether the command takes a matrix as well as a table.
    """
    found = "prices, returns or a matrix" if matrix else "prices or returns"
    words = f"Table or matrix; whether it holds {found} is found and said (no default)."
    added = [
        _parameter(
            "file", Annotated[Path | None, typer.Argument(help=words, show_default=False)], None
        ),
        _source("prices", "Table of prices"),
        _source("returns", "Table of returns"),
        _source("values", "Table of numbers taken as they are, such as river levels or delays"),
    ]
    if matrix:
        text = "Dependence matrix: a table, .npy, .npz or a folder"
        added.append(_source("matrix", text))
        text = "Diagonal of a matrix: keep it without a check, or make it unit; checked by default."
        added.append(
            _parameter(
                "diagonal",
                _option(str | None, "--diagonal", text, **choices(("keep", "unit"))),
                None,
            )
        )
    text = "tail (who crashes together) or correlation (who moves together)."
    added.append(
        _parameter(
            "dependence", _option(str, "--dependence", text, **choices(DEPENDENCES)), DEPENDENCE
        )
    )
    for o in ESTIMATOR_OPTIONS:
        more = choices(o.choices) if o.choices else {}
        if o.type is bool:
            added.append(_parameter(o.parameter, _option(bool, o.flag, o.help), False))
        else:
            added.append(
                _parameter(o.parameter, _option(o.type | None, o.flag, o.help, **more), None)
            )
    added += [
        _parameter(
            "missing",
            _option(str, "--missing", "Policy for missing numbers.", **choices(MISSING_POLICIES)),
            MISSING,
        ),
        _parameter(
            "max_missing",
            _option(
                float, "--max-missing", "Share that --missing drop-columns tolerates in a column."
            ),
            MAX_MISSING,
        ),
        _parameter(
            "start",
            _option(
                str | None, "--from", "First date, as 2015, 2015-06 or 2015-06-30; all by default."
            ),
            None,
        ),
        _parameter("end", _option(str | None, "--to", "Last date; all by default."), None),
        _parameter(
            "simple_returns",
            _option(bool, "--simple-returns", "Simple instead of log returns of prices."),
            False,
        ),
        _parameter(
            "jumps",
            _option(
                str,
                "--jumps",
                "Splits and wrong figures: name them, mask them, or stop.",
                **choices(("keep", "mask", "error")),
            ),
            "keep",
        ),
        _parameter(
            "columns",
            _option(
                str | None,
                "--columns",
                "Columns of a long table, as date,ticker,close; found by default.",
            ),
            None,
        ),
        _parameter(
            "drop",
            _option(
                str | None, "--drop", "Names of columns to leave out, as A,B; none by default."
            ),
            None,
        ),
        _parameter(
            "decimal",
            _option(
                str | None, "--decimal", "Decimal mark; found by default.", **choices((".", ","))
            ),
            None,
        ),
        _parameter(
            "dates",
            _option(
                str | None,
                "--dates",
                "Order of dates such as 01/02/2024; found by default.",
                **choices(("day-first", "month-first")),
            ),
            None,
        ),
        _parameter(
            "sheet",
            _option(str | None, "--sheet", "Sheet of a workbook; the first by default."),
            None,
        ),
        _parameter("device", Device, None),
    ]
    return added


def takes_data(*, matrix: bool) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of :func:`data_parameters`, and a :class:`DataRequest` for them.

    Arguments:
        matrix: whether the command takes a matrix as well as a table.
    """
    added = data_parameters(matrix)
    names = [p.name for p in added]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True).parameters.values()
        rest = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own if p.name != "data"]

        @wraps(command)
        def called_with(**given: Any) -> None:
            chosen = {name: given.pop(name) for name in names}
            with fits_on(chosen["device"]):
                command(data=request(chosen), **given)

        # The table of the options is made here: typer reads the signature and the annotations.
        signature = inspect.Signature([*rest[:1], *added, *rest[1:]])
        called_with.__signature__ = signature  # type: ignore[attr-defined]
        called_with.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
        del called_with.__wrapped__
        return called_with

    return decorate


def request(given: Mapping[str, Any]) -> DataRequest:
    """What a command was asked to read, from the values of its options.

    Raises:
        InvalidInput: no data were named, or several.
    """
    kind, path = one_source(given)
    reading = {name: given[key] for key, name in READING.items() if given.get(key) is not None}
    if given["simple_returns"]:
        reading["returns"] = "simple"
    estimator = {o.parameter: given[o.parameter] for o in ESTIMATOR_OPTIONS}
    return DataRequest(
        path, kind, given["missing"], given["max_missing"], reading, given["dependence"], estimator,
        given.get("device"),
    )  # fmt: skip


def one_source(given: Mapping[str, Any]) -> tuple[str, Path]:
    """Kind and path of the data.

    Raises:
        InvalidInput: no data were named, or several.
    """
    from symnmf.errors import InvalidInput

    offered = [name for name in SOURCES if name in given]
    named = {name: given[name] for name in ("file", *offered) if given.get(name) is not None}
    every = ", ".join(f"--{name}" for name in offered)
    if not named:
        raise InvalidInput("input", "none was given", f"Pass a file, or exactly one of {every}")
    if len(named) > 1:
        words = [str(named["file"]) if name == "file" else f"--{name}" for name in named]
        raise InvalidInput(
            "input", f"{' and '.join(words)} were given together", f"Pass exactly one of {every}"
        )
    name, path = next(iter(named.items()))
    return ("auto" if name == "file" else name), Path(path)
