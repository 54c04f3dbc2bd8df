"""Tables as they come: zeros, ties, holes, few rows. A result, or one clear sentence."""

import warnings

import numpy as np
import pytest

import symnmf as sn
from symnmf.data.samples import sp500_prices
from symnmf.errors import DataWarning, SymnmfError

rng = np.random.default_rng(7)
T = 400


def losses(n=8, rows=T):
    return rng.standard_t(3, (rows, n)) + rng.standard_t(3, (rows, 1))


def rain():
    """Most days are dry, and dry together."""
    wet = (rng.random((T, 8)) < 0.35) & (rng.random((T, 1)) < 0.7)
    return -np.where(wet, rng.gamma(0.7, 5, (T, 8)), 0.0)


def delays():
    """Whole minutes, never below zero, many zeros."""
    return -np.maximum(0, np.round(rng.normal(0, 15, (T, 8)) + rng.normal(0, 15, (T, 1))))


def few_values():
    """Grades from 1 to 5."""
    return np.clip(np.round(rng.normal(3, 1, (T, 8)) + rng.normal(0, 0.7, (T, 1))), 1, 5)


def penny_stocks():
    """Prices move by whole ticks: half of the returns are exactly zero."""
    return np.round(losses() / 3) / 100


def short_histories():
    X = losses()
    X[:250, 2] = X[:300, 5] = np.nan
    return X


def scattered_holes():
    X = losses()
    X[rng.random(X.shape) < 0.05] = np.nan
    return X


def holidays():
    """Every instrument has holidays of its own, in weeks."""
    X = losses()
    for j in range(8):
        begin = int(rng.integers(T - 20))
        X[begin : begin + 10, j] = np.nan
    return X


def disjoint_histories():
    X = losses()
    X[:200, 0] = X[200:, 1] = np.nan
    return X


def holes_and_ties():
    X = penny_stocks()
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


def dry_season():
    """Months of rain, of which four in each year are dry everywhere."""
    wet = (np.arange(T) % 12 >= 4)[:, None]
    return -np.where(wet, rng.gamma(0.8, 40, (T, 8)), 0.0)


def delays_by_day():
    """Whole minutes with holes where no flight left; most days are without delay."""
    X = np.maximum(0, np.round(rng.exponential(12, (T, 8)) - 12))
    return np.where(rng.random((T, 8)) < 0.2, np.nan, -X)


def no_shared_rows():
    odd = (np.arange(T) % 2)[:, None] == np.arange(8) % 2
    return np.where(odd, np.nan, losses())


PANELS = {
    "dry season": dry_season,
    "delays by day": delays_by_day,
    "no shared rows": no_shared_rows,
    "claim counts": lambda: -rng.poisson(0.2, (T, 6)).astype(float),
    "small whole numbers": lambda: rng.integers(0, 4, (T, 5)).astype(np.int8),
    "half precision": lambda: losses(5).astype(np.float16),
    "stale prices": lambda: np.where(rng.random((T, 6)) < 0.95, 0.0, losses(6)),
    "one stale price": lambda: losses(4) * [1, 1, 1, 0] + np.eye(T, 4, k=3) * [0, 0, 0, 1],
    "capped at a limit": lambda: np.clip(losses(), -1, 1),
    "river levels": lambda: np.cumsum(losses(5), axis=0),
    "one series five times": lambda: np.repeat(losses(1), 5, axis=1),
    "losses only": lambda: -np.abs(losses(5)),
    "gains only": lambda: np.abs(losses(5)),
    "a year of weeks": lambda: losses(6, 52),
    "a year of months": lambda: losses(40, 12),
    "three rows": lambda: losses(6, 3),
    "a column without numbers": lambda: np.column_stack([losses(3), np.full(T, np.nan)]),
    "an infinite number": lambda: np.vstack([losses(), np.full((1, 8), np.inf)]),
    "only zeros": lambda: np.zeros((T, 4)),
    "rain": rain,
    "delays": delays,
    "grades": few_values,
    "penny stocks": penny_stocks,
    "short histories": short_histories,
    "scattered holes": scattered_holes,
    "holidays": holidays,
    "disjoint histories": disjoint_histories,
    "holes and ties": holes_and_ties,
    "fewer rows than columns": lambda: losses(120, 70),
    "fewer rows than columns, ties": lambda: np.round(losses(120, 70)),
    "thirty rows": lambda: losses(5, 30),
    "ten rows": lambda: losses(5, 10),
    "two columns": lambda: losses(2),
    "the same column twice": lambda: losses()[:, [0, 0, 1, 2]],
    "opposite columns": lambda: np.column_stack([(x := losses(3)), -x]),
    "one constant column": lambda: np.column_stack([losses(3), np.full(T, 0.3)]),
    "one column of zeros": lambda: np.column_stack([losses(3), np.zeros(T)]),
    "one loss in a column of zeros": lambda: np.column_stack([losses(3), -np.eye(T)[0]]),
    "events": lambda: -(rng.random((T, 6)) < 0.03).astype(float),
    "events, mostly on": lambda: -(rng.random((T, 6)) < 0.7).astype(float),
    "one huge outlier": lambda: np.vstack([losses(), np.full((1, 8), -1e12)]),
    "tiny numbers": lambda: 1e-300 * losses(),
    "huge numbers": lambda: 1e300 * losses() / 100,
    "a trend": lambda: losses() - np.arange(T)[:, None],
    "sorted": lambda: np.sort(losses(), axis=0),
    "integers": lambda: rng.integers(-3, 4, (T, 8)).astype(float),
    "half of each column the same number": lambda: np.where(
        rng.random((T, 8)) < 0.5, 0.0, losses()
    ),
}


