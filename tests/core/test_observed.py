"""Missing and weighted entries of S."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import symnmf as sn
from helpers import market
from symnmf.core.objective import gradient
from symnmf.core.spectral_completion import spectral_completion
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
    H = torch.rand(100, 10, generator=torch.Generator().manual_seed(0)).double()
    seen = ObservedEntries(S, torch.ones(100, 100).double())
    torch.testing.assert_close(seen.matmul(H), S @ H)
    assert seen.whole
    assert not ObservedEntries(S, torch.from_numpy(hidden(100, 0.2))).whole


@pytest.mark.parametrize(
    "how", [{"mask": np.ones((40, 40), bool)}, {"mask": "nan"}, {"weights": np.full((40, 40), 3.0)}]
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_where_nothing_is_missing_the_floor_is_known(how, form):
    S = form(np.kron(np.eye(4), np.ones((10, 10))) + 0.1 * np.eye(40))
    found, plain = sn.factorize(S, 4, **how), sn.factorize(S, 4)
    torch.testing.assert_close(found.H, plain.H)
    assert found.certificate.floor_low == plain.certificate.floor_low > 0
    assert found.certificate.observed is None


def test_directions_complete_a_matrix_of_groups_and_diagonal():
    rng = np.random.default_rng(0)
    groups = np.kron(np.eye(5), np.ones((40, 40)))
    S = torch.from_numpy(groups + 0.1 + np.diag(rng.uniform(1, 30, 200)))
    keep = torch.from_numpy(hidden(200, 0.5))
    known = torch.where(keep, S, torch.nan)
    for seen in (
        ObservedEntries(known, keep),
        ObservedEntries(known, keep.double() * 0.5 + 0.1 * keep.double()),
        observed_matrix(sp.csr_array(S.numpy()), sp.csr_array(keep.numpy()), None, None, None),
        observed_matrix(sp.csr_array(S.numpy()), keep.numpy(), None, None, None),
    ):
        B = spectral_completion(seen, 6, 0)
        hidden_error = ((B @ B.T).numpy() - groups - 0.1)[~keep.numpy()]
        assert np.square(hidden_error).mean() ** 0.5 < 0.01
        ZX, left = seen.completed_times(B, B)
        torch.testing.assert_close(ZX, seen.matmul(B))
        own = float(seen.left_on_diagonal(B).square().sum())
        assert own > 0.99 * left  # only the diagonal is left


def test_directions_of_noise_do_not_complete():
    rng = np.random.default_rng(1)
    noise = np.triu(rng.exponential(size=(100, 100)))
    S, keep = torch.from_numpy(noise + noise.T), torch.from_numpy(hidden(100, 0.7))
    B = spectral_completion(ObservedEntries(S, keep), 8, 0)
    off = ~keep & ~torch.eye(100, dtype=torch.bool)
    assert (S - B @ B.T)[off].square().mean() < 1.2 * S[off].var()


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
        sn.factorize(S, 2, "pgncg", mask=~np.eye(6, dtype=bool))
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


def test_the_names_of_a_mask_are_those_of_the_matrix():
    import pandas as pd

    names = [f"s{i}" for i in range(12)]
    S = pd.DataFrame(np.kron(np.eye(3), np.ones((4, 4))) + 0.1, index=names, columns=names)
    keep = pd.DataFrame(hidden(12, 0.1), index=names, columns=names)
    found = sn.factorize(S, 3, mask=keep)
    turned = keep.iloc[::-1, ::-1]
    with pytest.raises(InvalidMatrix, match="mask: has its rows in another order than S"):
        sn.factorize(S, 3, mask=turned)
    with pytest.raises(InvalidMatrix, match="weights: has its columns in another order than S"):
        sn.factorize(S, 3, weights=keep.iloc[:, ::-1].astype(float))
    torch.testing.assert_close(
        sn.factorize(S, 3, mask=turned.loc[S.index, S.columns]).H, found.H, rtol=0, atol=0
    )
    with pytest.raises(InvalidMatrix, match="mask: has rows that S has not, such as 'x0'"):
        sn.factorize(S, 3, mask=keep.rename(index=lambda s: s.replace("s", "x")))
    keep.iloc[3, :] = keep.iloc[:, 3] = False
    with pytest.raises(InvalidMatrix, match=r"row 3 \('s3'\) has no observed entry"):
        sn.factorize(S, 3, mask=keep)


def test_truth_values_have_many_forms():
    import pandas as pd

    S, keep = np.kron(np.eye(3), np.ones((4, 4))) + 0.1, hidden(12, 0.1)
    frame = pd.DataFrame(keep)
    expected = sn.factorize(S, 3, mask=keep).H
    forms = (frame.astype("boolean"), frame.astype(object), keep.astype(int), keep.tolist())
    for mask in forms:
        for matrix in (S, sp.csr_array(S)):
            torch.testing.assert_close(
                sn.factorize(matrix, 3, mask=mask).H, expected, rtol=0, atol=0.01
            )
    nullable = frame.astype(float).astype("Float64")
    torch.testing.assert_close(sn.factorize(S, 3, weights=nullable).H, expected)


def test_what_is_neither_true_nor_false_is_said():
    import pandas as pd

    S, keep = np.kron(np.eye(3), np.ones((4, 4))) + 0.1, hidden(12, 0.1)
    absent = pd.DataFrame(keep).astype("boolean")
    absent.iloc[0, 1] = pd.NA
    number = keep.astype(float)
    number[0, 1] = number[1, 0] = np.nan
    for matrix in (S, sp.csr_array(S)):
        for mask in (absent, number):
            with pytest.raises(InvalidMatrix, match=r"mask: the entry \[0, 1\] is missing"):
                sn.factorize(matrix, 3, mask=mask)
        with pytest.raises(InvalidMatrix, match=r"is 0.5, neither true nor false. Pass weights"):
            sn.factorize(matrix, 3, mask=np.full((12, 12), 0.5))
        with pytest.raises(InvalidMatrix, match="mask: has entries of type <U5"):
            sn.factorize(matrix, 3, mask=keep.astype(str))
    for none in (np.zeros((12, 12), bool), sp.csr_array((12, 12))):
        with pytest.raises(InvalidMatrix, match="mask: observes no entry"):
            sn.factorize(sp.csr_array(S), 3, mask=none)
    for argument in ({"published": True}, {"resume": True}, {"device": "cpu"}):
        with pytest.raises(InvalidInput, match="cannot be combined with a mask"):
            sn.factorize(S, 3, mask=keep, **argument)
    with pytest.raises(InvalidInput, match="^n_init: got 0"):
        sn.factorize(S, 3, mask=keep, n_init=0)
