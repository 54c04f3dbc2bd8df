"""The documentation says what the code does."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_solvers_page_is_generated():
    spec = importlib.util.spec_from_file_location("page", ROOT / "docs" / "solvers_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    written = (ROOT / "docs" / "solvers.md").read_text(encoding="utf-8")
    assert written == module.page(), "run: python docs/solvers_page.py"


@pytest.mark.parametrize(("page", "said"), [("README.md", "Converged"), ("docs/groups.md", "XOM")])
def test_python_of_the_pages_runs(page, said):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert blocks
    done = subprocess.run([sys.executable, "-c", "\n".join(blocks)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


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
