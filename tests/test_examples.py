"""Every example in a docstring runs, and every public name has one."""

import doctest
import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import symnmf

MODULES = [
    name
    for _, name, _ in pkgutil.walk_packages(symnmf.__path__, "symnmf.")
    if "__main__" not in name
]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    module = importlib.import_module(name)
    outcome = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert outcome.failed == 0


def examples(thing):
    """Examples in a docstring; in those of its functions too, where it is a module."""
    found = doctest.DocTestParser().get_examples(inspect.getdoc(thing) or "")
    if isinstance(thing, ModuleType):
        for name, part in vars(thing).items():
            if inspect.isfunction(part) and not name.startswith("_"):
                found += examples(part)
    return found


@pytest.mark.parametrize("name", sorted(set(symnmf.__all__) - {"__version__"}))
def test_every_public_name_has_an_example(name):
    assert examples(getattr(symnmf, name)), f"symnmf.{name} needs an Example: section"


def test_examples_of_public_names_are_among_those_that_run():
    finder = doctest.DocTestFinder()
    run = {
        example.source
        for module in MODULES
        for test in finder.find(importlib.import_module(module))
        for example in test.examples
    }
    for name in set(symnmf.__all__) - {"__version__"}:
        sources = {example.source for example in examples(getattr(symnmf, name))}
        assert sources <= run, name
