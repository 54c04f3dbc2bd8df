"""The documentation says what the code does."""

import importlib.util
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


def test_solvers_page_is_generated():
    spec = importlib.util.spec_from_file_location("page", ROOT / "docs" / "solvers_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs" / "solvers.md").read_text(encoding="utf-8")
    assert written == module.page(), "run: python docs/solvers_page.py"


def blocks(page, language):
    found = re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)
    assert found
    return found


def test_python_of_the_page_of_groups_runs():
    code = "\n".join(blocks("docs/groups.md", "python"))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "XOM" in done.stdout


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
    np.save(folder / "S.npy", sn.benchmark_matrix("corr", 100).operator.S)
    for line in blocks("README.md", "sh")[2].splitlines():
        small = line.replace("--n 100000 --out", "--n 100 --out").replace("--k 316", "--k 10")
        shell(small)
    for made in ("symnmf-out", "moves", "big", "large"):
        assert (folder / made / "report.html").exists()


def test_readme_commands_exist():
    commands = re.findall(r"^symnmf (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    help_text = subprocess.check_output([sys.executable, "-m", "symnmf", "--help"], text=True)
    assert len(commands) >= 4
    for command in set(commands):
        assert re.search(rf"^\W*{command}\b", help_text, re.MULTILINE), command


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
