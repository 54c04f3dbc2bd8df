"""Whether numbers are what the caller says: prices, returns or other values."""

from __future__ import annotations

import warnings

import numpy as np

from symnmf.data.column_medians import column_medians
from symnmf.data.table_model import Table
from symnmf.display import counted
from symnmf.errors import InvalidTable, offered, spelled

#: Share of cells that are not positive up to which they are faults among prices.
FEW = 0.02
#: Rows below which nothing can be said about numbers.
LEAST_ROWS = 4
#: Observations from which the behaviour of numbers says what they are.
ENOUGH_ROWS = 12
#: Largest usual step relative to the level of numbers that are levels, such as prices.
LEVEL_STEP = 0.2
#: Correlation of successive changes below which numbers are noise around a level, not prices.
CANCELLING = -0.4
#: Correlation of successive numbers from which on they wander, as prices do.
WANDERING = 0.5
#: A level among returns is larger than they are by this factor.
LEVEL_AMONG_RETURNS = 20.0
#: Rows of each of the four stretches from which the behaviour of long tables is found.
STRETCH = 250
#: Columns of a wide table, at most, of which the behaviour of the usual one is found.
USUAL_COLUMNS = 300
#: Rows, at least, by which most columns are told from all others.
TWIN_ROWS = 20
#: Numbers that stand for missing ones.
SENTINELS = (
    -99.0,
    -99.9,
    -99.99,
    -999.0,
    -999.99,
    -999.9,
    -9999.0,
    -9999.99,
    -99999.0,
    999.0,
    999.99,
    9999.0,
    9999.99,
    99999.0,
    999999.0,
    1e20,
    -1e20,
)


def drop_sentinels(work: Table) -> None:
    """Take numbers such as −99.99, far below all others, for missing ones, and say so.

    Arguments:
        work: the table; it is changed.
    """
    if not work.values.size:
        return
    least, most = np.fmin.reduce(work.values, axis=None), np.fmax.reduce(work.values, axis=None)
    for sentinel in SENTINELS:
        if not least <= sentinel <= most:
            continue
        hits = work.values == sentinel
        if not hits.any():
            continue
        rest = np.abs(
            work.values[~hits & ~np.isnan(work.values) & ~np.isin(work.values, SENTINELS)]
        )
        positive = sentinel < 0 and not (work.values[~hits] < 0).any() and hits.mean() < 0.5
        if positive or (
            len(rest) and np.quantile(rest, 0.99) < abs(sentinel) / (3 if sentinel < 0 else 50)
        ):
            work.values[hits] = np.nan
            work.steps.append(
                f"{counted(int(hits.sum()), 'cell')} with {sentinel:g} taken as missing"
            )


def infer_kind(work: Table) -> str:
    """``"prices"`` or ``"returns"``, from the behaviour of the numbers.

    Arguments:
        work: the table.

    Raises:
        InvalidTable: the numbers are neither clearly prices nor clearly returns.
    """
    x = _some_rows(work.values)
    if not x.size:
        raise InvalidTable(
            "table",
            "has no numbers: all cells are empty",
            "If they hold formulas, open the file in a spreadsheet and save it, with the results",
        )
    if len(x) < LEAST_ROWS:
        raise InvalidTable(
            "table",
            f"has {counted(len(x), 'row')} of numbers",
            f"At least {LEAST_ROWS} rows are needed, and many more for groups that hold",
        )
    if x.shape[1]:
        with np.errstate(all="ignore"):
            low = np.fmin.reduce(x, axis=0)
            steady = np.nanmedian(_step_share(_some_columns(x))) < LEVEL_STEP
            bad = work.values <= 0
            if bad.any() and (column_medians(x) > 0).all():
                few = steady and bad.mean() < FEW
                if few or (len(x) >= ENOUGH_ROWS and _signs_flip(x)):
                    _not_prices(work, bad)
            if (low > 0).all() and steady:
                return "prices"
            middle = column_medians(x)
            spread = column_medians(np.abs(x - middle))
            centred = np.abs(middle) < np.maximum(spread, 1e-12)
            moving = spread > 0
            low, centred = (low[moving], centred[moving]) if moving.any() else (low, centred)
            if (low < 0).mean() >= 0.8 and centred.mean() >= 0.8:
                return "returns"
    options = (
        "--prices, --returns or --values"
        if not offered("kind")
        else "kind='prices', 'returns' or 'values'"
    )
    raise InvalidTable(
        "table",
        "holds numbers that are neither clearly prices (positive levels) nor clearly returns "
        "(around zero)",
        f"Say what they are: {options}",
    )


