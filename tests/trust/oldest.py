"""The lowest versions that pyproject.toml allows, as pins; torch stays at the tested version."""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def pins() -> list[str]:
    """``name==lowest`` for every dependency."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tested = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    (torch,) = (line for line in tested if line.startswith("torch=="))
    found = [torch]
    for requirement in project["dependencies"]:
        name, bound = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
        if name != "torch":
            found.append(f"{name}=={bound}")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(pins()) + "\n")
