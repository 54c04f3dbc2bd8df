"""The documentation says what the code does."""

import importlib
import importlib.metadata
import importlib.util
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from packaging.version import Version

import symnmf
from symnmf.bench.measurement import find_measurement, measurement_names
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
    """A script of docs/, as a module; scripts import each other."""
    if str(DOCS) not in sys.path:
        sys.path.insert(0, str(DOCS))
    return importlib.import_module(stem)


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


@pytest.mark.slow  # and in make docs
@pytest.mark.parametrize("page", with_python, ids=name)
def test_python_of_a_page_runs_and_prints_what_it_shows(page):
    text = page.read_text(encoding="utf-8")
    assert script("examples").filled(text, name(page)) == text, (
        f"run: python docs/examples.py --write {name(page)}"
    )


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


def generated_parts(page):
    """Views that a page shows."""
    return {m[2] for m in script("generated").MARK.finditer(page.read_text(encoding="utf-8"))}


def test_every_solver_is_on_a_page():
    pages = [DOCS / "solvers.md", *(DOCS / "solvers").glob("*.md")]
    assert len(pages) == 9
    assert all(any(v.startswith("solvers-") for v in generated_parts(page)) for page in pages)
    shown = "".join(page.read_text(encoding="utf-8") for page in pages)
    for row in symnmf.solvers.available():
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


def test_the_api_lists_exactly_the_public_names():
    page = script("public_names")
    kinds, shown = zip(*page.listed(), strict=True)
    assert page.differences(list(shown), list(page.public())) == []
    assert set(kinds) <= {"function", "class", "exception"}, "a module would list private names"


def test_differences_between_pages_and_public_names_are_found():
    page = script("public_names")
    names = list(page.public())
    assert {"symnmf.factorize", "symnmf.operators.DenseOperator", "symnmf.testing.check_solver",
            "symnmf.integrations.skfolio.as_skfolio"} <= set(names)  # fmt: skip
    assert "symnmf.operators.GramOperator" not in names  # which is symnmf.GramOperator
    first, *rest = names
    assert page.differences(rest, names) == [f"add {first} to a page of docs/api/"]
    private = "symnmf.core.problem.WarmStart"
    assert page.differences([*names, private], names) == [f"remove {private}: it is not public"]
    assert page.differences([*names, first], names) == [f"list {first} once"]


def test_every_public_name_is_in_the_overview():
    overview = (DOCS / "api.md").read_text("utf-8")
    named = set(re.findall(r"`sn\.(\w+)`", overview))
    assert named == set(symnmf.__all__) - {"__version__"}
    for package in script("public_names").packages():
        if package.startswith("symnmf.integrations."):
            assert f"`{package}`" in overview


# ---- generated parts ----


def versions_are_pinned():
    """Whether the packages here are those of constraints.txt, on which the licences depend."""
    pins = dict(
        line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines()[1:]
    )
    here = {
        distribution.name: Version(distribution.version).public
        for distribution in importlib.metadata.distributions()
    }
    return all(here[name] == pin for name, pin in pins.items() if name in here)


def check(script_name, *pages):
    command = [sys.executable, str(DOCS / f"{script_name}.py"), "--check", *map(str, pages)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.slow  # and in make docs
def test_nothing_generated_is_out_of_date():
    pages = [p for p in PAGES if p.name != "licences.md" or versions_are_pinned()]
    done = check("generated", *pages)
    assert done.returncode == 0, done.stderr


def test_every_kind_of_generated_part_is_shown():
    shown = set().union(*map(generated_parts, PAGES))
    assert shown <= set(script("generated").views())
    assert {"package-graph", "licences", "solvers-all", "arrays-sketched", "phase1-map"} <= shown
    assert {t.name for n in measurement_names() for t in find_measurement(n).tables} <= shown
    for page in PAGES:  # of one syntax, and nothing is left open
        text = page.read_text(encoding="utf-8")
        assert len(re.findall(r"(?<!`)<!-- end -->", text)) == len(
            script("generated").MARK.findall(text)
        )
        assert set(re.findall(r"<!-- (\w+)", text)) <= {"generated", "end"}


def test_a_page_that_is_out_of_date_is_found_and_filled(tmp_path, monkeypatch):
    generated = script("generated")
    page = tmp_path / "page.md"
    page.write_text("All <!-- generated: count -->47<!-- end --> solvers.\n")
    monkeypatch.setattr(generated, "ROOT", tmp_path)
    monkeypatch.setattr(generated, "views", lambda: {"count": lambda: "48"})
    assert generated.main(["--check", str(page)]) == 1
    assert "47" in page.read_text()
    assert generated.main(["--write", str(page)]) == 0
    assert page.read_text() == "All <!-- generated: count -->48<!-- end --> solvers.\n"
    assert generated.main(["--check", str(page)]) == 0
    with pytest.raises(SystemExit):  # neither
        generated.main([str(page)])


def test_parts_of_several_lines_stand_between_empty_lines():
    filled = script("generated").filled
    known = {"t": lambda: "| a |\n|---|\n"}
    old = "<!-- generated: t --><!-- end -->\nand `<!-- generated: NAME -->` to `<!-- end -->`"
    new = filled(old, known)
    assert new.startswith("<!-- generated: t -->\n\n| a |\n|---|\n\n<!-- end -->\nand `<!--")
    assert filled(new, known) == new
    with pytest.raises(script("generated").Missing, match="no view is called u"):
        filled("<!-- generated: u --><!-- end -->", known)


def test_examples_have_the_same_command_line(tmp_path):
    page = ROOT / "docs" / "start.md"
    assert check("examples", ROOT / "docs" / "licences.md").returncode == 0
    command = [sys.executable, str(DOCS / "examples.py"), str(page)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--check" in done.stderr
