"""Absolute correlation against pandas and scikit-learn."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.covariance import ledoit_wolf as sklearn_ledoit_wolf

import symnmf as sn
from helpers import SHARED, US_STOCKS, dense, population_correlation
from symnmf import resources
from symnmf.dependence.removal import standardize, without_market, without_noise
from symnmf.dependence.shrinkage import ledoit_wolf
from symnmf.errors import InvalidFile, InvalidInput, NotEnough


def factors(T=400, n=30, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(T, 1)) + rng.normal(size=(T, n))


@pytest.mark.parametrize("shape", [(400, 30), (40, 90)])
def test_ledoit_wolf_against_scikit_learn(shape):
    X = np.random.default_rng(1).normal(size=shape) + np.random.default_rng(2).normal(
        size=(shape[0], 1)
    )
    Z = (X - X.mean(0)) / X.std(0)
    shrunk, alpha = sklearn_ledoit_wolf(Z, assume_centered=True)
    assert ledoit_wolf(torch.from_numpy(Z.T.copy())) == pytest.approx(alpha, abs=1e-12)
    S = sn.abs_correlation(X, shrinkage="ledoit-wolf", dtype=torch.float64)
    assert S.provenance.intensity == pytest.approx(alpha, abs=1e-12)
    off = ~np.eye(shape[1], dtype=bool)
    np.testing.assert_allclose(dense(S).numpy()[off], np.abs(shrunk)[off], atol=1e-12)


def test_the_rule_for_shrinking():
    assert sn.abs_correlation(factors(400, 30)).provenance.intensity == 0
    assert sn.abs_correlation(factors(200, 30)).provenance.intensity > 0
    assert sn.abs_correlation(factors(200, 30), shrinkage="none").provenance.intensity == 0
    assert sn.abs_correlation(factors(200, 30), shrinkage=0.25).provenance.intensity == 0.25
    for wrong in (2.0, "much"):
        with pytest.raises(InvalidInput, match="shrinkage: got"):
            sn.abs_correlation(factors(), shrinkage=wrong)


def test_signs_are_kept():
    X = factors()
    X[:, 3] *= -1
    S = sn.abs_correlation(pd.DataFrame(X, columns=[f"s{j}" for j in range(30)]))
    assert float(dense(S).min()) >= 0
    assert S.names[3] == "s3"
    everything = torch.arange(30)
    signs = S.provenance.signs(everything, everything).numpy()
    np.testing.assert_array_equal(signs, np.sign(np.corrcoef(X.T)))
    assert S.provenance.negative == int((np.corrcoef(X.T) < 0).sum() / 2)


def test_gram_where_no_correlation_is_negative():
    X = factors(60, 200) + 2 * np.random.default_rng(5).normal(size=(60, 1))
    S = sn.abs_correlation(X, dtype=torch.float64)
    assert isinstance(S, sn.GramOperator)
    assert "stored as a Gram matrix" in S.provenance.steps[-1]
    R = np.abs(np.corrcoef(X.T)) * (1 - S.provenance.intensity)
    np.fill_diagonal(R, 1)
    np.testing.assert_allclose(dense(S).numpy(), R, atol=1e-12)
    apart = np.random.default_rng(0).normal(size=(60, 200))
    assert not isinstance(sn.abs_correlation(apart), sn.GramOperator)


def test_tiles_do_not_show(monkeypatch):
    whole = dense(sn.abs_correlation(factors(200, 30), dtype=torch.float64))
    monkeypatch.setattr("symnmf.dependence.tiles.TILE_ROWS", 7)
    tiled = sn.abs_correlation(factors(200, 30), dtype=torch.float64)
    torch.testing.assert_close(dense(tiled), whole)


def test_pairs_of_rows_against_pandas():
    X = pd.DataFrame(factors())
    X = X.mask(np.random.default_rng(0).random(X.shape) < 0.05)
    panel = sn.read_panel(X, kind="returns", missing="pairwise")
    S = sn.abs_correlation(panel, dtype=torch.float64)
    np.testing.assert_allclose(dense(S).numpy(), X.corr().abs().to_numpy(), atol=1e-10)
    with pytest.raises(InvalidInput, match="cannot be combined with missing numbers"):
        sn.abs_correlation(panel, remove="market")
    apart = X.copy()
    apart.iloc[:200, 0] = np.nan
    apart.iloc[200:, 1] = np.nan
    with pytest.raises(InvalidInput, match="'0' and '1' share 0 usable rows"):
        sn.abs_correlation(sn.read_panel(apart, kind="returns", missing="pairwise"))


@pytest.mark.parametrize("shape", [(400, 30), (40, 90)])
def test_market_and_noise(shape):
    X = factors(*shape)
    scores = standardize(torch.from_numpy(X.T.copy()))
    rest, share = without_market(scores)
    values, vectors = np.linalg.eigh(np.corrcoef(X.T))
    assert share == pytest.approx(values[-1] / shape[1])
    Z = scores.numpy()
    expected = Z - np.outer(vectors[:, -1], vectors[:, -1] @ Z)
    expected /= expected.std(axis=1, keepdims=True)
    np.testing.assert_allclose(rest.numpy(), expected, atol=1e-8)
    R, edge = without_noise(scores)
    assert edge == pytest.approx((1 + (shape[1] / shape[0]) ** 0.5) ** 2)
    np.testing.assert_allclose(R.diagonal(), 1)
    kept = int((values >= edge).sum())
    cleaned = np.linalg.eigvalsh(R.numpy())
    assert np.ptp(cleaned[: shape[1] - kept]) < 0.5 * np.ptp(values[: shape[1] - kept])
    plain = dense(sn.abs_correlation(X))
    alone = dense(sn.abs_correlation(X, remove=("market", "noise")))
    assert float(alone.mean()) < float(plain.mean())
    with pytest.raises(InvalidInput, match="remove: got 'sector'"):
        sn.abs_correlation(X, remove="sector")


def test_tables_whose_matrix_goes_to_disk(tmp_path):
    X = pd.DataFrame(factors(100, 300, seed=4), columns=[f"s{j}" for j in range(300)])
    here, there = sn.abs_correlation(X), sn.abs_correlation(X, folder=tmp_path / "S")
    i = torch.arange(300)
    torch.testing.assert_close(there.block(i, i), here.block(i, i), atol=1e-6, rtol=1e-5)
    assert list(there.names) == list(X.columns)
    assert there.provenance.negative == here.provenance.negative
    assert any("on disk" in step for step in there.provenance.steps)
    again = sn.abs_correlation(X, folder=tmp_path / "S")  # found, not written again
    assert again.frob_sq() == there.frob_sq()
    with pytest.raises(InvalidFile, match="holds another matrix"):
        sn.abs_correlation(X + np.eye(100, 300), folder=tmp_path / "S")
    with pytest.raises(InvalidInput, match="remove: got 'noise' with folder"):
        sn.abs_correlation(X, folder=tmp_path / "T", remove="noise")


def test_what_is_asked_for_is_what_is_kept(tmp_path):
    X = factors(40, 90)
    wide = sn.abs_correlation(X, dtype=torch.float64)
    scores = wide.provenance.scores
    torch.testing.assert_close(scores.square().mean(dim=1), torch.ones(90, dtype=torch.float64))
    sn.abs_correlation(X, folder=tmp_path / "S", shrinkage=0.0)
    with pytest.raises(InvalidFile, match="holds another matrix"):
        sn.abs_correlation(X, folder=tmp_path / "S", shrinkage=0.9)
    X[3, 2] = np.nan
    holes = sn.read_panel(X, kind="returns", missing="pairwise")
    with pytest.raises(InvalidInput, match="folder: cannot be combined with missing"):
        sn.abs_correlation(holes, folder=tmp_path / "T")


def test_signs_of_what_was_used():
    X = factors(60, 8, seed=5)
    X[:, 3] *= -1
    X[:25, 3] = np.nan
    panel = sn.read_panel(X, kind="returns", missing="pairwise")
    everything = torch.arange(8)
    signs = sn.abs_correlation(panel).provenance.signs(everything, everything).numpy()
    np.testing.assert_array_equal(signs, np.sign(pd.DataFrame(X).corr().to_numpy()))


def test_a_matrix_that_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(resources, "free_memory", lambda: 1000.0)
    with pytest.raises(NotEnough, match="correlation of 30 instruments needs .*folder="):
        sn.abs_correlation(factors())


def test_factor_model_is_approached_at_the_rate_of_the_square_root():
    rng = np.random.default_rng(0)
    A = np.kron(np.eye(3), np.ones((5, 1))) + 0.2 * rng.random((15, 3))
    truth, gaps = population_correlation(A, noise=0.5), []
    for n in (1_000, 16_000):
        X = rng.normal(size=(n, 3)) @ A.T + 0.5**0.5 * rng.normal(size=(n, 15))
        S = dense(sn.abs_correlation(X, dtype=torch.float64)).numpy()
        gaps.append(float(np.sqrt(np.square(S - truth).mean())))
    assert gaps[0] / gaps[1] == pytest.approx(4, rel=0.5)
    assert gaps[1] < 0.01


@pytest.mark.shared_data
@pytest.mark.parametrize("columns", [400, pytest.param(None, marks=pytest.mark.slow)])
@pytest.mark.parametrize("holes", [0.0, 0.05])
@pytest.mark.filterwarnings("ignore::symnmf.errors.DataWarning")  # four figures that were put right
def test_us_stocks_against_pandas(columns, holes):
    table = pd.read_parquet(SHARED / US_STOCKS).dropna(axis=1)
    assert table.shape == (1244, 2528)
    table = table.iloc[:, :columns]
    table = table.mask(np.random.default_rng(0).random(table.shape) < holes)
    panel = sn.read_panel(table, kind="returns", missing="pairwise")
    S = sn.abs_correlation(panel, shrinkage="none")
    expected = table.corr().abs().to_numpy()
    assert float(np.abs(S.S.numpy() - expected).max()) < 1e-5