def check_kind(work: Table, kind: str) -> None:
    """Raise an error if the numbers are clearly not of the kind that the caller named.

    Arguments:
        work: the table.
        kind: ``"prices"``, ``"returns"`` or ``"values"`` (which may be anything).

    Raises:
        InvalidTable: prices were given as returns, returns as prices, or a level among returns.
    """
    if kind == "returns":
        _check_returns(work)
    elif kind == "prices":
        _check_prices(work)


def _check_returns(work: Table) -> None:
    x = _some_rows(work.values)
    if len(x) < ENOUGH_ROWS or not x.shape[1] or np.isnan(x).all(axis=0).any():
        return
    with np.errstate(all="ignore"):
        low = np.fmin.reduce(work.values, axis=0)
        signed = low < 0
        if signed.all():
            return
        middle = np.abs(column_medians(x))
        levels = (low >= 0) & (_step_share(x) < LEVEL_STEP) & (middle > 0)
        usual = np.median(column_medians(np.abs(x[:, signed]))) if signed.any() else 0.0
    if levels.mean() > 0.8 and not signed.any():
        as_prices = "--prices" if not offered("kind") else "kind='prices'"
        raise InvalidTable(
            "table",
            f"no number is negative and all are far from zero (about {np.median(middle):.3g}): "
            "these are not returns",
            f"Pass {as_prices} if they are prices, or {_values()} to take them as they are",
        )
    odd = np.flatnonzero(levels & (middle > LEVEL_AMONG_RETURNS * usual) & signed.any())
    if len(odd) and usual > 0:
        names = ", ".join(repr(work.names[j]) for j in odd[:5]) + (", …" if len(odd) > 5 else "")
        raise InvalidTable(
            "table",
            f"{names} never negative and about {middle[odd[0]]:.3g}, where other columns are about "
            f"{usual:.3g}: no returns",
            f"Leave out such columns ({spelled('drop', work.names[odd[0]])}), or pass {_values()} "
            "to take all numbers as they are",
        )


def around_a_level(x: np.ndarray) -> bool:  # (T, n)
    """Whether numbers that are never negative are noise around a level, and do not wander.

    Arguments:
        x: the numbers, in order of time.

    Example:
        >>> noise = np.random.default_rng(0).normal(100, 1, (200, 3))
        >>> around_a_level(noise), around_a_level(100 + np.cumsum(noise - 100, axis=0))
        (True, False)
    """
    if len(x) < ENOUGH_ROWS or not np.isfinite(x).all() or (x < 0).any():
        return False
    centred = x - x.mean(axis=0)
    with np.errstate(all="ignore"):
        follow = (centred[1:] * centred[:-1]).sum(axis=0) / (centred**2).sum(axis=0)
    return bool(np.nanmedian(follow) < WANDERING) if np.isfinite(follow).any() else False


def _values() -> str:
    return "--values" if not offered("kind") else "kind='values'"


