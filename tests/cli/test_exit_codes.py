"""The exit code tells wrong input from an error of the program."""

import os
import subprocess
import sys

import pytest

#: The command line, with an error of the program where the table is analysed.
BROKEN = """
import sys
import symnmf.analysis

def analyse(*args, **options):
    raise {error}

symnmf.analysis.analyse = analyse
sys.argv = ["symnmf", "fit", "prices.csv", "--out", "out"]
from symnmf.cli import main
main()
"""
TABLE = "Date,a,b,c\n" + "".join(
    f"2024-{m:02d}-{d:02d},{9 + d * m % 5},{9 + d * m % 7},{9 + d * m % 11}\n"
    for m in range(1, 5)
    for d in range(1, 29)
)


def run(folder, *words, **environment):
    (folder / "prices.csv").write_text(TABLE)
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "error", ["ZeroDivisionError('by zero')", "KeyError('H')", "MemoryError()"]
)
def test_an_error_of_the_program_is_4_without_a_traceback(error, tmp_path):
    done = run(tmp_path, "-c", BROKEN.format(error=error))
    assert done.returncode == 4
    assert "This is an error of symnmf, not of your data" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_traceback_is_shown_where_it_is_asked_for(tmp_path):
    code = BROKEN.format(error="ZeroDivisionError('by zero')")
    done = run(tmp_path, "-c", code, SYMNMF_TRACEBACK="1")
    assert done.returncode == 4
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError: by zero" in done.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["fit", "nowhere.csv"], "nowhere.csv"),
        (["fit", "--values", "prices.csv", "--k", "0"], "--k"),
        (["fit", "prices.csv", "--k", "three"], "--k"),
        (["fit", "--values", "prices.csv", "--solver", "magic"], "--solver"),
        (["fit", "prices.csv", "--q", "0.9"], "--q"),
        (["fit", "prices.csv", "--from", "2030"], "--from"),
        (["fit", "prices.csv", "--nonsense"], "--nonsense"),
        (["rank", "prices.csv", "--columns", "Date"], "--columns"),
        (["compute", "prices.csv"], "compute"),
    ],
)
def test_wrong_input_is_2_in_words_of_the_command_line(words, says, tmp_path):
    done = run(tmp_path, "-m", "symnmf", *words)
    assert done.returncode == 2
    assert says in done.stderr
    assert "error of symnmf" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "symnmf-out").exists()
