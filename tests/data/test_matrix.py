"""Reading matrices."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from symnmf import as_operator, read_matrix
from symnmf.errors import InvalidFile, InvalidMatrix

S = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
FRAME = pd.DataFrame(S, index=list("abc"), columns=list("abc"))


def test_every_format(tmp_path):
    np.save(tmp_path / "S.npy", S)
    sp.save_npz(tmp_path / "S.npz", sp.csr_array(S))
    FRAME.to_csv(tmp_path / "S.csv")
    FRAME.to_parquet(tmp_path / "S.parquet")
    FRAME.reset_index().to_parquet(tmp_path / "column.parquet")
    for name in ("S.npy", "S.npz", "S.csv", "S.parquet", "column.parquet"):
        operator = as_operator(read_matrix(tmp_path / name))
        assert operator.trace() == 3.0
        assert operator.names == (None if name[:3] in ("S.n",) else list("abc"))
    assert isinstance(read_matrix(tmp_path / "S.npy"), np.memmap)


def test_names_are_taken_as_written(tmp_path):
    names = ["001", "NA", "1.10"]
    pd.DataFrame(S, index=names, columns=names).to_csv(tmp_path / "S.csv")
    assert as_operator(read_matrix(tmp_path / "S.csv")).names == names
    twice = ["a", "b", "a"]
    pd.DataFrame(S, index=twice, columns=twice).to_csv(tmp_path / "S.csv")
    with pytest.raises(InvalidMatrix, match="'a' occurs 2 times"):
        as_operator(read_matrix(tmp_path / "S.csv"))


def test_a_csv_without_names_loses_no_row(tmp_path):
    pd.DataFrame(S).to_csv(tmp_path / "S.csv", header=False, index=False)
    np.testing.assert_array_equal(as_operator(read_matrix(tmp_path / "S.csv")).S, S)
    (tmp_path / "S.csv").write_text("a,b\na,1,0\nb,0,1\n")  # as R writes it
    assert as_operator(read_matrix(tmp_path / "S.csv")).names == ["a", "b"]
    (tmp_path / "S.csv").write_text("x,a,b,c\na,1,0,2\nb,0,1,2\n")
    with pytest.raises(InvalidFile, match="2 rows and 3 columns: it is no square matrix"):
        read_matrix(tmp_path / "S.csv")


def test_half_a_matrix_and_another_order_of_columns(tmp_path):
    (tmp_path / "S.csv").write_text("x,a,b,c\na,1,,\nb,0.5,1,\nc,0,0,1\n")
    np.testing.assert_array_equal(read_matrix(tmp_path / "S.csv"), S)
    FRAME[["c", "a", "b"]].to_csv(tmp_path / "S.csv")
    np.testing.assert_array_equal(read_matrix(tmp_path / "S.csv"), S)


def test_refused(tmp_path):
    (tmp_path / "S.npy").write_bytes(b"")
    with pytest.raises(InvalidFile, match="cannot be read"):
        read_matrix(tmp_path / "S.npy")
    sp.save_npz(tmp_path / "S.npz", sp.csr_array(S))
    (tmp_path / "S.npz").write_bytes((tmp_path / "S.npz").read_bytes()[:40])
    with pytest.raises(InvalidFile, match="cannot be read"):
        read_matrix(tmp_path / "S.npz")
    with pytest.raises(InvalidFile, match=r"does not exist"):
        read_matrix(tmp_path / "S.csv")
    (tmp_path / "S.xlsx").write_bytes(b"nonsense")
    with pytest.raises(InvalidFile, match=r"no .xlsx file"):
        read_matrix(tmp_path / "S.xlsx")
    np.save(tmp_path / "S.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(InvalidFile, match="cannot be read: .*Python objects"):
        read_matrix(tmp_path / "S.npy")
    for name in ("S.parquet", "S.npz", "S.npy"):
        (tmp_path / name).write_bytes(b"nonsense")
        with pytest.raises(InvalidFile, match="cannot be read"):
            read_matrix(tmp_path / name)
    (tmp_path / "S.csv").write_text("name,a,b\na,1,x\nb,x,1\n")
    with pytest.raises(InvalidFile, match="line 2, column 'b' is 'x'; line 3, column 'a' is 'x'"):
        read_matrix(tmp_path / "S.csv")
