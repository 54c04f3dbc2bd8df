"""Weights of a portfolio, in files of many shapes."""

import pytest

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
        ("date,x\n2020-01-01,0.1\n2020-01-02,0.2\n", "holds dates and numbers"),
    ],
)
def test_what_is_unclear_is_refused(read, text, says):
    with pytest.raises(InvalidFile, match=says):
        read(text)


def test_an_empty_weight_counts_as_zero_with_a_warning(read):
    with pytest.warns(DataWarning, match="1 name has an empty weight, which counts as 0"):
        assert read("ticker,weight\nA,0.5\nB,0.5\nC,\n") == HALVES
