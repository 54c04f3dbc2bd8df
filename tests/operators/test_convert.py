"""What as_operator takes, and what it refuses with which words."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

from symnmf.core.problem import Problem
from symnmf.errors import InvalidInput, InvalidMatrix
from symnmf.operators import GramOperator, ScaledOperator, as_operator


def good(n=4):
    return np.full((n, n), 0.5) + 0.5 * np.eye(n)


def changed(*entries):
    S = good()
    for row, column, value in entries:
        S[row, column] = value
    return S


def frame(names, columns=None):
    return pd.DataFrame(good(len(names)), index=names, columns=columns or names)


BAD = {
    "nan": (changed((1, 2, np.nan)), r"entry \[1, 2\] is nan.*finite"),
    "inf": (changed((3, 0, np.inf)), r"entry \[3, 0\] is inf"),
    "negative": (changed((0, 3, -0.5), (3, 0, -0.5)), r"entry \[\d, \d\] is -0.5.*absolute"),
    "asymmetric": (changed((0, 3, 0.9)), r"\[0, 3\] and \[3, 0\] differ by 0.4.*its transpose"),
    "not square": (np.ones((3, 4)), r"shape \(3, 4\).*square"),
    "one dimension": (np.ones(4), r"shape \(4,\)"),
    "empty": (np.ones((0, 0)), r"shape \(0, 0\).*2 instruments"),
    "1×1": (np.ones((1, 1)), r"1 sample.*2 instruments"),
    "object": (good().astype(object), "type object.*Real numbers"),
    "text": (np.array([["a", "b"], ["b", "a"]]), "Real numbers"),
    "complex": (good().astype(complex), "type complex"),
    "complex tensor": (torch.ones(2, 2, dtype=torch.complex64), "type complex"),
    "zero": (np.zeros((3, 3)), "every entry is zero"),
    "index": (frame(["a", "b", "c"], ["a", "c", "b"]), "position 1: row 'b', column 'c'.*alike"),
    "duplicates": (frame(["a", "b", "a"]), "'a' occurs 2 times.*own name"),
    "sparse nan": (sp.csr_array(changed((1, 2, np.nan))), r"entry \[1, 2\] is nan"),
    "sparse negative": (sp.csr_array(changed((0, 1, -1), (1, 0, -1))), r"entry \[0, 1\] is -1"),
    "sparse asymmetric": (sp.csr_array(changed((0, 1, 0))), r"\[1, 0\] and \[0, 1\] differ"),
    "sparse zero": (sp.csr_array((3, 3)), "every entry is zero"),
}


@pytest.mark.parametrize("case", BAD)
def test_refused(case):
    S, words = BAD[case]
    with pytest.raises(InvalidMatrix, match=words) as caught:
        as_operator(S)
    assert str(caught.value).startswith("S: ")


def test_large_matrix_names_the_place_beyond_the_first_tile():
    S = np.eye(1500, dtype=np.float32)
    S[1400, 3] = np.nan
    with pytest.raises(InvalidMatrix, match=r"\[1400, 3\] is nan"):
        as_operator(S)
    S[1400, 3] = 0.5
    with pytest.raises(InvalidMatrix, match=r"\[1400, 3\] and \[3, 1400\] differ by 0.5"):
        as_operator(S)


def test_rounding_is_tolerated():
    S = good()
    S[0, 1] += 1e-7
    S[2, 3] = S[3, 2] = -1e-7
    assert as_operator(S).n == 4


@pytest.mark.parametrize("dtype", [np.int64, np.int8, bool, np.float16])
def test_other_numbers_become_float32(dtype):
    S = as_operator(np.eye(3).astype(dtype))
    assert S.dtype == torch.float32
    assert S.trace() == 3.0


def test_dtype_is_kept_or_as_asked_for():
    assert as_operator(good()).dtype == torch.float64
    assert as_operator(good().astype(np.float32)).dtype == torch.float32
    assert as_operator(good(), dtype=torch.float32).dtype == torch.float32
    assert as_operator(sp.csr_array(good()), dtype=torch.float32).dtype == torch.float32
    assert as_operator(good().astype(">f8")).trace() == 4.0


def test_names_come_from_the_frame_or_the_caller():
    assert as_operator(frame(["a", "b"])).names == ["a", "b"]
    assert as_operator(good(), names=list("wxyz")).names == list("wxyz")
    with pytest.raises(InvalidMatrix, match="2 names for 4 rows"):
        as_operator(good(), names=["a", "b"])


def test_operator_passes_through_or_is_converted():
    S = GramOperator(torch.ones(3, 2))
    assert as_operator(S) is S
    assert as_operator(S, dtype=torch.float64).dtype == torch.float64
    assert as_operator(S, names=["a", "b", "c"]).names == ["a", "b", "c"]
    assert S.names is None
    with pytest.raises(InvalidInput, match="dtype: DenseOperator holds torch.float64"):
        as_operator(as_operator(good()), dtype=torch.float32)
    with pytest.raises(InvalidInput, match="dtype: got torch.float16"):
        as_operator(good(), dtype=torch.float16)


def test_nothing_is_lost_on_the_way():
    large = np.array([[16777217, 1], [1, 16777217]])
    assert as_operator(large, dtype=torch.float64).trace() == 2 * 16777217
    assert as_operator(good().astype(">f8")).dtype == torch.float64
    S = changed((0, 1, 0.7), (1, 0, 0.7))
    np.testing.assert_array_equal(as_operator(S[::-1, ::-1]).S, S[::-1, ::-1].copy())
    fortran = as_operator(np.asfortranarray(S))
    X = torch.rand(4, 2, dtype=torch.float64)
    torch.testing.assert_close(fortran.matmul(X), torch.tensor(S) @ X)


@pytest.mark.parametrize(
    ("S", "words"),
    [
        (GramOperator(torch.zeros(3, 2)), "every entry is zero"),
        (GramOperator(torch.ones(1, 2)), "1 sample"),
        (GramOperator(torch.ones(3, 2), names=["a", "a", "b"]), "'a' occurs 2 times"),
        (GramOperator(torch.ones(3, 2), names=["a"]), "1 names for 3 rows"),
    ],
)
def test_every_operator_is_checked_before_a_run(S, words):
    with pytest.raises(InvalidMatrix, match=words):
        Problem(S, 1)


def test_gram_and_wrappers_check_what_they_get():
    with pytest.raises(InvalidMatrix, match="row 1 is not finite"):
        GramOperator(torch.tensor([[1.0], [float("nan")]]))
    with pytest.raises(InvalidMatrix, match="two float dimensions"):
        GramOperator(torch.ones(3))
    with pytest.raises(InvalidMatrix, match="Pass 3 numbers"):
        GramOperator(torch.ones(3, 1), torch.ones(2))
    with pytest.raises(InvalidInput, match="positive"):
        ScaledOperator(GramOperator(torch.ones(3, 1)), -1.0)
