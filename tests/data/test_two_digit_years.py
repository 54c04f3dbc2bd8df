"""Years of two digits are read by a rule that does not look at the clock."""

import ast
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest

from symnmf.data import date_text, two_digit_years
from symnmf.data.date_text import read_dates
from symnmf.data.two_digit_years import with_centuries


def years(cells):
    found = read_dates(pd.Series(cells, dtype=object))
    return [int(str(stamp)[:4]) for stamp in found.stamps]


def test_the_clock_is_not_read():
    for module in (date_text, two_digit_years):
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        read = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        assert not read & {"now", "today", "utcnow", "time_ns"}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Jan-29", "Feb-29"], [2029, 2029]),
        (["Jan-30", "Feb-30"], [1930, 1930]),
        (["Dec-29", "Jan-30", "Feb-30"], [2029, 2030, 2030]),  # the rows are in order
        (["Feb-30", "Jan-30", "Dec-29"], [2030, 2030, 2029]),
        (["Jan-20", "Jan-60", "Jan-99", "Jan-24"], [1920, 1960, 1999, 2024]),
        (["Jan-50", "Jan-80", "Jan-10", "Jan-60"], [1950, 1980, 2010, 1960]),  # in no order
    ],
)
def test_order_of_the_rows(cells, expected):
    assert years(cells) == expected


def test_days_of_trading_decide():
    days = pd.bdate_range("2031-01-06", periods=40)
    assert set(years([d.strftime("%d-%b-%y") for d in days])) == {2031}
    old = pd.bdate_range("1926-01-04", periods=40)
    assert set(years([d.strftime("%d-%b-%y") for d in old])) == {1926}


def test_a_leap_day_stays():
    days = [datetime(1999, 12, 31), datetime(2000, 2, 29), datetime(2000, 3, 31)]
    assert with_centuries(days) == days
