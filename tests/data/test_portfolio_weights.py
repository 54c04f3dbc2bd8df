"""Weights of a portfolio and classes of names, in files of many shapes."""

import pytest

from symnmf.data.classes import read_classes
from symnmf.data.portfolio_weights import read_weights
from symnmf.errors import DataWarning, InvalidFile

HALVES = {"A": 0.5, "B": 0.5}


@pytest.fixture
def read(tmp_path):
    """Write a file and read its weights."""

    def of(text, name="w.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return read_weights(path)

    return of


@pytest.mark.parametrize(
    "text",
    [
        "A,0.5\nB,0.5\n",  # the first line is a position, not a heading
        "A,50%\nB,50%\n",
        "ticker,weight\nA,0.5\nB,0.5\n",
        "weight,ticker\n0.5,A\n0.5,B\n",
        "Name;Gewicht\nA;0,5\nB;0,5\n",
        "Name,Shares,Price,Market Value,Weight (%)\nA,100,50,5000,50\nB,50,100,5000,50\n",
        "ticker,sector,weight\nA,Energy,0.5\nB,Tech,0.5\n",
        "ticker,weight,beta\nA,0.5,1.2\nB,0.5,0.8\n",
        "ticker,price,x\nA,10,0.5\nB,20,0.5\n",  # one column of numbers that may be weights
        "ticker,weight\nA,0.5\nB,0.5\nTotal,1\n",
        "ticker,weight in percent\nA,50\nB,50\n",
        "ticker,weight (%)\nA,50%\nB,50%\n",  # the sign stands twice and counts once
        "A\t0.5\nB\t0.5\n",
        "My funds\n\nticker,weight\nA,0.5\nB,0.5\n",
        "ticker,weight (bps)\nA,5000\nB,5000\n",
        "Total,1\nA,0.5\nB,0.5\n",
        "ticker,weight\nA,0.5\nB,0.5\n,1\n",  # a sum without a name
        "Account,Symbol,Quantity,Last Price,Current Value,Percent Of Account\n"
        "IRA,A,10,$50.00,$500.00,50.00%\nIRA,B,5,$100.00,$500.00,50.00%\n\nAll as of today\n",
        "Instrument,Position,MarkPrice,PositionValue,PercentOfNAV\nA,9,1,500,50\nB,5,1,500,50\n",
        "Titel;Stück;Kurs;Kurswert;Anteil\nA;1.000;5,00;5.000,00;50,0\nB;500;10,00;5.000,00;50,0\n",
        ",Weight (%)\nA,50\nB,50\n",
        'Fund Holdings as of,Jun 30\nShares,"1,000"\n\nTicker,Name,Market Value,Weight (%)\n'
        'A,Alpha,"500.00",50\nB,Beta,"500.00",50\n\nThe content is owned by the vendor\n',
    ],
)
def test_weights_are_found(read, text):
    assert read(text) == HALVES


def test_amounts_of_money_are_weights_in_another_unit(read):
    text = "ticker,shares,price,market value\nA,100,50,5000\nB,50,100,-5000\n"
    assert read(text) == {"A": 5000.0, "B": -5000.0}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("name,group,margin\nA,1,0.3\nB,2,0.5\n", "no column holds weights"),
        ("name,group\nA,1\nB,2\n", "no column holds weights"),
        ("name,shares\nA,100\nB,200\n", "no column holds weights: 'shares'"),
        ("name,x,y\nA,1,2\nB,2,1\n", "several columns could be the weights: 'x', 'y'"),
        ("name,weight,target weight\nA,1,2\nB,2,1\n", "several columns"),
        ("ticker,weight\nA,0.1\nA,0.1\n", "line 3 gives 'A' a second weight"),
        ("ticker,weight\nA,heavy\n", "the weight of 'A' is 'heavy'"),
        ("ticker,weight\nA,\n", "gives no name a weight"),
        ("ticker\nA\n", "has 1 column"),
        ("ticker,weight\nA,50%\nB,30\n", "some weights have a percent sign and others do not"),
        ("ticker,weight\nA,0.5\n,0.2\n", "line 3 has a weight and no name"),
        ('ticker,weight\nA,"1,234"\nB,950\n', "may be a whole number above a thousand"),
        ("date,x\n2020-01-01,0.1\n2020-01-02,0.2\n", "holds dates and numbers"),
    ],
)
def test_what_is_unclear_is_refused(read, text, says):
    with pytest.raises(InvalidFile, match=says):
        read(text)


def test_an_empty_weight_counts_as_zero_with_a_warning(read):
    with pytest.warns(DataWarning, match="1 name has an empty weight, which counts as 0"):
        assert read("ticker,weight\nA,0.5\nB,0.5\nC,\n") == HALVES


def test_a_side_makes_weights_of_short_positions_negative(read):
    text = "ticker,side,weight\nA,Long,0.6\nB,Short,0.2\nC,short,-0.1\n"
    assert read(text) == {"A": 0.6, "B": -0.2, "C": -0.1}


def test_only_a_line_with_the_sum_of_the_others_is_a_total(read):
    text = "ticker,weight\nNET,0.5\nTotal SA,0.2\nSUM,0.3\nNet Lease Office,0.1\n"
    assert set(read(text)) == {"NET", "Total SA", "SUM", "Net Lease Office"}
    with pytest.warns(DataWarning, match="'Net' is left out: its weight is the sum of the others"):
        assert read("ticker,weight\nA,0.5\nB,0.5\nNet,1.0\n") == HALVES


def test_money_may_have_marks_of_thousands(read):
    text = 'ticker,market value\nA,"$12,345"\nB,"$1,000"\n'
    assert read(text) == {"A": 12345.0, "B": 1000.0}


def test_a_dash_is_an_empty_weight(read):
    with pytest.warns(DataWarning, match="1 name has an empty weight"):
        assert read("ticker,weight\nA,0.5\nB,0.5\nC,-\n") == HALVES


@pytest.mark.parametrize(
    "text",
    [
        "A,energy\nB,energy\nC,tech\n",  # the first line is a name with its class
        ",sector\nA,energy\nB,energy\nC,tech\n",
        "# sectors of June\nticker,sector\nA,energy\nB,energy\nC,tech\n",
        "Sectors\n\nSector;Ticker\nenergy;A\nenergy;B\ntech;C\n",
    ],
)
def test_classes_are_found(tmp_path, text):
    path = tmp_path / "c.csv"
    path.write_text(text)
    assert read_classes(path) == {"A": "energy", "B": "energy", "C": "tech"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ticker,x\nA,0.5\nB,0.2\n", "holds numbers, such as '0.5' for 'A'"),
        ("ticker,shares\nA,10\nB,10\nC,20\n", "the column 'shares' holds numbers"),
        (",A,B,C\nA,1.0,0.2,0.3\nB,0.2,1.0,0.4\nC,0.3,0.4,1.0\n", "these are no classes"),
        ("ticker,name\nA,Alpha\nB,Beta\nC,Gamma\n", "a class of its own for every name"),
    ],
)
def test_numbers_and_names_are_no_classes(tmp_path, text, says):
    path = tmp_path / "c.csv"
    path.write_text(text)
    with pytest.raises(InvalidFile, match=says):
        read_classes(path)
