"""The version, the changelog and the citation agree, and the package says what it needs."""

import ast
import re
import sys
import tomllib
from pathlib import Path

import symnmf
from package_graph import modules

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
HEADINGS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
#: Modules whose distribution has another name.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "tomli_w": "tomli-w"}
#: Programs to compare with, of the extra "peers".
OPTIONAL = {"pyplanc", "nmf", "faiss", "openpyxl", "xlrd", "skfolio", "igraph", "leidenalg"}


def test_the_changelog_begins_with_this_version():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    version, date = re.search(r"^## \[([\d.]+)\] - (\S+)$", text, re.MULTILINE).groups()
    assert version == symnmf.__version__.removesuffix(".dev0")
    released = re.fullmatch(r"\d{4}-\d\d-\d\d", date) is not None
    assert released != symnmf.__version__.endswith(".dev0")
    assert released or date == "unreleased"
    found = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert set(found) <= set(HEADINGS)


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    (version,) = re.findall(r"^version: (\S+)$", text, re.MULTILINE)
    assert version == symnmf.__version__.removesuffix(".dev0")
    assert "arXiv:2607.24518" in text
    (author,) = PROJECT["authors"]
    assert f"- name: {author['name']}" in text


def top_level_imports(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]


def test_every_library_that_is_imported_is_declared():
    declared = {re.split(r"[><=]", line)[0] for line in PROJECT["dependencies"]}
    imported = {name for path in modules() for name in top_level_imports(path)}
    libraries = imported - set(sys.stdlib_module_names) - {"symnmf"} - OPTIONAL
    assert {DISTRIBUTIONS.get(name, name) for name in libraries} == declared
