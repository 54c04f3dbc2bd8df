"""The first line of a command does not wait for torch."""

import subprocess
import sys

PROGRAM = """
import sys
from symnmf.cli.output import Output

def line(self, text="", **_):
    print(text, "torch" in sys.modules, "pandas" in sys.modules)
    raise SystemExit

Output.line = line
sys.argv = ["symnmf", "fit", "prices.csv"]
from symnmf.cli import main
main()
"""


def test_fit_says_what_it_reads_before_torch_is_loaded(tmp_path):
    (tmp_path / "prices.csv").write_text("Date,a,b\n2024-01-02,1,2\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "Reading prices.csv False False", done.stderr


def test_cycles_are_collected_again_after_the_libraries_are_loaded():
    code = (
        "import gc; from symnmf.cli.quick_start import load_libraries; load_libraries(); "
        "print(gc.isenabled(), gc.get_freeze_count() > 10_000)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "True True", done.stderr
