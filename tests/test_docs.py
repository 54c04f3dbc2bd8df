"""The documentation says what the code does."""

import importlib.util
import json
import pkgutil
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import symnmf
from symnmf.cli import app

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    if "_build" not in page.parts
)  # fmt: skip
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def name(path):
    return str(path.relative_to(ROOT))


def script(stem):
    """A script of docs/, as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{stem}", DOCS / f"{stem}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- python ----

#: The README's needs the folder that its commands make: see test_readme.py.
with_python = [
    page
    for page in PAGES
    if "```python" in page.read_text(encoding="utf-8") and page.name != "README.md"
]


def test_every_part_of_the_documentation_has_examples():
    folders = {page.parent.relative_to(ROOT).as_posix() for page in with_python}
    assert {"docs", "docs/guide", "docs/theory", "docs/solvers"} <= folders
    for folder in ("guide", "theory", "solvers"):
        assert all(page in with_python for page in (DOCS / folder).glob("*.md"))


#: What pages say without showing it.
SAID = {"docs/groups.md": "XOM"}


@pytest.mark.parametrize("page", with_python, ids=name)
def test_python_of_a_page_runs_and_prints_what_it_shows(page):
    text, said = page.read_text(encoding="utf-8"), []
    assert script("examples").filled(text, name(page), said) == text, (
        f"run: python -P docs/examples.py {name(page)} --write"
    )
    assert SAID.get(name(page), "") in "".join(said)


def test_a_page_that_shows_something_else_is_found():
    filled = script("examples").filled
    assert filled("```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n").endswith("```text\n2\n```\n")
    with pytest.raises(AssertionError):
        filled("```python\nassert 1 == 2\n```\n")


#: In a process of its own: its libraries leave sockets behind, which are warnings here.
NOTEBOOK = """
import sys, nbformat, nbclient
from jupyter_client import AsyncKernelManager
notebook = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(notebook)
manager = AsyncKernelManager(kernel_name="python3", transport="ipc")  # files in cwd, no ports
nbclient.NotebookClient(notebook, km=manager, timeout=600, startup_timeout=600).execute()
shown = [out for cell in notebook.cells for out in cell.get("outputs", ())]
print(sum("application/vnd.plotly.v1+json" in out.get("data", {}) for out in shown), "figures")
"""


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebooks_run(path, tmp_path):
    for module in ("nbclient", "ipykernel"):
        if importlib.util.find_spec(module) is None:
            pytest.skip("needs the extra `notebooks`")
    command = [sys.executable, "-c", NOTEBOOK, str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 0


@pytest.mark.parametrize("path", NOTEBOOKS, ids=name)
def test_notebooks_are_committed_without_output(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert sum("assert" in "".join(cell["source"]) for cell in cells) >= 3
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in cells)


# ---- the command line ----

COMMANDS = typer.main.get_command(app).commands


def lines_of_shell(text):
    """Commands of the ```sh blocks, without comments, joined where they go on."""
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.sub(r"\s#.*", "", line).split("&&"):
                yield part.strip()


def called(line):
    """Command and arguments after the program's name, or None."""
    found = re.search(r"(?:^|-m )symnmf ([a-z]+)(.*?)(?: > \S+)?$", line)
    return (found[1], shlex.split(found[2])) if found else None


shell = [
    (page, line)
    for page in PAGES
    for line in lines_of_shell(page.read_text(encoding="utf-8"))
    if called(line)
]


def test_there_are_commands_to_check():
    assert {called(line)[0] for _, line in shell} >= {"fit", "roll", "plan", "demo", "generate"}
    assert {page.name for page, _ in shell} >= {"README.md", "scaling.md", "start.md"}


@pytest.mark.parametrize(("page", "line"), shell, ids=lambda x: name(x) if x in PAGES else x[:40])
def test_commands_parse(page, line, tmp_path, monkeypatch):
    command, arguments = called(line)
    assert command in COMMANDS, line
    if "--config" in arguments:  # which an earlier command of the page has written
        monkeypatch.chdir(tmp_path)
        path = tmp_path / arguments[arguments.index("--config") + 1]
        path.parent.mkdir()
        path.write_text("k = 4\n")
    with COMMANDS[command].make_context(command, arguments) as context:
        assert not context.args


def test_wrong_commands_do_not_parse():
    for wrong in (["--no-such-option"], ["--k"]):
        with pytest.raises(Exception, match="No such option|requires an argument"):
            COMMANDS["fit"].make_context("fit", wrong)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_options_in_sentences_exist(page):
    for code in re.findall(
        r"(?<!`)`(?:[^`]*-m )?symnmf ([^`]+)`", page.read_text(encoding="utf-8")
    ):
        for command in re.findall(r"\w+", code.split(" --")[0])[:1]:
            assert command in COMMANDS, code
            known = {word for option in COMMANDS[command].params for word in option.opts}
            assert set(re.findall(r"--[\w-]+", code)) <= known, code


# ---- pages ----


def test_tables_of_solvers_come_from_the_registry():
    page = script("solvers_page")
    assert len(page.PAGES) == 9
    shown = ""
    for path in page.PAGES:
        text = path.read_text(encoding="utf-8")
        assert page.filled(text) == text, "run: python -P docs/solvers_page.py"
        assert page.MARK.search(text), path
        shown += text
    for row in symnmf.solvers():
        assert f"| `{row}` |" in shown, row


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_every_page_is_in_the_table_of_contents():
    listed = set()
    for page in DOCS.glob("*.md"):
        for block in re.findall(r"```{toctree}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            lines = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {re.sub(r".*<(.*)>", r"\1", line) for line in lines}
    pages = {p.relative_to(DOCS).with_suffix("").as_posix() for p in [*PAGES, *NOTEBOOKS]
             if p.is_relative_to(DOCS)}  # fmt: skip
    assert pages - listed == {"index"}
    assert listed <= pages


# ---- the API ----

#: Commands, studies and what starts processes are no part of what is called.
NOT_CALLED = ("bench", "cli", "launch", "report", "__main__")


def documented():
    """Modules whose members the pages of the API list."""
    text = "".join(page.read_text("utf-8") for page in (DOCS / "api").glob("*.md"))
    return re.findall(r"automodule:: (symnmf[\w.]*)\n   :members:", text)


def test_every_module_is_in_the_api():
    listed = documented()
    assert len(set(listed)) == len(listed)
    for _, module, package in pkgutil.walk_packages(symnmf.__path__, "symnmf."):
        parts = module.split(".")
        if package or parts[1] in NOT_CALLED or parts[1] == "plot":
            continue
        assert module in listed, f"add {module} to a page of docs/api/"


def test_every_public_name_is_in_the_api():
    overview = (DOCS / "api.md").read_text("utf-8")
    homes = set(documented())
    for public in set(symnmf.__all__) - {"__version__"}:
        thing = getattr(symnmf, public)
        home = getattr(thing, "__module__", None) or thing.__name__
        assert home in homes or home.split(".")[1] in NOT_CALLED, public
        assert f"`sn.{public}`" in overview, f"name sn.{public} in docs/api.md"
    named = set(re.findall(r"`sn\.(\w+)`", overview))
    assert named <= set(symnmf.__all__)


def test_numbers_of_the_pages_come_from_results():
    command = [sys.executable, "-P", str(ROOT / "docs" / "fill.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
