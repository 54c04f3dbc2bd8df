"""``symnmf risk``."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symnmf.cli.app import app
from symnmf.cli.data_options import DataRequest, takes_data
from symnmf.cli.fitted import fit_of
from symnmf.cli.output import Output
from symnmf.cli.quick_start import load_libraries
from symnmf.cli.shared_options import Block, Force, Groups, Json, ResultOf, Seed
from symnmf.defaults import RESAMPLES, SEED

if TYPE_CHECKING:
    from symnmf.grouping.crash_answers import JointCrash, ReturnLevel
    from symnmf.grouping.position_risk import PortfolioRisk

#: Instruments and days that are listed.
LISTED, LISTED_DAYS = 10, 5


@app.command()
@takes_data(matrix=False)
def risk(
    context: typer.Context,
    data: DataRequest,
    k: Groups = None,
    weights: Annotated[
        Path | None,
        typer.Option(
            "--weights",
            help="Table with a name and a weight in each row, negative for short positions; equal "
            "weights by default.",
        ),
    ] = None,
    together: Annotated[
        str | None,
        typer.Option(
            "--together",
            help="Probability that these instruments crash on one day, as A,B,C, or all; not "
            "asked by default.",
        ),
    ] = None,
    at_least: Annotated[
        int | None,
        typer.Option("--at-least", help="How many of --together; all of them by default."),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(
            "--level", help="Share of days that are a crash for each instrument (default 0.05)."
        ),
    ] = None,
    loss: Annotated[
        float | None,
        typer.Option("--loss", help="Size of a crash in place of --level, as 0.03; no default."),
    ] = None,
    period: Annotated[
        int | None,
        typer.Option(
            "--return-period",
            help="Days in which the portfolio loses more than its return level once; not asked by "
            "default.",
        ),
    ] = None,
    draws: Annotated[
        int, typer.Option("--draws", help="Resampled histories for the intervals; 0 for none.")
    ] = RESAMPLES,
    block: Block = None,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the tables; none by default.")
    ] = None,
    result: ResultOf = None,
    seed: Seed = SEED,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Show which groups and instruments carry the risk of a portfolio, and how crashes meet.

    The file may be the folder of a fit, whose groups and data are then used.

    \b
    Examples:
      symnmf risk prices.csv
      symnmf risk symnmf-out --weights portfolio.csv
      symnmf risk symnmf-out --together XOM,CVX,COP --at-least 2 --level 0.02
      symnmf risk symnmf-out --weights portfolio.csv --return-period 250
    """
    load_libraries()
    from symnmf.data.portfolio_weights import read_weights
    from symnmf.grouping.position_risk import portfolio_risk

    shown = Output(as_json)
    given: Any = None if weights is None else read_weights(weights)
    data, panel, made = fit_of(data, k, result, seed)
    tail = data.estimator.get("tail") or "lower"
    found = portfolio_risk(
        made, panel, given, dependence=data.dependence, tail=tail, draws=draws, block=block,
        seed=seed,
    )  # fmt: skip
    _show(shown, found)
    document = _document(found)
    if together is not None or period is not None:
        from symnmf.grouping.crash_model import crash_model

        model = crash_model(made, panel, tail=tail, draws=draws, block=block, seed=seed)
        if together is not None:
            of = None if together.strip() == "all" else [x.strip() for x in together.split(",")]
            crash = model.probability(of, at_least, level=level, loss=loss)
            count = len(of) if of else len(model.names)
            document["together"] = _crash(shown, crash, count, at_least)
        if period is not None:
            document["return_level"] = _level(shown, model.return_level(found.weights, period))
    if out is not None:
        _write(found, out, force)
        shown.line(f"Files: {out}")
    shown.document(document)


