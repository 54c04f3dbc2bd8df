"""The public names of symnmf, and where the pages of the API list them.

Public is what ``symnmf.__all__`` and the ``__all__`` of its public packages and of
``symnmf.integrations`` name. `python -P docs/public_names.py` says what the pages lack.
"""

from __future__ import annotations

import pkgutil
import re
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from symnmf import integrations

PAGES = Path(__file__).parent / "api"
DIRECTIVE = re.compile(r"^\.\. auto(\w+):: ([\w.]+)", re.MULTILINE)


def packages() -> list[str]:
    """Modules whose ``__all__`` is public, the package itself first."""
    found = [f"symnmf.{name}" for name, thing in _names("symnmf") if isinstance(thing, ModuleType)]
    others = pkgutil.iter_modules(integrations.__path__, "symnmf.integrations.")
    stated = [other.name for other in others if hasattr(import_module(other.name), "__all__")]
    return ["symnmf", *found, *stated]


def _names(package: str) -> list[tuple[str, object]]:
    module = import_module(package)
    return [(name, getattr(module, name)) for name in module.__all__ if name != "__version__"]


def public() -> dict[str, object]:
    """Path → object. One that two packages name, such as GramOperator, has the shorter path."""
    found: dict[str, object] = {}
    for package in packages():
        for name, thing in _names(package):
            known = any(thing is other for other in found.values())
            if not known and not isinstance(thing, ModuleType):
                found[f"{package}.{name}"] = thing
    return found


def listed() -> list[tuple[str, str]]:
    """Kind and path of each directive of the pages."""
    text = "\n".join(page.read_text("utf-8") for page in sorted(PAGES.glob("*.md")))
    return DIRECTIVE.findall(text)


def differences(shown: list[str], names: list[str]) -> list[str]:
    """What has to change so that the pages list exactly the public names."""
    missing = [f"add {name} to a page of docs/api/" for name in names if name not in shown]
    private = [f"remove {name}: it is not public" for name in shown if name not in names]
    twice = [f"list {name} once" for name in sorted(set(shown)) if shown.count(name) > 1]
    return missing + private + twice


if __name__ == "__main__":
    wrong = differences([path for _, path in listed()], list(public()))
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    sys.exit(bool(wrong))
