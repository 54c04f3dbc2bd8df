"""Modules that are read when one of their names is used, not when they are imported."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from threading import RLock
from types import ModuleType
from typing import Any

_READING = RLock()


class Deferred(ModuleType):
    """A module that is read at the first use of a name that an empty module does not have.

    ``importlib.util.LazyLoader`` reads it at every use of any name, ``__file__`` included, for
    which the standard library asks all modules.
    """

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        with _READING:
            if type(self) is Deferred:
                self.__class__ = ModuleType  # type: ignore[assignment]
                loader = self.__spec__ and self.__spec__.loader
                assert isinstance(loader, _Deferring)
                loader.reader.exec_module(self)
        return getattr(self, name)


class _Deferring(Loader):
    """A loader that makes a :class:`Deferred` module; ``reader`` reads it later."""

    def __init__(self, reader: Loader) -> None:
        self.reader = reader

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return Deferred(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


class _Finder(MetaPathFinder):
    """Finds the modules that are deferred, and leaves all others to the next finder."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.names:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Deferring(spec.loader)
        return spec


@contextmanager
def deferring(names: Collection[str]) -> Iterator[None]:
    """Defer modules that are imported inside this block; names that do not exist do no harm."""
    finder = _Finder(names)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