def _show(shown: Output, found: PortfolioRisk) -> None:
    if found.usual_loss is not None:
        value, low, high, own = found.usual_loss
        ends = f" ({low:.3g} to {high:.3g})" if found.draws else ""
        shown.line(f"On one day in twenty the portfolio lost more than {own:.3g}.", "bold")
        shown.line(
            f"By the tail dependence of its positions, without gains that offset losses: "
            f"{value:.3g}{ends}; the shares are shares of its square."
        )
    what = f"{found.measure[0].upper()}{found.measure[1:]}"
    total, ends = float(found.total.value), ""
    if found.draws:
        ends = f" ({float(found.total.low):.4g} to {float(found.total.high):.4g})"
    shown.line(
        f"{what} of the portfolio: {total:.4g}{ends}; of its own series of returns: {found.own:.4g}"
    )
    if found.measure == "tail scale":
        shown.line(
            "On the worst 5 % of days P(loss > x) is about (scale / x)²; farther out it is lower."
        )
    if found.draws:
        shown.line(
            f"Intervals of {found.level:.0%} from {found.draws} resampled histories, in brackets"
        )
    table = found.groups_table()
    order = (-found.groups.value).argsort(kind="stable")
    shown.table(
        ("group", "weight", "share of the risk", f"share of the {found.worst_count} worst days"),
        [
            (
                found.group_names[g],
                f"{table['weight'][g]:.4g}",
                found.groups.words(g),
                found.worst.words(g),
            )
            for g in order
        ],
    )
    left = found.left_out.words()
    if left != "–":
        shown.line(f"Left out by {len(found.group_names)} factors: {left} of the risk")
    first = (-found.instruments.value).argsort(kind="stable")[:LISTED]
    rows = [
        (found.names[i], found.instruments.words(i), f"{found.marginal.value[i]:.4g}")
        for i in first
        if found.weights[i]
    ]
    shown.table(("instrument", "share of the risk", "marginal"), rows)
    shown.table(
        ("worst day", "loss", "most of it in"),
        [
            (d.date, f"{d.loss:.4g}", found.group_names[int(d.groups.argmax())])
            for d in found.worst_days[:LISTED_DAYS]
        ],
    )
    for note in found.notes:
        shown.line(note)


def _plain(value: Any) -> Any:
    """Values for JSON: numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not isfinite(value) else value


def _document(found: PortfolioRisk) -> dict[str, Any]:
    document = {
        "measure": found.measure,
        "total": float(found.total.value),
        "interval": [float(found.total.low), float(found.total.high)],
        "own": found.own,
        "left_out": float(found.left_out.value),
        "groups": found.groups_table().to_dict("records"),
        "instruments": found.instruments_table().to_dict("records"),
        "worst_days": found.worst_table().to_dict("records"),
        "notes": list(found.notes),
        "draws": found.draws,
        "level": found.level,
    }
    return dict(_plain(document))


def _crash(shown: Output, crash: JointCrash, count: int, at_least: int | None) -> dict[str, Any]:
    what = f"all {count}" if at_least is None else f"at least {at_least} of {count}"
    shown.line(f"Probability that {what} crash on one day: {crash}", "bold")
    return dict(_plain(vars(crash)))


def _level(shown: Output, level: ReturnLevel) -> dict[str, Any]:
    ends = "" if level.low != level.low else f" ({level.low:.4g} to {level.high:.4g})"
    shown.line(
        f"Loss that is exceeded on one day in {level.period}: {level.value:.4g}{ends}; "
        f"{level.observed:.4g} in the data",
        "bold",
    )
    return dict(_plain(vars(level)))


def _write(found: PortfolioRisk, out: Path, force: bool) -> None:
    """The tables of a portfolio in a folder."""
    from symnmf import storage
    from symnmf.errors import InvalidFile, spelled

    texts = found.texts()
    for name in texts:
        if (out / name).exists() and not force:
            raise InvalidFile(
                str(out / name),
                "already exists",
                f"Choose another --out, or pass {spelled('force')}",
            )
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        storage.write_text(out / name, text)
