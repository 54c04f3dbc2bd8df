"""Tables that processes read in shares: same bits for every number, and only their own columns."""

import numpy as np
import pandas as pd
import pytest
import torch

import symnmf as sn
from distributed.test_groups import run
from distributed.worker import IN_SHARES

N, T = 333, 150


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Returns, prices, and returns that all move alike; copies with another cell and with holes."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(5)
    days = pd.date_range("2000-11-01", periods=T)
    names = [f"C{j}" for j in range(N)]
    X = rng.standard_t(4, (T, 6)) @ rng.random((6, N)) + rng.standard_t(4, (T, N))
    returns = pd.DataFrame(0.01 * X, columns=names, index=days)
    returns["C7"] = 0.25  # without any change: it is dropped, and the parts shift
    returns.sample(frac=1, random_state=1).to_parquet(folder / "returns.parquet")
    prices = 100 * np.exp(returns.drop(columns="C7").cumsum())
    prices.to_parquet(folder / "prices.parquet")
    alike = rng.standard_normal((T, 1)) + 0.3 * rng.standard_normal((T, N))
    pd.DataFrame(0.01 * alike, columns=names).to_parquet(folder / "alike.parquet")
    returns.iloc[3, 5] += 1e-9
    returns.to_parquet(folder / "returns-other.parquet")
    returns.iloc[4, 9] = np.nan
    returns.to_parquet(folder / "holes.parquet")
    return folder


@pytest.fixture(scope="module")
def alone(tables):
    return run(1, "estimates", tables)


def whole(tables, name):
    """The same estimate from the whole table, by the functions for one process."""
    request = IN_SHARES[name]
    file = {"correlation": "prices", "scores": "alike"}.get(name, "returns")
    panel = sn.read_panel(
        tables / f"{file}.parquet",
        kind=request.get("kind", "returns"),
        **request.get("reading", {}),
    )
    if request["dependence"] == "correlation":
        return sn.abs_correlation(panel)
    return sn.tail_dependence(panel, **request["dependence_options"])


@pytest.mark.filterwarnings("ignore::symnmf.errors.DataWarning")
@pytest.mark.parametrize("name", IN_SHARES)
def test_an_estimate_in_shares_is_that_of_the_whole_table(tables, alone, name):
    found, S = alone[name], whole(tables, name)
    assert found["n"] == S.n
    last = S.block(torch.arange(40), torch.arange(S.n - 40, S.n))
    torch.testing.assert_close(torch.tensor(found["dense"]), last, rtol=2e-6, atol=2e-7)
    numbers = [S.frob_sq(), S.mean(), S.trace()]
    assert found["numbers"] == pytest.approx(numbers, rel=1e-6)
    if name != "scores":
        assert found["form"] == type(S).__name__
    assert "each process read its own columns" in " ".join(found["steps"])


def test_scores_without_negative_correlations_stay_a_gram_matrix(alone):
    """Twice as many columns as rows, and no entry is negative."""
    assert alone["scores"]["form"] == "GramOperator"


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3])
def test_every_number_of_processes_estimates_the_same_bits(tables, alone, size):
    for name, found in run(size, "estimates", tables).items():
        held = found.pop("held")
        assert found == {k: v for k, v in alone[name].items() if k != "held"}, name
        for rows, read, most in held:
            assert rows < 1.05 / size  # of the rows of S or B
            assert most <= -(-N // 64)  # columns in memory at a time
            if found["form"] == "GramOperator" and name != "scores":
                assert read < 1.05 / size + 2 / 64  # it reads no column of another process


@pytest.mark.slow
def test_a_table_that_differs_in_one_cell_is_refused_by_all(tables):
    words, read_whole = run(3, "other_table", tables)
    assert len({text.replace("returns-other", "returns") for text in words}) == 1
    assert "process 1 of 3" in words[0]
    assert "holds another copy" in words[0]
    assert read_whole  # numbers are missing: the table is read whole, and rows are dropped
