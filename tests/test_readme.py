"""The README's way works as it is printed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import symnmf as sn
from symnmf.data.samples import sp500_prices

ROOT = Path(__file__).parents[1]


def blocks(page, language):
    found = re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    assert found
    return found


@pytest.fixture
def stranger(tmp_path):
    """A shell in an empty folder, where ``make`` does what the recipe says with what is here."""
    bin_folder = tmp_path / ".venv" / "bin"
    bin_folder.mkdir(parents=True)
    recipe = re.search(
        r"^demo:.*\n\t@\$\(BIN\)/(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE
    )
    scripts = {"symnmf": f'exec {sys.executable} -m symnmf "$@"', "make": recipe[1]}
    for name, line in scripts.items():
        (bin_folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (bin_folder / name).chmod(0o755)
    (bin_folder / "activate").write_text("true\n")
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}"}

    def shell(command):
        there = {"cwd": tmp_path, "env": environment}
        words = ["sh", "-e", "-c", command]
        done = subprocess.run(words, **there, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return tmp_path, shell


@pytest.mark.slow
def test_the_way_of_a_stranger(stranger):
    folder, shell = stranger
    begin, own, _ = blocks("README.md", "sh")
    assert "make demo" in begin
    assert "open demo/tpdm/report.html" in shell(begin)
    assert (folder / "demo" / "tpdm" / "report.html").stat().st_size < 15e6
    sp500_prices().to_csv(folder / "my.csv")
    assert "Open groups/report.html" in shell(own)
    code = "\n".join(blocks("README.md", "python"))
    (folder / "code.py").write_text(code, "utf-8")
    said = shell(f"{sys.executable} code.py")
    assert "CONVERGED {'AAPL': " in said
    assert "Converged" in said


@pytest.mark.slow
def test_commands_of_the_readme_run(stranger):
    folder, shell = stranger
    prices = sp500_prices().iloc[:1500]
    prices.to_csv(folder / "prices.csv")
    np.log(prices).diff().iloc[1:].to_parquet(folder / "returns.parquet")
    (folder / "sectors.csv").write_text("name,sector\nXOM,energy\nCVX,energy\nKO,food\n")
    (folder / "portfolio.csv").write_text("name,weight\nXOM,0.6\nKO,0.4\n")
    np.save(folder / "S.npy", sn.benchmark_matrix("corr", 100).operator.S)
    for line in blocks("README.md", "sh")[2].splitlines():
        small = line.replace("--n 100000 --out", "--n 100 --out").replace("--k 316", "--k 10")
        shell(small)
    for made in ("symnmf-out", "moves", "big", "large"):
        assert (folder / made / "report.html").exists()
