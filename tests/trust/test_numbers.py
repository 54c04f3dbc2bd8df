"""Bad numbers: what holds for every matrix, operator and row of the registry."""

import warnings
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import HealthCheck, given, settings
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from helpers import DiagonalShift
from symnmf.core.objective import error_by_definition
from symnmf.core.problem import Problem
from symnmf.engine import solve
from symnmf.errors import InvalidMatrix
from symnmf.operators import GramOperator, ScaledOperator, as_operator
from symnmf.operators.stored import open_matrix, write_matrix
from symnmf.solvers.registry import available, make_solver
from trust.tally import count, trial

ROW = "numbers: {}"
NAMES = list(available())
DETERMINISTIC = [name for name in NAMES if available()[name].deterministic]
#: Rows whose step searches until the error falls. The multiplicative update does not promise it:
#: for one entry it is the rule for square roots, which from a small start leaps above the root.
PROMISED = [
    *(f"{name}{space}" for name in ("pgd", "newton", "lbfgs", "pgncg") for space in ("", "-log")),
    "ccd",
    "bsum",
]


def examples(few: int, many: int):
    return settings(
        max_examples=count(few, many),
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def matrices(draw, low=2, high=14):
    """Symmetric, non-negative, not zero, in float64: of low or full rank, with holes and copies."""
    n, rng = draw(st.integers(low, high)), np.random.default_rng(draw(st.integers(0, 2**20)))
    kind = draw(st.sampled_from(["gram", "any", "holes", "blocks", "copies", "ranges", "flat"]))
    A = rng.random((n, n))
    S = A + A.T
    if kind == "gram":
        B = rng.random((n, draw(st.integers(1, n))))
        S = B @ B.T
    elif kind == "holes":
        S = S * (S > 1.2)
    elif kind == "blocks":
        groups = rng.integers(0, 3, n)
        S = (groups[:, None] == groups) + 0.1 * S
    elif kind == "copies":
        places = rng.integers(0, n, n)
        S = S[places][:, places]
    elif kind == "ranges":
        size = 10.0 ** rng.uniform(-4, 4, n)
        S = S * size * size[:, None]
    elif kind == "flat":
        S = np.ones((n, n))
    S[0, 0] += 1.0  # never zero
    return torch.from_numpy(S)


FORMS = ["dense", "numpy", "sparse", "gram", "scaled", "shifted", "tiles"]


def operator(form, S, folder):
    """The matrix (for gram: that of which it is the factor) held in some form."""
    if form == "numpy":
        return as_operator(S.numpy())
    if form == "sparse":
        return as_operator(sp.csr_array(S.numpy()))
    if form == "gram":
        return GramOperator(S / S.shape[0])
    if form == "scaled":
        return ScaledOperator(as_operator(S), 3.0)
    if form == "shifted":
        return DiagonalShift(as_operator(S), S.diagonal().clone())
    if form == "tiles":
        return open_matrix(write_matrix(folder, S, form="dense"), tile_bytes=256)
    return as_operator(S)


def run(S, k, name, max_iter=12, seed=0, start=None):
    own = available()[name].start if start is None else start
    return solve(Problem(as_operator(S), k, seed, own), make_solver(name), max_iter=max_iter)


@given(data=st.data(), S=matrices(), name=st.sampled_from(NAMES), form=st.sampled_from(FORMS))
@examples(30, 1000)
def test_every_factor_is_finite_and_not_negative(tmp_path_factory, data, S, name, form):
    """Any operator, any row, any k from 1 to n, both types."""
    k = data.draw(st.integers(1, len(S)))
    S = S.to(data.draw(st.sampled_from([torch.float32, torch.float64])))
    with trial(ROW.format("any operator, row and k")):
        made = operator(form, S, tmp_path_factory.mktemp("S") / "M")
        result = solve(Problem(made, k, 1, available()[name].start), make_solver(name), max_iter=12)
        assert result.H.shape == (len(S), k)
        assert torch.isfinite(result.H).all()
        assert (result.H >= 0).all()
        everything = torch.arange(made.n)
        formed = made.block(everything, everything)
        truth = error_by_definition(formed, result.H)
        assert result.certificate.error == pytest.approx(truth, abs=2e-5, rel=1e-4)
        assert result.certificate.error <= result.history[0].error
        assert result.certificate.floor_low <= result.certificate.error + 1e-5
        labels = result.labels()
        assert ((labels >= -1) & (labels < k)).all()


@given(data=st.data(), S=matrices(), name=st.sampled_from(PROMISED))
@examples(15, 300)
def test_the_error_does_not_rise_where_that_is_promised(data, S, name):
    k = data.draw(st.integers(1, len(S)))
    with trial(ROW.format("error never rises where promised")):
        problem = Problem(as_operator(S), k, 2, available()[name].start)
        solver = make_solver(name)
        object.__setattr__(solver, "check_every", 1)
        errors = [check.error for check in solve(problem, solver, max_iter=15).history]
        slack = 1e-6 * errors[0]
        assert all(b <= a + slack for a, b in pairwise(errors))


@given(data=st.data(), S=matrices(), name=st.sampled_from(NAMES), power=st.integers(-49, 49))
@examples(20, 400)
def test_the_scale_of_s_is_the_scale_of_h(data, S, name, power):
    """From 1e-30 to 1e30, in float32."""
    k, S = data.draw(st.integers(1, len(S))), S.to(torch.float32)
    S = S / S.max()
    with trial(ROW.format("scale law, 1e-30 to 1e30")):
        plain, scaled = run(S, k, name), run(S * 4.0**power, k, name)
        size = float(plain.H.max())
        torch.testing.assert_close(
            scaled.H * 2.0**-power, plain.H, rtol=1e-3, atol=1e-3 * size + 1e-30
        )
        assert scaled.certificate.error == pytest.approx(plain.certificate.error, abs=1e-5)
        assert bool(scaled.notes) == (abs(2 * power + np.log2(as_operator(S).scale())) > 20)


@pytest.mark.parametrize("size", [1e-30, 1e-20, 3e-7, 1.0, 7e12, 1e30])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_any_size_of_numbers_gives_the_same_groups(size, dtype):
    S = sn.benchmark_matrix("corr", 60, seed=7, samples=4000).operator.S.to(torch.float64)
    with trial(ROW.format("scale law, 1e-30 to 1e30")):
        plain = sn.factorize(S, 5)
        result = sn.factorize((S * size).to(dtype), 5)
        assert adjusted_rand_score(result.labels(), plain.labels()) == 1.0
        assert result.certificate.error == pytest.approx(plain.certificate.error, rel=1e-3)
        assert result.status.good
        said = [note for note in result.notes if "changes no digit" in note]
        assert len(said) == (not 1e-6 < size < 1e6)
        H = result.H.double() / size**0.5
        torch.testing.assert_close(H @ H.T, plain.H @ plain.H.T, rtol=0.01, atol=1e-3)


def test_numbers_beyond_the_range_are_refused_with_a_remedy():
    S = torch.ones(4, 4, dtype=torch.float64)
    for size in (1e-200, 1e-150, 1e150):
        with trial(ROW.format("refusals")), pytest.raises(InvalidMatrix, match="multiply S by"):
            sn.factorize(S * size, 2)
    with trial(ROW.format("refusals")), pytest.raises(InvalidMatrix, match="multiply S by"):
        sn.factorize(S.float() * 1e-38, 2)


def test_scaled_starts_and_callbacks_are_those_of_the_caller():
    S = sn.benchmark_matrix("corr", 40, seed=7, samples=4000).operator.S
    H0 = torch.rand(40, 4)
    seen = []

    def look(check, H):
        seen.append(float(H.max()))

    plain = sn.factorize(S, 4, "adagrad", start=H0, callbacks=[look])
    ratio, seen[:] = seen[0], []
    large = sn.factorize(S * 2.0**60, 4, "adagrad", start=H0 * 2.0**30, callbacks=[look])
    assert torch.equal(large.H, plain.H * 2.0**30)
    assert seen[0] == ratio * 2.0**30


@given(data=st.data(), S=matrices(3), name=st.sampled_from(DETERMINISTIC))
@examples(15, 300)
def test_permuted_rows_permute_the_factor(data, S, name):
    n = len(S)
    k, order = data.draw(st.integers(1, n)), torch.tensor(data.draw(st.permutations(range(n))))
    start = torch.rand(n, k, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
    with trial(ROW.format("permutation equivariance")):
        plain = run(S, k, name, 6, start=start)
        moved = run(S[order][:, order], k, name, 6, start=start[order])
        size = float(plain.H.max())
        torch.testing.assert_close(moved.H, plain.H[order], rtol=1e-4, atol=1e-5 * size)


@given(data=st.data(), S=matrices(3), name=st.sampled_from(DETERMINISTIC))
@examples(15, 300)
def test_copies_of_a_row_keep_equal_loadings(data, S, name):
    n = len(S)
    k, twin = data.draw(st.integers(1, n)), data.draw(st.integers(1, n - 1))
    places = torch.arange(n)
    places[twin] = 0
    S = S[places][:, places]
    start = torch.rand(n, k, dtype=torch.float64, generator=torch.Generator().manual_seed(n))
    with trial(ROW.format("copies of a row stay equal")):
        H = run(S, k, name, 6, start=start[places]).H
        torch.testing.assert_close(H[twin], H[0], rtol=1e-6, atol=1e-8 * float(H.max()))


@given(data=st.data(), S=matrices(3), name=st.sampled_from(NAMES))
@examples(15, 300)
def test_rows_of_zeros_get_loadings_of_zero(data, S, name):
    n = len(S)
    empty = data.draw(st.lists(st.integers(1, n - 1), min_size=1, max_size=n - 1, unique=True))
    S = S.clone()
    S[empty] = 0
    S[:, empty] = 0
    k = data.draw(st.integers(1, n))
    with trial(ROW.format("rows of zeros")):
        result = run(S, k, name)
        assert not result.H[empty].any()
        assert (result.labels()[empty] == -1).all()


KINDS = ["float16", "float32", "float64", "int8", "uint8", "int32", "int64", "uint16", "bool"]


@given(S=matrices(), kind=st.sampled_from(KINDS), k=st.integers(1, 3))
@examples(10, 200)
def test_every_type_of_number_is_taken(S, kind, k):
    values = (S / S.max() * 2).round().clamp(0, 1 if kind == "bool" else 100).numpy().astype(kind)
    if not values.any():
        values[0, 0] = 1
    with trial(ROW.format("types")), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = sn.factorize(values, min(k, len(values)), max_iter=100)
        assert result.H.dtype == (torch.float64 if kind == "float64" else torch.float32)
        assert torch.isfinite(result.H).all()


@given(data=st.data(), S=matrices(), name=st.sampled_from(NAMES))
@examples(10, 200)
def test_denormal_numbers_are_flushed(data, S, name):
    """Entries that float32 holds with few digits neither disturb nor come out."""
    S = (S / S.max()).to(torch.float32)
    S = S * torch.where(S < 0.5, 1e-40, 1.0)
    k = data.draw(st.integers(1, len(S)))
    with trial(ROW.format("denormals")):
        H = run(S, k, name).H
        assert torch.isfinite(H).all()
        least = torch.finfo(torch.float32).tiny
        assert not ((H > 0) & (least > H)).any()
