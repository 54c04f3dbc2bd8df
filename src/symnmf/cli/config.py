"""Options from a file, and the options of a run as such a file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from symnmf import __version__
from symnmf.errors import InvalidFile, InvalidInput

#: Largest file that is read.
MOST = 1 << 20
#: Options that are no part of a configuration: they are about this one call.
PASSING = ("config", "json", "force", "resume", "help")


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take the options of a file as defaults of the command.

    Arguments:
        context: of the command.
        path: of a .toml file whose keys are names of options, with or without dashes for ``_``.
    """
    if path is None:
        return None
    known = _options(context)
    values: dict[str, Any] = {}
    for key, value in _read(path).items():
        option = key.replace("_", "-")
        if option not in known or option in ("config", "help"):
            near = get_close_matches(option, known, 1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            every = ", ".join(sorted(set(known) - {"config", "help"}))
            raise InvalidInput(
                "--config", f"{path} has the unknown key {key!r}", f"{hint}Known are: {every}"
            )
        if not isinstance(value, str | int | float):
            raise InvalidInput(
                "--config",
                f"{path} gives {key!r} a {type(value).__name__}",
                "Write a text, a number, true or false",
            )
        values[known[option]] = value
    context.default_map = values
    return path


def config_text(context: typer.Context, resolved: Mapping[str, Any] | None = None) -> str:
    """The options of a call as a file for ``--config``.

    Arguments:
        context: of the command.
        resolved: values that were found out, by name of the option.
    """
    lines = [f"# symnmf {__version__}. Again: symnmf {context.info_name} --config THIS_FILE"]
    for option, name in _options(context).items():
        value = {**context.params, **(resolved or {})}.get(name)
        if value is not None and option not in PASSING:
            lines.append(f"{option} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def _options(context: typer.Context) -> dict[str, str]:
    """Option without its dashes → name of the parameter."""
    return {p.opts[0].lstrip("-"): str(p.name) for p in context.command.params}


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise InvalidFile(str(path), "does not exist", "Check the path of --config")
    if path.stat().st_size > MOST:
        raise InvalidFile(str(path), "is too large for a configuration", "Check the path")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as broken:
        reason = str(broken) or type(broken).__name__
        raise InvalidFile(str(path), f"is no TOML: {reason}", "Write lines like k = 10") from broken


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
