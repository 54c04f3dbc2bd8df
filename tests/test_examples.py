"""Every example in a docstring runs."""

import doctest
import importlib
import pkgutil

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


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = sum(
        bool(test.examples)
        for name in MODULES
        for test in finder.find(importlib.import_module(name))
    )
    assert found >= 15
