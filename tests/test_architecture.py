"""The package graph, the size and names of files, and the public face."""

import ast
import re
import subprocess
import sys
from collections import Counter

import pytest

import symnmf
from package_graph import GRAPH, ROOT, allowed, imported, member, modules, node_of

#: Words that the vocabulary replaced; none is left in an identifier.
OLD_WORDS = {
    "look", "looks", "looking", "watch", "judge", "judged", "due", "ripe", "outward", "bare",
    "beside", "yardstick", "worth", "earlier", "kept", "escape", "foreign", "probe", "refuse",
}  # fmt: skip
#: Words of Python's own libraries that are spelled the same.
NOT_OURS = {("re", "escape"), ("html", "escape"), ("markupsafe", "escape")}


def test_every_module_is_in_the_graph():
    known = {name for members in GRAPH for name in members.split()}
    assert {member(path) for path in modules()} <= known
    assert len(GRAPH) <= 16


def test_the_graph_has_no_cycle():
    nodes = list(GRAPH)
    for members in nodes:
        assert all(nodes.index(other) < nodes.index(members) for other in allowed(members))


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_follow_the_graph(path):
    own = node_of(member(path))
    order = own.split()
    for name in imported(path):
        if node_of(name) != own:
            assert node_of(name) in allowed(own), name
        else:
            assert order.index(name) <= order.index(member(path)), name


def test_every_edge_of_the_graph_is_used():
    for members in GRAPH:
        mine = [path for path in modules() if node_of(member(path)) == members]
        used = {node_of(name) for path in mine for name in imported(path)}
        assert allowed(members) <= used, (members, allowed(members) - used)


@pytest.mark.parametrize("path", sorted((ROOT / "solvers").rglob("*.py")), ids=lambda p: p.stem)
def test_solvers_do_not_print_or_distribute(path):
    tree = ast.parse(path.read_text())
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    attributes = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    assert "print" not in names
    assert "distributed" not in attributes | names
    assert "torch.distributed" not in path.read_text()


@pytest.mark.parametrize("variable", ["RANK", "WORLD_SIZE"])
def test_one_package_knows_where_in_the_run_a_process_is(variable):
    for path in modules():
        if f'"{variable}"' in path.read_text("utf-8"):
            assert member(path) == "distributed", path


def test_no_file_is_long():
    for path in modules():
        assert len(path.read_text("utf-8").splitlines()) <= 400, path


def test_no_two_modules_have_one_name():
    stems = Counter(path.stem for path in modules() if path.stem not in ("__init__", "__main__"))
    assert [name for name, count in stems.items() if count > 1] == []


def public_classes():
    for path in modules():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield node.name


def test_no_two_public_classes_have_one_name():
    assert [name for name, count in Counter(public_classes()).items() if count > 1] == []


def identifiers(tree):
    """Every name that a module defines, takes or reaches for."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            if (owner, node.attr) not in NOT_OURS:
                yield node.attr
        elif isinstance(node, ast.arg) or (isinstance(node, ast.keyword) and node.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name


def parts(identifier):
    """The words of an identifier: best_look → best, look."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", identifier)
    return {word for word in spaced.lower().split("_") if word}


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(ROOT)))
def test_identifiers_use_the_vocabulary(path):
    tree = ast.parse(path.read_text("utf-8"))
    old = {name for name in identifiers(tree) if parts(name) & OLD_WORDS}
    assert old == set()
    assert path.stem not in OLD_WORDS


def test_a_rank_is_a_number_of_columns_and_a_group_is_an_answer():
    from symnmf.distributed.process_group import ProcessGroup

    for owner in (ProcessGroup, symnmf.SymmetricOperator):
        assert not {"rank", "group", "processes"} & set(dir(owner)), owner


def test_import_is_lazy():
    heavy = "torch sklearn pandas pyarrow plotly scipy typer rich jinja2 psutil".split()  # noqa: SIM905
    code = f"import sys, symnmf; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


@pytest.mark.slow
def test_no_module_hides_a_public_function():
    """A plain package: importing every module leaves the functions of their names alone."""
    code = (
        "import pkgutil, importlib, symnmf as sn\n"
        "before = {name: getattr(sn, name) for name in sn.__all__}\n"
        "for m in pkgutil.walk_packages(sn.__path__, 'symnmf.'):\n"
        "    if m.name != 'symnmf.__main__': importlib.import_module(m.name)\n"
        "assert all(getattr(sn, name) is before[name] for name in sn.__all__)\n"
        "assert type(sn).__name__ == 'module'\n"
    )
    subprocess.check_call([sys.executable, "-c", code])


def test_the_package_can_be_pickled_by_name():
    cloudpickle = pytest.importorskip("cloudpickle")
    assert cloudpickle.loads(cloudpickle.dumps(symnmf)) is symnmf
    for package in ("operators", "plot", "solvers"):
        assert cloudpickle.loads(cloudpickle.dumps(getattr(symnmf, package)))


def test_every_public_name_loads_and_is_documented():
    for name in symnmf.__all__:
        assert getattr(symnmf, name).__doc__, name
    with pytest.raises(AttributeError, match="nothing"):
        symnmf.nothing  # noqa: B018
