"""Hostile files are refused by our own errors, within a second and 200 MB; no pickle is loaded."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import torch

import symnmf as sn
from symnmf import storage
from symnmf.operators.stored import write_matrix
from symnmf.storage.kinds import CHECKPOINT, MATRIX, RESULT
from trust import hostile
from trust.tally import trial

ROOT = Path(__file__).parents[2]


def huge_npy(path):
    file = path / "S.npy"
    file.write_bytes(hostile.npy_header((10**6, 10**6)))
    return "matrix", file


def overflowing_npy(path):
    file = path / "S.npy"
    file.write_bytes(hostile.npy_header((2**62, 2**62)))
    return "matrix", file


def negative_npy(path):
    file = path / "S.npy"
    file.write_bytes(hostile.npy_header((-2, -2)) + bytes(32))
    return "matrix", file


def pickled_npy(path):
    file = path / "S.npy"
    file.write_bytes(hostile.pickled())
    return "matrix", file


def archive_named_npy(path):
    file = hostile.npz(path / "S.npz", data=hostile.pickled())
    return "matrix", file.rename(path / "S.npy")


def code_in_the_header(path):
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': __import__('os').abort()}"
    header = header.ljust(118) + b"\n"
    file = path / "S.npy"
    file.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    return "matrix", file


def zip_bomb(path):
    zeros = hostile.npy_header((2, 20_000_000)) + bytes(320_000_000)
    shape, form = hostile.array_bytes([2, 2]), hostile.array_bytes("csr")
    return "matrix", hostile.npz(path / "S.npz", data=zeros, shape=shape, format=form)


def lying_npz(path):
    parts = {name: hostile.npy_header((10**12,)) for name in ("data", "indices", "indptr")}
    shape, form = hostile.array_bytes([2, 2]), hostile.array_bytes("csr")
    return "matrix", hostile.npz(path / "S.npz", shape=shape, format=form, **parts)


def empty_but_wide_npz(path):
    one = hostile.array_bytes(np.array([0], dtype=np.int64))
    parts = {"row": one, "col": one, "data": hostile.array_bytes([1.0])}
    shape, form = hostile.array_bytes([10**9, 10**9]), hostile.array_bytes("coo")
    return "matrix", hostile.npz(path / "S.npz", shape=shape, format=form, **parts)


def indices_outside(path):
    parts = {
        "data": hostile.array_bytes([1.0, 1.0]),
        "indices": hostile.array_bytes([0, 10**8]),
        "indptr": hostile.array_bytes([0, 1, 2]),
    }
    shape, form = hostile.array_bytes([2, 2]), hostile.array_bytes("csr")
    return "matrix", hostile.npz(path / "S.npz", shape=shape, format=form, **parts)


def pickled_npz(path):
    shape, form = hostile.array_bytes([2, 2]), hostile.array_bytes("csr")
    return "matrix", hostile.npz(path / "S.npz", data=hostile.pickled(), shape=shape, format=form)


def nested_parquet(path):
    table = pa.table({"a": [[1.0, 2.0], [3.0]], "b": [{"x": 1}, {"x": 2}]})
    pq.write_table(table, path / "S.parquet")
    return "matrix", path / "S.parquet"


def nested_returns(path):
    table = pa.table({"date": ["2024-01-01", "2024-01-02"], "a": [[[1.0]], [[2.0]]]})
    pq.write_table(table, path / "R.parquet")
    return "returns", path / "R.parquet"


def parquet_bomb(path):
    rows = 50_000_000
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([0.0]))
    names = {f"c{j}": column for j in range(4)}
    pq.write_table(pa.table(names), path / "R.parquet", compression="zstd")
    return "returns", path / "R.parquet"


def word_bomb(path):
    table = pa.table({"a": ["x" * 5_000_000] * 60, "b": np.zeros(60)})
    pq.write_table(table, path / "R.parquet")
    return "returns", path / "R.parquet"


def manifest(path, kind, content, **files_said):
    path.mkdir(exist_ok=True)
    said = {"kind": kind, "files": files_said, "content": content}
    (path / storage.MANIFEST).write_text(json.dumps(said))
    return path


def path_outside(path):
    (path / "secret").write_text("x")
    entry = {"name": "../secret", "bytes": 1, "sha256": storage.checksum(path / "secret")}
    return "result", manifest(path / "out", RESULT.name, {}, model=entry)


def link_outside(path):
    (path / "secret").write_text("x")
    (path / "out").mkdir()
    (path / "out" / "model").symlink_to(path / "secret")
    entry = {"name": "model", "bytes": 1, "sha256": storage.checksum(path / "secret")}
    return "result", manifest(path / "out", RESULT.name, {}, model=entry)


def many_files(path):
    entry = {"name": "model", "bytes": 1, "sha256": ""}
    return "result", manifest(
        path / "out", RESULT.name, {}, **{f"f{j}": entry for j in range(10_000)}
    )


def tensors_with(path, header, length=None):
    folder = path / "out"
    folder.mkdir()
    file = hostile.tensors(folder / "model", header, length)
    entry = {"name": "model", "bytes": file.stat().st_size, "sha256": storage.checksum(file)}
    return "result", manifest(folder, RESULT.name, {"status": "EXACT"}, model=entry)


def huge_tensor_header(path):
    return tensors_with(path, b"{" + b" " * 90_000_000 + b"}")


def lying_tensor_header(path):
    return tensors_with(path, b"{}", 2**63)


def lying_tensor_shape(path):
    header = {"H": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 4 * 10**18]}}
    return tensors_with(path, json.dumps(header).encode())


def deep_json(path):
    (path / "out").mkdir()
    (path / "out" / storage.MANIFEST).write_text("[" * 1_000_000)
    return "result", path / "out"


def wide_json(path):
    (path / "out").mkdir()
    (path / "out" / storage.MANIFEST).write_text("[" + "[]," * 5_000_000 + "0]")
    return "result", path / "out"


def pipe_as_manifest(path):
    (path / "out").mkdir()
    os.mkfifo(path / "out" / storage.MANIFEST)
    return "result", path / "out"


def deep_run(path):
    spec = {"tuple": []}
    for _ in range(300):
        spec = {"tuple": [spec]}
    folder = path / "out"
    folder.mkdir()
    file = hostile.tensors(folder / "run", b"{}")
    entry = {"name": "run", "bytes": file.stat().st_size, "sha256": storage.checksum(file)}
    content = {"identity": {}, "spec": spec}
    return "checkpoint", manifest(folder, CHECKPOINT.name, content, run=entry)


def matrix_manifest(path, **change):
    folder = write_matrix(path / "S", np.eye(70) + 1, form="dense")
    said = json.loads((folder / storage.MANIFEST).read_text())
    assert said["kind"] == MATRIX.name
    said["content"].update(change)
    del said["seal"]
    (folder / storage.MANIFEST).write_text(json.dumps(said))
    return "folder", folder


def lying_matrix(path):
    return matrix_manifest(path, shape=[10**6, 10**6])


def infinite_shape(path):
    reader, folder = matrix_manifest(path)
    text = (folder / storage.MANIFEST).read_text().replace('"shift": 0.0', '"shift": 1e999')
    (folder / storage.MANIFEST).write_text(text)
    return reader, folder


def linked_matrix(path):
    reader, folder = matrix_manifest(path)
    (folder / "data.npy").rename(path / "elsewhere.npy")
    (folder / "data.npy").symlink_to(path / "elsewhere.npy")
    return reader, folder


def endless_cell(path):
    (path / "R.csv").write_text("a,b\n" + '"' + "1" * 5_000_000)
    return "returns", path / "R.csv"


def deep_toml(path):
    (path / "s.toml").write_text("title = " + "[" * 100_000)
    return "study", path / "s.toml"


def endless_class(path):
    (path / "c.csv").write_text("name,class\n" + '"' + "x" * 5_000_000)
    return "classes", path / "c.csv"


CASES = [
    huge_npy, overflowing_npy, negative_npy, pickled_npy, archive_named_npy, code_in_the_header,
    zip_bomb, lying_npz, empty_but_wide_npz, indices_outside, pickled_npz, nested_parquet,
    nested_returns, parquet_bomb, word_bomb, path_outside, link_outside, many_files,
    huge_tensor_header, lying_tensor_header, lying_tensor_shape, deep_json, wide_json,
    pipe_as_manifest, deep_run, lying_matrix, infinite_shape, linked_matrix, endless_cell,
    deep_toml, endless_class,
]  # fmt: skip


@pytest.mark.slow
def test_refused_within_a_second_and_200_megabytes(tmp_path):
    made = []
    for case in CASES:
        folder = tmp_path / case.__name__
        folder.mkdir()
        made.append(case(folder))
    answers = hostile.attempts(made)
    assert len(answers) == len(CASES)
    for case, (end, seconds, megabytes) in zip(CASES, answers, strict=True):
        with trial("hostile files"):
            assert end.startswith("refused: "), (case.__name__, end)
            assert seconds < 1, (case.__name__, seconds, end)
            assert megabytes < 200, (case.__name__, megabytes, end)


def test_no_pickle_is_loaded_anywhere():
    """The words that would load one do not occur in the package."""
    bad = re.compile(
        r"\bpickle\b(?! is|, which may run code)|torch\.load|joblib|allow_pickle\s*=\s*True"
        r"|np\.load\((?!.*allow_pickle=False)|\bmarshal\b|\bshelve\b|\beval\(|\bexec\(|read_pickle|weights_only"
    )
    with trial("no pickle in the source"):
        for path in sorted((ROOT / "src").rglob("*.py")):
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                code = line.split("#")[0]
                found = bad.search(code)
                assert not found or "No pickle" in code, (path, number, line)


def test_good_files_are_still_read(tmp_path):
    """Every format of a matrix and a table, as scipy, pandas and numpy write it."""
    S = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.0]])
    np.save(tmp_path / "S.npy", S)
    frame = pd.DataFrame(S, index=["a", "b", "c"], columns=["a", "b", "c"])
    frame.to_parquet(tmp_path / "S.parquet")
    frame.to_csv(tmp_path / "S.csv")
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        sp.save_npz(tmp_path / f"{form}.npz", sp.coo_array(S).asformat(form))
        sp.save_npz(tmp_path / f"old-{form}.npz", sp.coo_matrix(S).asformat(form), compressed=False)
    paths = [p for p in tmp_path.iterdir() if p.suffix in (".npy", ".npz", ".csv", ".parquet")]
    assert len(paths) == 13
    for path in paths:
        operator = sn.as_operator(sn.data.read_matrix(path))
        np.testing.assert_allclose(operator.block(*[torch.arange(3)] * 2).numpy(), S)
    prices = pd.DataFrame(
        {"date": pd.date_range("2024-01-01", periods=30), "n": [f"N{j % 3}" for j in range(30)]}
    )
    prices["value"] = np.linspace(1, 2, 30)
    prices["n"] = prices["n"].astype("category")
    prices["date"] = prices["date"].repeat(3).to_numpy()[:30]
    prices.to_parquet(tmp_path / "long.parquet")
    assert sn.read_panel(tmp_path / "long.parquet", kind="prices").names == ("N0", "N1", "N2")