@pytest.mark.parametrize("name", PANELS)
@pytest.mark.parametrize("estimator", ["semicorrelation", "ramp", "chi", "pairwise", "global"])
def test_a_matrix_or_a_clear_sentence(name, estimator):
    X = PANELS[name]()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)  # such as equal instruments
            panel = sn.read_panel(X, kind="returns", missing="pairwise")
        S = sn.tail_dependence(panel, estimator=estimator)
    except SymnmfError as wrong:
        words = str(wrong)
        assert words.count("\n") == 0
        assert words.endswith(".")
        assert len(words) < 400
        return
    matrix = S.to_dense().double().numpy()
    assert np.isfinite(matrix).all()
    np.testing.assert_allclose(np.diag(matrix), 1, atol=1e-5)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-6)
    assert matrix.min() >= 0
    assert matrix.max() <= 1 + 1e-5


@pytest.mark.parametrize(
    "name",
    ["rain", "delays", "penny stocks", "short histories", "fewer rows than columns", "integers"],
)
@pytest.mark.filterwarnings("ignore")
def test_the_whole_way(name):
    panel = sn.read_panel(PANELS[name](), kind="returns", missing="pairwise")
    found = sn.analyse(panel, 2, kind="returns", n_init=1)
    assert found.evidence is not None
    assert len(found.groups) == 2


def test_every_estimator_answers_on_ordinary_awkward_tables():
    """The sentences above are for tables without an answer; these have one."""
    for name in ("rain", "delays", "penny stocks", "fewer rows than columns", "integers"):
        for estimator in ("ramp", "chi", "pairwise"):
            S = sn.tail_dependence(PANELS[name](), estimator=estimator, q=0.5)
            assert S.n >= 6
    for name in ("short histories", "scattered holes", "holidays", "holes and ties"):
        panel = sn.read_panel(PANELS[name](), kind="returns", missing="pairwise")
        for estimator in ("ramp", "chi", "pairwise"):
            assert sn.tail_dependence(panel, estimator=estimator, q=0.3).n == 8


def test_dry_days_are_not_extreme():
    """Zeros share their average rank: only wet days have a weight, also with a large q."""
    X = np.zeros((300, 3))
    X[:60, 0] = X[:60, 1] = -np.arange(1, 61)  # wet together
    X[:60, 1] *= 2
    X[100:160, 2] = -np.arange(1, 61)
    S = sn.tail_dependence(X, estimator="ramp", q=0.5).to_dense()
    assert S[0, 1] == pytest.approx(1, abs=1e-6)
    assert S[0, 2] == pytest.approx(0, abs=1e-6)


def test_the_bundled_prices_with_holes():
    prices = sp500_prices().iloc[-800:].copy()
    prices.iloc[:300, 4] = np.nan
    panel = sn.read_panel(prices, kind="prices", missing="pairwise")
    S = sn.tail_dependence(panel, estimator="ramp").to_dense()
    whole = sn.tail_dependence(sp500_prices().iloc[-800:].pct_change().iloc[1:], estimator="ramp")
    off = np.delete(np.arange(20), 4)
    np.testing.assert_allclose(
        S[off][:, off], whole.to_dense()[off][:, off], atol=1e-5
    )  # log and simple returns have the same ranks
    assert float((S - whole.to_dense())[4].abs().max()) < 0.15


def test_sentences_name_the_true_reason():
    """Ties are not a lack of shared rows, and a larger q does not help ten rows."""
    X = delays_by_day()
    X[:, 1] = np.where(np.arange(T) % 3 == 0, np.nan, -np.maximum(0, np.arange(T) % 9 - 6))
    panel = sn.read_panel(-X, kind="returns", missing="pairwise")
    with pytest.raises(SymnmfError, match="has its largest value in .* of the rows that it shares"):
        sn.tail_dependence(panel, estimator="chi", q=0.05, allow_few=True)
    with pytest.raises(SymnmfError, match=r"leaves 1 exceedance of 10 .*a table with more rows"):
        sn.tail_dependence(losses(5, 10), estimator="chi", q=0.1)
    with pytest.raises(SymnmfError, match="leaves 20 exceedances of 40 .*a table with more rows"):
        sn.tail_dependence(losses(5, 40), estimator="semicorrelation")


def test_a_year_of_weekly_prices_is_enough_for_weights_by_rank():
    for estimator in ("semicorrelation", "ramp"):
        assert sn.tail_dependence(losses(5, 51), estimator=estimator).n == 5
    with pytest.raises(SymnmfError, match="leaves 25 exceedances of 51 .*At least 30"):
        sn.tail_dependence(losses(5, 51), estimator="chi", q=0.5)
