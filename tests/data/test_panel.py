"""Tables in every form, what is done to them, and what is refused."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import symnmf as sn
from symnmf.data import read_panel
from symnmf.errors import DataWarning, InvalidFile, InvalidInput, InvalidTable, SymnmfError

DAYS = pd.date_range("2024-01-01", periods=6)
VALUES = np.random.default_rng(0).normal(size=(6, 3))


def frame(values=VALUES, index=DAYS, names=("a", "b", "c")):
    return pd.DataFrame(values, index=index, columns=list(names))


def write(path, text):
    path.write_text(text)
    return path


def same(panel):
    np.testing.assert_allclose(panel.values, VALUES)
    assert panel.names == ("a", "b", "c")
    assert panel.dates[0] == np.datetime64("2024-01-01")


def test_every_form_of_a_table_gives_the_same_panel(tmp_path):
    wide = frame()
    columns = wide.reset_index(names="date")
    long = columns.melt("date", var_name="ticker", value_name="return")
    wide.to_parquet(tmp_path / "w.parquet")
    columns.to_csv(tmp_path / "w.csv", index=False)
    long.to_csv(tmp_path / "l.csv", index=False)
    for table in (
        wide,
        columns,
        long,
        long[["return", "ticker", "date"]],
        pa.Table.from_pandas(columns),
        tmp_path / "w.parquet",
        str(tmp_path / "w.csv"),
        tmp_path / "l.csv",
    ):
        same(read_panel(table, kind="returns"))
    assert read_panel(long, kind="returns").summary.form == "long"
    assert "long table: 18 values of 3 names" in read_panel(long, kind="returns").summary.steps[0]
    array = read_panel(VALUES, kind="returns")
    assert array.dates is None
    assert array.names == ("0", "1", "2")
    assert "without dates" in array.summary.steps[0]


def test_polars():
    import polars as pl

    same(read_panel(pl.from_pandas(frame().reset_index(names="date")), kind="returns"))


def test_prices_become_returns():
    prices = frame(np.exp(VALUES.cumsum(axis=0)))
    log = read_panel(prices, kind="prices")
    np.testing.assert_allclose(log.values, VALUES[1:])
    assert log.dates[0] == np.datetime64("2024-01-02")
    assert "log returns of prices" in log.summary.steps
    simple = read_panel(prices, kind="prices", returns="simple")
    np.testing.assert_allclose(simple.values, np.expm1(VALUES[1:]))
    with pytest.raises(
        InvalidTable, match=r"row 2 \(2024-01-03\), column 'b' is -1, which is not a price"
    ):
        read_panel(prices.replace({"b": {prices.iloc[2, 1]: -1.0}}), kind="prices")


def holed():
    values = VALUES.copy()
    values[1, 0] = values[2, 0] = values[4, 1] = np.nan
    return frame(values)


def test_missing_numbers_by_policy():
    with pytest.raises(InvalidTable) as caught:
        read_panel(holed(), kind="returns")
    for words in ("3 of 18", "2 columns", "row 1 (2024-01-02), column 'a'", "most (2) are in 'a'"):
        assert words in str(caught.value)
    with pytest.warns(DataWarning, match="40 % of the numbers were left out"):
        rows = read_panel(holed(), kind="returns", missing="drop-rows")
    np.testing.assert_allclose(rows.values, VALUES[[0, 3, 5]])
    assert rows.summary.missing == 3
    assert "3 rows with missing numbers left out" in rows.summary.steps
    with pytest.warns(DataWarning, match="33 % of the numbers"):
        columns = read_panel(holed(), kind="returns", missing="drop-columns", max_missing=0.2)
    assert columns.names == ("b", "c")
    assert columns.summary.dropped == ("a",)
    np.testing.assert_allclose(columns.values, VALUES[[0, 1, 2, 3, 5], 1:])
    kept = read_panel(holed(), kind="returns", missing="pairwise")
    assert np.isnan(kept.values).sum() == 3


def test_repairs_are_said():
    mixed = frame().iloc[[3, 0, 5, 1, 2, 4]]
    panel = read_panel(mixed, kind="returns")
    same(panel)
    assert "rows sorted by date" in panel.summary.steps
    constant = frame().assign(d=1.5)
    panel = read_panel(constant, kind="returns")
    assert panel.summary.dropped == ("d",)
    assert "1 column without any change left out: d" in panel.summary.steps
    assert panel.summary.columns_in == 4
    assert panel.summary.columns == 3


def table(**changes):
    out = frame().astype(object).reset_index(names="date")
    for column, cell in changes.items():
        out.loc[2, column] = cell
    return out


MALFORMED = {
    "infinite": (table(a=np.inf), r"row 2 \(2024-01-03\), column 'a' is infinite"),
    "minus infinite": (table(b=-np.inf), "column 'b' is infinite"),
    "text in a cell": (table(c="oops"), "row 2, column 'c' is 'oops', not a number"),
    "complex cell": (table(c=1j), "row 2, column 'c'"),
    "missing": (table(a=None), "1 of 18 numbers are missing"),
    "no date in a row": (table(date=None), "row 2 has no date"),
    "date twice": (table(date="2024-01-02"), "2024-01-02 occurs more than once"),
    "duplicate names": (frame(names=("a", "b", "a")), "the name 'a' occurs in columns 0 and 2"),
    "no name": (frame(names=("a", "", "c")), "column 1 has no name"),
    "empty": (pd.DataFrame(), "has 0 rows"),
    "no rows": (frame().iloc[:0], "has 0 rows"),
    "one row": (frame().iloc[:1], "0 instruments is left"),
    "two rows": (frame().iloc[:2], "2 observations of 3 instruments are left"),
    "one column": (frame()[["a"]], "1 instrument are left"),
    "all constant": (frame(np.ones((6, 3))), "0 instruments are left"),
    "booleans": (frame(VALUES > 0), "holds true and false"),
    "names instead of dates": (table().assign(date=list("uvwxyz")), "neither dates nor numbers"),
    "a vector": (np.ones(4), "has 1 dimension"),
    "a list": ([1, 2, 3], "has 1 dimension"),
    "a dictionary": ({"a": [1, 2]}, "2 observations of 1 instrument"),
    "value twice": (
        pd.DataFrame({"d": ["2024-01-01"] * 2, "n": ["a", "a"], "v": [1.0, 2.0]}),
        "'a' has several values on 2024-01-01",
    ),
    "long with text": (
        pd.DataFrame({"d": ["2024-01-01"] * 2, "n": ["a", "b"], "v": ["x", "y"]}),
        "not a number",
    ),
    "complex": (frame(VALUES + 1j), "holds complex numbers"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_tables(case):
    bad, words = MALFORMED[case]
    with pytest.raises(InvalidTable, match=words):
        read_panel(bad, kind="returns")


FILES = {
    "empty.csv": ("", "is empty"),
    "ragged.csv": ("date,a,b\n2024-01-01,1,2\n2024-01-02,1\n", "line 3 has 2 cells"),
    "text.csv": ("date,a,b\n2024-01-01,1,2\n2024-01-02,1,x\n", "line 3, column 'b' is 'x'"),
    "broken.parquet": ("no parquet", "cannot be read"),
    "table.xlsx": ("x", "is no .xlsx file"),
}


@pytest.mark.parametrize("name", FILES)
def test_malformed_files(name, tmp_path):
    text, words = FILES[name]
    with pytest.raises(InvalidInput, match=words):
        read_panel(write(tmp_path / name, text), kind="returns")


def test_other_wrong_input(tmp_path):
    with pytest.raises(InvalidFile, match="does not exist"):
        read_panel(tmp_path / "no.csv", kind="returns")
    for wrong in ({"kind": "levels"}, {"returns": "percent"}, {"missing": "zero"}):
        with pytest.raises(InvalidInput, match=next(iter(wrong))):
            read_panel(frame(), **{"kind": "returns", **wrong})
    with pytest.raises(InvalidInput, match="max_missing: got 2"):
        read_panel(frame(), kind="returns", max_missing=2)


def test_csv_keeps_names_and_blank_cells(tmp_path):
    text = "\ufeffdate, 007 ,b\n2024-01-01,1,\n2024-01-02,2,NA\n2024-01-03,4,5\n2024-01-04,3,6\n"
    path = write(tmp_path / "x.csv", text)
    panel = read_panel(path, kind="returns", missing="pairwise")
    assert panel.names == ("007", "b")
    assert np.isnan(panel.values[:2, 1]).all()


@pytest.mark.filterwarnings("ignore::symnmf.errors.DataWarning")
@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(0, 8), st.integers(0, 5)),
        elements=st.floats(allow_nan=True, allow_infinity=True, width=64),
    ),
    st.sampled_from(["returns", "prices"]),
    st.sampled_from(["error", "drop-columns", "drop-rows", "pairwise"]),
    st.sampled_from(["none", "dates", "names", "twice"]),
)
def test_random_frames_give_a_panel_or_a_typed_error(values, kind, missing, index):
    labels = {
        "none": None,
        "dates": pd.date_range("2020-01-01", periods=len(values)),
        "names": [f"n{i}" for i in range(len(values))],
        "twice": [pd.Timestamp("2020-01-01")] * len(values),
    }
    table = pd.DataFrame(values, index=labels[index])
    try:
        panel = read_panel(table, kind=kind, missing=missing)
        S = sn.tail_dependence(panel, allow_few=True, estimator="global")
    except SymnmfError:
        return
    assert np.isfinite(panel.values).all()
    assert S.n == len(panel.names) >= 2


def table_of(dates):
    values = np.random.default_rng(0).normal(size=(len(dates), 2))
    return pd.DataFrame({"date": dates, "a": values[:, 0], "b": values[:, 1]})


def test_dates_are_read_by_one_format():
    days = pd.date_range("2024-01-01", periods=40)
    for written in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y-%m-%d", "%Y%m%d", "%d %b %Y"):
        panel = sn.read_panel(table_of(days.strftime(written)), kind="returns")
        assert (panel.dates == days.to_numpy()).all(), written
    numbers = table_of(days.strftime("%Y%m%d").astype(int))
    assert (sn.read_panel(numbers, kind="returns").dates == days.to_numpy()).all()
    with pytest.raises(InvalidTable, match="'01/02/2024', which may be month first or day first"):
        sn.read_panel(table_of([f"0{d}/02/2024" for d in range(1, 8)]), kind="returns")


def test_row_numbers_are_no_instrument():
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(30, 3)), columns=list("abc"))
    filtered = frame[frame["a"] > -1]
    assert sn.read_panel(filtered, kind="returns").names == ("a", "b", "c")
    dated = frame.assign(date=pd.date_range("2024-01-01", periods=30))[["date", "a", "b"]]
    assert sn.read_panel(dated[dated["a"] > -1], kind="returns").names == ("a", "b")


def test_long_tables_with_whole_numbers_as_names():
    days = pd.date_range("2024-01-01", periods=20).repeat(3)
    values = np.random.default_rng(2).normal(size=60)
    table = pd.DataFrame(
        {"date": days, "permno": np.tile([10107, 11850, 12490], 20), "ret": values}
    )
    panel = sn.read_panel(table, kind="returns")
    assert panel.names == ("10107", "11850", "12490")
    np.testing.assert_allclose(panel.values, values.reshape(20, 3))


def test_a_wide_file_is_read_alike_with_and_without_quotes(tmp_path):
    """Columns of text of a wide file are cut out of its lines where no cell has quotes."""
    rng = np.random.default_rng(0)
    days = pd.bdate_range("2024-01-01", periods=40)
    lines = [",".join(["Date", *(f"s{i}" for i in range(20)), "note"])]
    for day, row in zip(days, rng.normal(size=(40, 20)) / 100, strict=True):
        lines.append(",".join([f" {day:%d.%m.%Y}", *(f"{x:.6f}" for x in row), "NA"]))
    (tmp_path / "plain.csv").write_text("\n".join(lines))
    lines[0] = lines[0].replace("Date", '"Date"')
    lines[3] = lines[3].replace("NA", '"NA"')
    (tmp_path / "quoted.csv").write_text("\n".join(lines))
    one, two = (sn.read_panel(tmp_path / f"{n}.csv", kind="returns") for n in ("plain", "quoted"))
    np.testing.assert_array_equal(one.values, two.values)
    assert one.names == two.names == tuple(f"s{i}" for i in range(20))
    assert list(one.dates) == list(two.dates)
    assert one.dates[0] == days[0]


def test_eight_characters_are_a_date_only_if_they_are_digits(tmp_path):
    rng = np.random.default_rng(0)
    prices = np.exp(np.cumsum(rng.normal(size=(30, 3)) / 100, axis=0)) * 200
    days = pd.bdate_range("2024-01-01", periods=30)
    rows = ["day,a,b,c"]
    rows += [
        f"{d:%Y%m%d},{','.join(f'{x:.4f}' for x in p)}" for d, p in zip(days, prices, strict=True)
    ]
    (tmp_path / "prices.csv").write_text("\n".join(rows))
    panel = sn.read_panel(tmp_path / "prices.csv", kind="prices")
    assert panel.names == ("a", "b", "c")
    assert panel.dates[-1] == days[-1]


def test_a_date_that_was_cut_off_and_no_other_is_named(tmp_path):
    path = tmp_path / "cut.csv"
    path.write_text("date,name,value\n2024-0")
    with pytest.raises(InvalidTable, match=r"1 cell is no date: '2024-0' \(line 2\)"):
        read_panel(path, kind="returns")


def test_lists_tensors_and_mappings_are_tables():
    values = np.random.default_rng(0).normal(size=(50, 3))
    given = [
        values.tolist(),
        torch.tensor(values),
        dict(zip("012", values.T, strict=True)),
        pd.DataFrame(values, pd.bdate_range("2024-01-01", periods=50)).stack(),
        pd.DataFrame(values, pd.bdate_range("2024-01-01", periods=50)).stack().to_frame("ret"),
    ]
    for table in given:
        panel = read_panel(table, kind="returns")
        np.testing.assert_allclose(panel.values, values)
        assert panel.names == ("0", "1", "2")


@pytest.mark.parametrize(
    ("table", "says"),
    [
        (None, "table: is None. Pass a path"),
        (7, "table: is of the type int. Pass a path"),
        ([[1.0, 2.0], [3.0]], "is a list of rows of different lengths"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "has columns of different lengths"),
        ("https://example.org/prices.csv", "is an address. Download the file"),
    ],
)
def test_other_objects_are_refused(table, says):
    with pytest.raises(InvalidInput, match=says):
        read_panel(table, kind="returns")


@pytest.mark.filterwarnings("error::pandas.errors.PerformanceWarning")
def test_a_frame_of_many_pieces_is_read_without_a_warning_of_pandas():
    pieces = pd.DataFrame({"s0": VALUES[:, 0]}, index=DAYS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for j in range(1, 130):
            pieces[f"s{j}"] = VALUES[:, j % 3] * j
    panel = read_panel(pieces, kind="returns")
    assert panel.names[-1] == "s129"
    assert panel.values.shape == (6, 130)
