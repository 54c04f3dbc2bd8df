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
from symnmf.operators import SymmetricOperator
from symnmf.operators.observed_entries import ObservedEntries
from symnmf.operators.observed_sparse import SparseObserved, observed_matrix


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
@pytest.mark.parametrize("n", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_a_fifth_hidden_is_fitted_to_the_floor(kind, n):
    b = market(kind, n)
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


def graph(n=60, k=3, seed=0):
    """A sparse weighted graph with k groups."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) * k // n
    joined = np.triu(rng.random((n, n)) < np.where(group[:, None] == group, 0.6, 0.05), 1)
    S = np.where(joined, rng.uniform(0.5, 1.5, (n, n)), 0)
    return S + S.T + np.eye(n)


def sparse_forms(S, keep, W):
    """The same entries and weights for a sparse and for a dense S."""
    holes = sp.csr_array(S).copy()
    holes = (holes + sp.csr_array(np.where(keep, 0, np.nan))).tocsr()
    return {
        "sparse mask": (sp.csr_array(S), {"mask": sp.csr_array(keep)}, {"mask": keep}),
        "dense mask": (sp.csr_array(S), {"mask": keep}, {"mask": keep}),
        "few observed": (sp.csr_array(S), {"mask": S > 0}, {"mask": S > 0}),
        "nan": (holes, {"mask": "nan"}, {"mask": keep}),
        "weights": (sp.csr_array(S), {"weights": sp.csr_array(W)}, {"weights": W}),
        "dense weights": (sp.csr_array(S), {"weights": W}, {"weights": W}),
    }


@pytest.mark.parametrize("form", sparse_forms(np.eye(2), np.ones((2, 2), bool), np.ones((2, 2))))
def test_sparse_entries_are_those_of_the_dense_matrix(form):
    S, rng = graph(), np.random.default_rng(3)
    keep = hidden(60, 0.1)
    W = np.where(S > 0, np.round(rng.random((60, 60)), 2) + 0.1, 0)
    W = (W + W.T) / 2
    sparse, how, dense_how = sparse_forms(S, keep, W)[form]
    seen = observed_matrix(sparse, how.get("mask"), how.get("weights"), torch.float64, None)
    dense = observed_matrix(S, dense_how.get("mask"), dense_how.get("weights"), torch.float64, None)
    assert isinstance(seen, SparseObserved) == (form != "dense weights")
    H = torch.from_numpy(rng.random((60, 3)))
    torch.testing.assert_close(seen.matmul(H), dense.matmul(H))
    torch.testing.assert_close(seen.completed(H).to_dense(), dense.completed(H).to_dense())
    torch.testing.assert_close(seen.completed().to_dense(), dense.completed().to_dense())
    index = torch.arange(60)
    torch.testing.assert_close(seen.block(index, index), dense.block(index, index))
    torch.testing.assert_close(seen.weight_sum(H), dense.weight_sum(H))
    for mine, theirs in (
        (seen.error(H), dense.error(H)),
        (seen.share, dense.share),
        (seen.mean(), dense.mean()),
        (seen.frob_sq(), dense.frob_sq()),
        (seen.scale(), dense.scale()),
        (seen.completed(H).frob_sq(), dense.completed(H).frob_sq()),
        (seen.completed(H).mean(), dense.completed(H).mean()),
    ):
        assert mine == pytest.approx(theirs, rel=1e-9)


@pytest.mark.parametrize("form", ["sparse mask", "nan", "weights"])
def test_a_sparse_fit_is_the_dense_fit(form):
    S, keep = graph(), hidden(60, 0.1)
    sparse, how, dense_how = sparse_forms(S, keep, np.where(S > 0, 0.5 + 0.5 * keep, 0.1))[form]
    one = sn.factorize(sparse, 3, **how)
    two = sn.factorize(S, 3, **dense_how)
    assert one.status.good
    assert one.certificate.error == pytest.approx(two.certificate.error, rel=1e-4)
    assert one.certificate.rank_one == pytest.approx(two.certificate.rank_one, rel=1e-4)
    assert one.certificate.observed == pytest.approx(two.certificate.observed)
    assert "no floor is known" in one.certificate.verdict
    torch.testing.assert_close(one.H, two.H, rtol=0, atol=0.01)


def test_a_sparse_matrix_is_never_made_dense(monkeypatch):
    def refuse(self):
        raise AssertionError("made dense")

    monkeypatch.setattr(SymmetricOperator, "to_dense", refuse)
    monkeypatch.setattr(sp.csr_array, "toarray", refuse)
    n, k = 3000, 4
    rng = np.random.default_rng(0)
    i = rng.integers(0, n, 12 * n)
    j = (i // (n // k)) * (n // k) + rng.integers(0, n // k, 12 * n)
    A = sp.coo_array((np.ones(len(i), np.float32), (i, j)), shape=(n, n)).tocsr()
    A = ((A + A.T) > 0).astype(np.float32)
    A.data[rng.random(A.nnz) < 0.1] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # five steps are few
        found = sn.factorize(A, k, mask="nan", n_init=1, max_iter=5)
    labels = found.labels().numpy()
    assert all(len(set(labels[g * (n // k) : (g + 1) * (n // k)])) == 1 for g in range(k))


@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_the_size_of_the_entries_does_not_matter(size):
    S, keep = graph(30, 2), hidden(30, 0.1)
    one = sn.factorize(S, 2, mask=keep)
    for matrix in (S * size, sp.csr_array(S * size)):
        two = sn.factorize(matrix, 2, mask=keep)
        assert two.certificate.error == pytest.approx(one.certificate.error, rel=1e-3)
        torch.testing.assert_close(two.H / size**0.5, one.H, rtol=0, atol=0.01)


def test_a_frame_gives_its_names():
    import pandas as pd

    S = np.kron(np.eye(3), np.ones((4, 4)))
    names = [f"s{i}" for i in range(12)]
    frame = pd.DataFrame(S, index=names, columns=names)
    assert sn.factorize(frame, 3, mask=hidden(12, 0.1)).names == tuple(names)


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


def test_what_cannot_be_used_of_a_sparse_matrix_is_said():
    S = sp.csr_array(np.kron(np.eye(2), np.ones((3, 3))))
    keep = np.ones((6, 6), dtype=bool)
    with pytest.raises(InvalidMatrix, match="mask: has shape"):
        sn.factorize(S, 2, mask=sp.csr_array(keep[:5, :5]))
    with pytest.raises(InvalidMatrix, match="mask: got 'none'"):
        sn.factorize(S, 2, mask="none")
    keep[0, 1] = False
    for mask in (keep, sp.csr_array(keep)):
        with pytest.raises(InvalidMatrix, match="mask: is not symmetric"):
            sn.factorize(S, 2, mask=mask)
    keep[0], keep[:, 0] = False, False
    for mask in (keep, sp.csr_array(keep)):
        with pytest.raises(InvalidMatrix, match="row 0 has no observed entry"):
            sn.factorize(S, 2, mask=mask)
    with pytest.raises(InvalidMatrix, match="weights: has entries that are not finite"):
        sn.factorize(S, 2, weights=-S)
    with pytest.raises(InvalidMatrix, match=r"the observed entry \[0, 0\] is negative"):
        sn.factorize(-S, 2, mask=sp.csr_array(np.ones((6, 6))))
    with pytest.raises(InvalidMatrix, match="S: is not symmetric"):
        sn.factorize(sp.csr_array(np.triu(S.toarray())), 2, mask=sp.csr_array(np.ones((6, 6))))
