"""Options of the estimators of dependence, declared once for all commands.

A row names a keyword of :func:`symnmf.tail_dependence` or :func:`symnmf.abs_correlation` and the
option that sets it. Every command that takes data offers all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from symnmf.defaults import FRACTIONS, TAIL_ESTIMATOR, TAIL_ESTIMATORS, TAILS


@dataclass(frozen=True)
class EstimatorOption:
    """An option of the command line for a keyword of an estimator.

    Attributes:
        parameter: name of the parameter of the command.
        flag: the option.
        keyword: the keyword of the estimator that it sets.
        type: type of the value.
        help: what it does; the default is part of it.
        choices: allowed words.
        convert: the value of the keyword, from that of the option; None leaves it out.
        at_most: the largest number.
    """

    parameter: str
    flag: str
    keyword: str
    type: type
    help: str
    choices: tuple[str, ...] = ()
    convert: Callable[[Any], Any] = lambda value: value
    at_most: float | None = None


def _number_or_word(value: str) -> str | float:
    try:
        return float(value)
    except ValueError:
        return value


#: The declared options. ``remove`` is a list: all options that set it are joined.
ESTIMATOR_OPTIONS = (
    EstimatorOption(
        "tail", "--tail", "tail", str,
        "lower (losses, the default) or upper (gains), for --dependence tail.", TAILS,
    ),
    EstimatorOption(
        "q", "--q", "q", float,
        "Share of days taken as extreme, for --dependence tail (default "
        f"{', '.join(f'{q:g} for {name}' for name, q in FRACTIONS.items())}).",
        at_most=0.5,
    ),
    EstimatorOption(
        "count", "--count", "count", int,
        "Number of extreme days, in place of --q; no default.",
    ),
    EstimatorOption(
        "estimator", "--estimator", "estimator", str,
        f"Estimator of the tail dependence (default {TAIL_ESTIMATOR}).", TAIL_ESTIMATORS,
    ),
    EstimatorOption(
        "weight", "--weight", "weight", str,
        "Weight of extreme days of --estimator ramp; the default is that of tail_dependence.",
    ),
    EstimatorOption(
        "volatility", "--volatility", "volatility", str,
        "none (the default), or ewma: divide returns by their exponentially weighted volatility.",
        ("none", "ewma"),
    ),
    EstimatorOption(
        "margins", "--margins", "margins", str,
        "Margins of --estimator global and pairwise; the default is that of tail_dependence.",
        ("frechet", "pareto", "gpd", "none"),
    ),
    EstimatorOption(
        "decluster", "--decluster", "decluster", int,
        "Rows within which extreme days are one event, for --dependence tail (default 0).",
    ),
    EstimatorOption(
        "allow_few", "--allow-few", "allow_few", bool,
        "Accept fewer than 30 extreme days.",
        convert=lambda value: value or None,
    ),
    EstimatorOption(
        "shrinkage", "--shrinkage", "shrinkage", str,
        "Of a correlation: auto (the default), ledoit-wolf, none or a number; of tails: none (the "
        "default), soft, adaptive or baseline.",
        convert=_number_or_word,
    ),
    EstimatorOption(
        "market", "--market", "remove", str,
        "keep (the default) or remove the market, the leading component of the returns.",
        ("keep", "remove"),
        lambda value: "market" if value == "remove" else None,
    ),
    EstimatorOption(
        "noise", "--noise", "remove", str,
        "keep (the default) or remove the noise of the correlation.",
        ("keep", "remove"),
        lambda value: "noise" if value == "remove" else None,
    ),
)  # fmt: skip


def estimator_arguments(dependence: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of the estimator of a dependence, from the values of the options.

    Arguments:
        dependence: ``"tail"`` or ``"correlation"``.
        given: values of the options by parameter; None where an option was not given.

    Raises:
        InvalidInput: a value is out of range, or the estimator has no such keyword.
    """
    from inspect import signature

    from symnmf.dependence import estimators
    from symnmf.errors import InvalidInput

    known = signature(estimators()[dependence]).parameters
    found: dict[str, Any] = {}
    for option in ESTIMATOR_OPTIONS:
        value = given.get(option.parameter)
        value = None if value is None else option.convert(value)
        if value is None:
            continue
        if option.keyword not in known:
            raise InvalidInput(
                option.flag,
                f"has no meaning for --dependence {dependence}",
                f"Leave it out, or pass --dependence {_other(option.keyword)}",
            )
        if option.at_most is not None and value > option.at_most:
            raise InvalidInput(
                option.flag, f"got {value:g}", f"Pass a number of at most {option.at_most:g}"
            )
        if option.keyword == "remove":
            found["remove"] = (*found.get("remove", ()), value)
        else:
            found[option.keyword] = value
    return found


def _other(keyword: str) -> str:
    """The dependence whose estimator has a keyword."""
    from inspect import signature

    from symnmf.dependence import estimators

    return next(
        (name for name, made in estimators().items() if keyword in signature(made).parameters),
        "tail",
    )
