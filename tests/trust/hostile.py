"""Makers of hostile files, and a child with little memory and little time to read them in."""

import io
import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

import faults

#: Runs in a child: what was read, how long it took, and how much memory it took beside the imports.
READ = """
import json, resource, sys, time, warnings
import torch, pandas, scipy.sparse, pyarrow.parquet, safetensors.torch
import symnmf as sn
from symnmf.data import read_matrix, read_panel
from symnmf.data.classes import read_classes
from symnmf.bench.study import load as load_study
from symnmf.engine import solve
from symnmf.storage.checkpoint import Checkpoint
from symnmf.core.problem import Problem
from symnmf.errors import SymnmfError
from symnmf.solvers.registry import make_solver
from pathlib import Path
warnings.simplefilter("ignore")

def resume(path):
    S = sn.as_operator(torch.eye(8) + 1)
    return solve(Problem(S, 2), make_solver("mu"), max_iter=30, checkpoint=Checkpoint(path),
                 resume=True)

def load(path):
    return Checkpoint(path).load({}, torch.device("cpu"), 1e-5)

def resumed_writer(path):
    from symnmf.storage.matrix_writer import MatrixWriter, begun
    begun(path)
    return MatrixWriter(path, (70, 70), "float64", {"fuzz": 1})

READERS = {
    "matrix": lambda path: sn.as_operator(read_matrix(path)),
    "returns": lambda path: read_panel(path, kind="returns"),
    "classes": read_classes,
    "study": load_study,
    "folder": lambda path: sn.open_matrix(path),
    "result": sn.load,
    "windows": sn.load_rolling,
    "checkpoint": resume,
    "run": load,
    "progress": resumed_writer,
}

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def attempt(reader, path):
    began = time.process_time()  # of the processor: the machine may be busy with other things
    try:
        READERS[reader](Path(path))
        end = "read"
    except SymnmfError as refused:
        end = f"refused: {refused}"
    except BaseException as wrong:
        end = f"LEAKED {type(wrong).__name__}: {wrong}"
    return end, time.process_time() - began
"""
EACH = (
    READ
    + """
import os, signal
attempt("matrix", "/nowhere.npy")
for line in sys.stdin:
    reader, path = json.loads(line)
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        before = peak()
        end, seconds = attempt(reader, path)
        os.write(into, json.dumps([end[:2000], seconds, peak() - before]).encode())
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as answer:
        words = answer.read()
    _, status = os.waitpid(child, 0)
    print(words or json.dumps([f"DIED {os.waitstatus_to_exitcode(status)}", 60.0, 0.0]))
"""
)


def attempts(cases: list[tuple[str, Path]]) -> list[tuple[str, float, float]]:
    """How readers end with files, a child for each: words, seconds, and megabytes."""
    child = subprocess.run(
        [sys.executable, "-c", EACH],
        input="".join(json.dumps([reader, str(path)]) + "\n" for reader, path in cases),
        env=faults.ENVIRONMENT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [tuple(json.loads(line)) for line in child.stdout.splitlines()]


def npy_header(shape, dtype="<f8") -> bytes:
    """The beginning of a .npy file that may promise anything."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        file, {"descr": dtype, "fortran_order": False, "shape": shape}
    )
    return file.getvalue()


def npz(path: Path, **parts: bytes) -> Path:
    """A .npz with the given bytes as its parts."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(f"{name}.npy", content)
    return path


def array_bytes(values) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(values))
    return file.getvalue()


def pickled() -> bytes:
    """A .npy with an object in it: reading it with pickle would run code."""

    class Bomb:
        def __reduce__(self):
            return exec, ("raise SystemExit('a pickle was run')",)

    file = io.BytesIO()
    np.save(file, np.array([[Bomb()]], dtype=object), allow_pickle=True)
    return file.getvalue()


def tensors(path: Path, header: bytes, length: int | None = None, body: bytes = b"") -> Path:
    """A safetensors file with any header."""
    path.write_bytes(struct.pack("<Q", len(header) if length is None else length) + header + body)
    return path