def _check_prices(work: Table) -> None:
    bad = work.values <= 0
    if bad.any():
        _not_prices(work, bad)
    if len(work.values) < 3 * ENOUGH_ROWS:
        return
    with np.errstate(all="ignore"):
        changes = np.diff(np.log(_some_columns(_some_rows(work.values))), axis=0)
        centred = changes - np.nanmean(changes, axis=0)
        both = np.nanmean(centred[1:] * centred[:-1], axis=0)
        follow = both / np.nanmean(centred**2, axis=0)
    if np.nanmedian(follow) < CANCELLING:
        as_returns = "--returns" if not offered("kind") else "kind='returns'"
        raise InvalidTable(
            "table",
            "does not hold prices: each change cancels the one before, as in numbers around "
            "a level",
            f"Pass {as_returns} for returns (subtract 1 from ratios such as 1.01), or {_values()} "
            "to take the numbers as they are",
        )


def _not_prices(work: Table, bad: np.ndarray) -> None:
    """Raise the error for numbers that are not positive."""
    returns = "kind='returns'" if offered("kind") else "the table with --returns"
    i, j = np.argwhere(bad)[0]
    place = f"{work.row_words(i)}, column {work.names[j]!r}"
    count = int(bad.sum())
    more = f" ({count} such cells)" if count > 1 else ""
    few = count < FEW * bad.size
    remedy = f"Prices are positive; pass {returns} if these are returns"
    if few:
        remedy = f"Leave the cell empty where there was no price, or pass {_values()} to take the "
        remedy += "numbers as they are"
    elif len(work.values) >= ENOUGH_ROWS and _signs_flip(work.values):
        remedy = "If a minus marks a mean of bid and ask, as in CRSP, take absolute values"
    raise InvalidTable(
        "table", f"{place} is {work.values[i, j]:g}, which is not a price{more}", remedy
    )


def _signs_flip(x: np.ndarray) -> bool:
    """Whether numbers are levels but for their signs."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        negative = 0 < (x < 0).mean() < 0.5
        return bool(negative and np.nanmedian(_step_share(np.abs(x))) < LEVEL_STEP)


def _step_share(x: np.ndarray) -> np.ndarray:  # (T, n) -> (n,)
    """The usual step relative to the usual size of each column."""
    with np.errstate(all="ignore"):
        share: np.ndarray = column_medians(np.abs(np.diff(x, axis=0))) / column_medians(np.abs(x))
    return share


def _some_rows(x: np.ndarray) -> np.ndarray:  # (T, n) -> (t, n)
    """Stretches of rows that show how numbers behave; all rows of a short table."""
    if len(x) <= 4 * STRETCH:
        return x
    starts = np.linspace(0, len(x) - STRETCH, 4).astype(int)
    return np.concatenate([x[s : s + STRETCH] for s in starts])


def _some_columns(x: np.ndarray) -> np.ndarray:  # (T, n) -> (T, m)
    """Columns, evenly spaced, that show how the usual one behaves; all of a narrow table."""
    return x[:, :: -(-x.shape[1] // USUAL_COLUMNS)] if x.shape[1] else x


def _equal_sums(values: np.ndarray) -> np.ndarray:  # (T, n) -> (p, 2)
    """Pairs of columns with the same sum."""
    keys = np.nan_to_num(values).sum(axis=0)
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(np.diff(keys[order]) == 0)
    return np.column_stack([order[same], order[same + 1]])


def note_twins(work: Table) -> None:
    """Say which instruments have the same numbers as another one.

    Arguments:
        work: the table; a caution is added.
    """
    if len(work.values) < ENOUGH_ROWS:
        return
    some = work.values[:: max(1, len(work.values) // TWIN_ROWS)]
    alike = np.unique(_equal_sums(some))  # few columns are left
    pairs = alike[_equal_sums(work.values[:, alike])].tolist()
    twins = [
        f"{work.names[max(p)]} (as {work.names[min(p)]})"
        for p in pairs
        if np.array_equal(work.values[:, p[0]], work.values[:, p[1]], equal_nan=True)
    ]
    if twins:
        shown = ", ".join(twins[:5]) + (", …" if len(twins) > 5 else "")
        words = counted(len(twins), "instrument has", "instruments have")
        work.cautions.append(f"{words} the same numbers as another one: {shown}")
