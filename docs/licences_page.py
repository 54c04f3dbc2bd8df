"""The view of licences: the packages that symnmf needs when it runs, and their licences."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

PAGE = Path(__file__).with_name("licences.md")
ROOT = Path(__file__).parents[1]
#: Packages that torch installs on machines with a graphics card.
CARDS = ("nvidia-", "triton", "cuda-")
#: Other names of the same licence.
NAMES = {
    "apache software license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache 2.0": "Apache-2.0",
    "mit license": "MIT",
    "bsd license": "BSD",
    "isc license (iscl)": "ISC",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}


def needed() -> list[str]:
    """Names of all packages that are needed, directly and indirectly."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting, found = list(project["dependencies"]), set()
    while waiting:
        requirement = Requirement(waiting.pop())
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        marker = requirement.marker
        if name in found or name.startswith(CARDS):
            continue
        if marker is not None and not marker.evaluate({"extra": ""}):
            continue
        try:
            waiting += distribution(name).requires or []
        except PackageNotFoundError:
            continue
        found.add(name)
    return sorted(found)


def licence(name: str) -> str:
    """The licence that the metadata of a package states, in the short form."""
    about = distribution(name).metadata
    stated = about.get("License-Expression")
    if not stated:
        classes = [c for c in about.get_all("Classifier", []) if c.startswith("License ::")]
        stated = ", ".join(c.split(" :: ")[-1] for c in classes)
    if not stated or stated == "OSI Approved":
        stated = (about.get("License") or "").strip().splitlines()[0]
    return NAMES.get(stated.lower(), stated)


def table() -> str:
    """All packages with their licences."""
    rows = "".join(f"| {name} | {licence(name)} |\n" for name in needed())
    return f"| package | licence |\n|---|---|\n{rows}"


VIEWS: dict[str, Callable[[], str]] = {"licences": table}
