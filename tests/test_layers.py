"""Each layer imports only what stands above it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import symnmf

ROOT = Path(symnmf.__file__).parent
LAYERS = """
errors seeds files memory operators kmeans data dependence synthetic generate objective spectrum
start labels certificate contract exact solvers probe engine recommend plan factorize results
groups plot estimator factors report launch bench cli __main__
""".split()  # noqa: SIM905
MODULES = sorted(p for p in ROOT.rglob("*.py") if p != ROOT / "__init__.py")


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Layers of symnmf that a module imports, also inside functions."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("symnmf"):
            if node.module == "symnmf":
                found |= {a.name for a in node.names if a.name != "__version__"}
            else:
                found.add(node.module.split(".")[1])
        if isinstance(node, ast.Import):
            found |= {a.name.split(".")[1] for a in node.names if a.name.startswith("symnmf.")}
    return found


def test_every_module_has_a_layer():
    assert {layer(p) for p in MODULES} == set(LAYERS)


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_only_from_above(path):
    own = layer(path)
    above = set(LAYERS[: LAYERS.index(own) + 1])
    assert imported(path) <= above
    if own in ("solvers", "engine"):
        assert not imported(path) & ({"solvers", "engine"} - {own})


@pytest.mark.parametrize("path", sorted((ROOT / "solvers").rglob("*.py")), ids=lambda p: p.stem)
def test_solvers_do_not_print_or_distribute(path):
    tree = ast.parse(path.read_text())
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    attributes = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    assert "print" not in names
    assert "distributed" not in attributes | names
    assert "torch.distributed" not in path.read_text()


def test_import_is_lazy():
    heavy = "torch sklearn pandas pyarrow plotly scipy typer rich jinja2".split()  # noqa: SIM905
    code = f"import sys, symnmf; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_names_and_modules_live_together():
    code = (
        "import symnmf.factorize, symnmf.solvers.registry as r, symnmf as sn; "
        "assert callable(sn.factorize); assert sn.solvers() == r.solvers()"
    )
    subprocess.check_call([sys.executable, "-c", code])


def test_every_public_name_loads_and_is_documented():
    for name in symnmf.__all__:
        assert getattr(symnmf, name).__doc__, name
    with pytest.raises(AttributeError, match="nothing"):
        symnmf.nothing  # noqa: B018
