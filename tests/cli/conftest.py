"""Fixtures of the command-line tests: the command in this process, and matrices to pass to it."""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from helpers import STRANGE_NAMES
from symnmf.cli import main

#: Two blocks of rank one: the answer is exact, and no fit takes long.
BLOCKS = np.kron(np.eye(2), np.ones((3, 3)))


def call(monkeypatch, arguments):
    """Run the command in this process and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["symnmf", *map(str, arguments)])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


@pytest.fixture
def run(monkeypatch, capsys):
    """The command: its exit code is checked, its output and errors are returned as one text."""

    def checked(*arguments, code=0):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            ended = call(monkeypatch, arguments)
        text = "".join(capsys.readouterr())
        assert ended == code, text
        return text

    return checked


@pytest.fixture
def run_streams(monkeypatch, capfd):
    """The command: its exit code is checked, standard output and standard error are returned.

    A warning is an error here, and what other libraries write to the descriptors counts too.
    """

    def checked(*arguments, code=0):
        ended = call(monkeypatch, arguments)
        out, err = capfd.readouterr()
        assert ended == code, out + err
        return out, err

    return checked


@pytest.fixture
def matrix(tmp_path):
    path = tmp_path / "S.csv"
    pd.DataFrame(BLOCKS, index=list("abcdef"), columns=list("abcdef")).to_csv(path)
    return path


@pytest.fixture
def strange_matrix(tmp_path):
    path = tmp_path / "S.parquet"
    names = list(STRANGE_NAMES)
    pd.DataFrame(BLOCKS, index=names, columns=names).to_parquet(path)
    return path
