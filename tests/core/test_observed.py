"""Missing and weighted entries of S."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import symnmf as sn
from helpers import market
from symnmf.core.objective import gradient
from symnmf.errors import InvalidInput, InvalidMatrix
from symnmf.factorization import WITHOUT_ENTRIES
from symnmf.operators.observed_entries import ObservedEntries


def hidden(n, share, seed=0):
    """A symmetric mask with about this share hidden, on the diagonal as elsewhere."""
    keep = np.triu(np.random.default_rng(seed).random((n, n)) >= share)
    return keep | keep.T


def test_the_gradient_and_the_error_are_those_of_the_weighted_objective():
    rng = np.random.default_rng(1)
    S = torch.from_numpy(np.abs(np.corrcoef(rng.normal(size=(12, 30)))))
    W = torch.from_numpy(rng.random((12, 12)))
    W = (W + W.T) / 2
    H = torch.from_numpy(rng.random((12, 3))).requires_grad_()
    seen = ObservedEntries(S, W)
    value = (W * (S - H @ H.T).square()).sum()
    value.backward()
    X = H.detach()
    torch.testing.assert_close(gradient(X, seen.matmul(X)), H.grad)
    assert seen.error(X) == pytest.approx(float(value.detach()) / float((W * S * S).sum()))


@pytest.mark.parametrize("kind", ["corr", "tpdm"])
def test_a_fifth_hidden_is_fitted_to_the_floor(kind):
    b = market(kind, 100)
    S = b.operator.to_dense().double().numpy()
    keep = hidden(len(S), 0.2)
    whole = sn.factorize(S, b.k).certificate
    found = sn.factorize(S, b.k, mask=keep)
    c = found.certificate
    assert found.status.good
    assert c.error <= 1.05 * whole.floor_high
    assert c.observed == pytest.approx(keep.mean())
    assert (c.excess, c.factors_available) == (None, 0)
    assert "no floor is known" in c.verdict
    fit = (found.H @ found.H.T).numpy()
    expected = (keep * (S - fit) ** 2).sum() / (keep * S**2).sum()
    assert c.error == pytest.approx(expected, rel=1e-3)
    hidden_error = ((~keep) * (S - fit) ** 2).sum() / ((~keep) * S**2).sum()
    assert hidden_error < 0.6 * c.rank_one  # what was hidden is predicted, too


def test_nan_is_missing_where_the_caller_says_so():
    S = np.kron(np.eye(2), np.ones((4, 4))) + 0.1
    S[0, 1] = S[1, 0] = S[5, 2] = S[2, 5] = np.nan
    with pytest.raises(InvalidMatrix, match="entry"):
        sn.factorize(S, 2)
    found = sn.factorize(S, 2, mask="nan")
    first = found.labels()[:4]
    assert len(set(first.tolist())) == 1
    assert (found.labels()[4:] != first).all()
    assert (found.H @ found.H.T)[0, 1] == pytest.approx(1.1, abs=0.02)


def test_weights_of_one_are_no_weights():
    S = market("corr", 100).operator.to_dense().double()
    start = torch.rand(100, 10, generator=torch.Generator().manual_seed(0)).double() / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # neither has converged
        one = sn.factorize(S, 10, "admm", start=start, max_iter=40)
        two = sn.factorize(S, 10, "admm", weights=np.ones((100, 100)), start=start, max_iter=40)
    torch.testing.assert_close(one.H @ one.H.T, two.H @ two.H.T, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("solver", WITHOUT_ENTRIES)
def test_every_listed_solver_decreases_the_weighted_error(solver):
    S = market("corr", 100).operator.to_dense().double()
    keep = hidden(100, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sn.factorize(S, 10, solver, mask=keep, start="random", max_iter=400)
    errors = [check.error for check in found.history]
    assert errors[-1] < 0.2 * errors[0]
    assert found.certificate.error < 0.8 * found.certificate.rank_one


def test_sparse_and_frames():
    S = np.kron(np.eye(3), np.ones((4, 4)))
    keep = hidden(12, 0.1)
    dense = sn.factorize(S, 3, mask=keep)
    sparse = sn.factorize(sp.csr_array(S), 3, mask=sp.csr_array(keep))
    torch.testing.assert_close(dense.H.float(), sparse.H.float())
    import pandas as pd

    names = [f"s{i}" for i in range(12)]
    frame = pd.DataFrame(S, index=names, columns=names)
    assert sn.factorize(frame, 3, mask=keep).names == tuple(names)


def test_what_cannot_be_used_is_said():
    S = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    keep = np.ones((6, 6), dtype=bool)
    with pytest.raises(InvalidInput, match="mask: was given together with weights"):
        sn.factorize(S, 2, mask=keep, weights=np.ones((6, 6)))
    with pytest.raises(InvalidInput, match="solver: 'pgncg' needs every entry"):
        sn.factorize(S, 2, "pgncg", mask=keep)
    with pytest.raises(InvalidMatrix, match="mask: has shape"):
        sn.factorize(S, 2, mask=keep[:5])
    keep[0, 1] = False
    with pytest.raises(InvalidMatrix, match="mask: is not symmetric"):
        sn.factorize(S, 2, mask=keep)
    keep[0], keep[:, 0] = False, False
    with pytest.raises(InvalidMatrix, match="row 0 has no observed entry"):
        sn.factorize(S, 2, mask=keep)
    with pytest.raises(InvalidMatrix, match="weights: has entries that are not finite"):
        sn.factorize(S, 2, weights=-np.ones((6, 6)))
