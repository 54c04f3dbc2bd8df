"""Readers given valid files with small changes: read, or refused by our own errors."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch

import symnmf as sn
from symnmf.core.problem import Problem
from symnmf.engine import solve
from symnmf.operators.stored import write_matrix
from symnmf.solvers.registry import make_solver
from symnmf.storage.checkpoint import Checkpoint
from symnmf.storage.matrix_writer import MatrixWriter
from trust import fuzz
from trust.tally import FULL, count, record

S = np.eye(8) + np.ones((8, 8))
NAMES = [f"N{j}" for j in range(8)]


def npy(path):
    np.save(path / "a.npy", S)
    np.save(path / "b.npy", np.asfortranarray(S.astype(np.float32)))


def npz(path):
    for form in ("csr", "csc", "coo", "bsr", "dia"):
        sp.save_npz(path / f"{form}.npz", sp.coo_array(S).asformat(form), compressed=form != "coo")


def matrix_csv(path):
    pd.DataFrame(S, NAMES, NAMES).to_csv(path / "a.csv")


def matrix_parquet(path):
    pd.DataFrame(S, NAMES, NAMES).to_parquet(path / "a.parquet")


def returns():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 4)), columns=NAMES[:4])
    table.insert(0, "date", pd.date_range("2024-01-01", periods=30))
    return table


def returns_csv(path):
    returns().to_csv(path / "wide.csv", index=False)
    returns().melt("date").to_csv(path / "long.csv", index=False)


def returns_parquet(path):
    returns().to_parquet(path / "wide.parquet")
    returns().melt("date").to_parquet(path / "long.parquet")


def folder(path):
    write_matrix(path / "dense", S, form="dense", names=NAMES)
    write_matrix(path / "gram", S[:, :3].astype(np.float32), form="gram", shift=0.5)


def result(path):
    sn.save(sn.factorize(pd.DataFrame(S, NAMES, NAMES), 2, "admm"), path / "r")
    for table in ("loadings.csv", "labels.csv", "history.csv", "certificate.json", ".lock"):
        (path / "r" / table).unlink()
    (path / "r" / "loadings.parquet").unlink()


def windows(path):
    X = np.random.default_rng(0).normal(size=(60, 6))
    X += np.repeat(X[:, [0, 3]], 3, axis=1)
    sn.save_rolling(sn.rolling(X, 30, 30, 2, "correlation"), path / "w")
    for table in ("windows.csv", "labels.csv", "loadings.parquet", ".lock"):
        (path / "w" / table).unlink()


def checkpoint(path):
    problem = Problem(sn.as_operator(torch.eye(8) + 1), 2)
    solve(problem, make_solver("mu"), max_iter=20, checkpoint=Checkpoint(path / "c"))


def progress(path):
    writer = MatrixWriter(path / "p", (70, 70), "float64", {"fuzz": 1})
    writer.note("row 0", [1.0, 2.0])
    writer.note("row 1")


def study(path):
    text = 'title = "x"\ntask = "factorize"\nsizes = [20]\nseeds = [7]\nsolvers = ["mu"]\n'
    (path / "s.toml").write_text(text + "[configurations.mu]\neps = [1e-7, 1e-6]\n")


def classes(path):
    lines = "\n".join(f'{name},"class {j % 2}"' for j, name in enumerate(NAMES))
    (path / "c.csv").write_text(f"name,class\n{lines}\n")


#: Makers of valid files, who reads them, and the share of all cases they get.
READERS = {
    "npy": (npy, "matrix", 20),
    "npz": (npz, "matrix", 14),
    "matrix csv": (matrix_csv, "matrix", 8),
    "matrix parquet": (matrix_parquet, "matrix", 8),
    "returns csv": (returns_csv, "returns", 6),
    "returns parquet": (returns_parquet, "returns", 6),
    "matrix folder": (folder, "folder", 10),
    "result": (result, "result", 10),
    "windows": (windows, "windows", 6),
    "checkpoint": (checkpoint, "run", 6),
    "resumed run": (checkpoint, "checkpoint", 2),
    "unfinished matrix": (progress, "progress", 4),
    "study": (study, "study", 3),
    "classes": (classes, "classes", 3),
}
SOME = ("result",)
NAMED = [n if n in SOME else pytest.param(n, marks=pytest.mark.slow) for n in READERS]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMED)
def test_changed_files_are_read_or_refused(name, tmp_path):
    make, reader, share = READERS[name]
    cases = share * count(10, 1000)
    (tmp_path / "seeds").mkdir()
    make(tmp_path / "seeds")
    tried, read, bad = fuzz.fuzz(reader, tmp_path / "seeds", tmp_path / "scratch", cases)
    record(f"fuzz: {name}", tried, tried - len(bad))
    assert tried == cases
    assert not bad, json.dumps(bad[:20], indent=1)
    assert read < tried  # some changes are seen
    assert not FULL or read > 0  # and some do no harm


@pytest.mark.slow
def test_the_fuzzer_finds_what_leaks(tmp_path):
    """A reader that lets a foreign error out is caught by it."""
    (tmp_path / "seeds").mkdir()
    npy(tmp_path / "seeds")
    broken = fuzz.MAIN.replace(
        '"matrix": lambda', '"matrix": lambda path: np.load(path), "x": lambda'
    )
    fuzz_main, fuzz.MAIN = fuzz.MAIN, "import numpy as np\n" + broken
    try:
        _, _, bad = fuzz.fuzz("matrix", tmp_path / "seeds", tmp_path / "scratch", 30)
    finally:
        fuzz.MAIN = fuzz_main
    assert bad
