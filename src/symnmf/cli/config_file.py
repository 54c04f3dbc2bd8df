"""Options of a command from a .toml file, and the options of a run as such a file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomli_w
import typer

from symnmf import __version__
from symnmf.errors import InvalidFile, InvalidInput

#: Largest configuration file that is read, in bytes.
MAX_CONFIG_BYTES = 1 << 20


#: Options that concern one call only and are not part of a configuration.
PER_CALL = ("config", "json", "force", "resume", "help")


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Use the options of a file as defaults of the command.

    Arguments:
        context: context of the command.
        path: path of a .toml file whose keys are names of options, with ``-`` or ``_``.

    Returns:
        The path.

    Raises:
        InvalidInput: a key is unknown, or a value has the wrong type.
    """
    if path is None:
        return None
    known = _options(context)
    values: dict[str, Any] = {}
    for key, value in read_options(path).items():
        option = key.replace("_", "-")
        if option not in known or option in ("config", "help"):
            near = get_close_matches(option, known, 1)
            hint = f"Did you mean {near[0]!r}? " if near else ""
            every = ", ".join(sorted(set(known) - {"config", "help"}))
            raise InvalidInput(
                "--config", f"{path} has the unknown key {key!r}", f"{hint}Known keys: {every}"
            )
        if isinstance(value, date):  # a datetime is one too
            value = value.isoformat()
        if not isinstance(value, str | int | float):
            what = "a list" if isinstance(value, list) else "a section or a time of day"
            raise InvalidInput(
                "--config",
                f"the value of {key!r} in {path} is {what}",
                "Write a string, a number, true or false; several names as 'A,B'",
            )
        values[known[option]] = value
    context.default_map = values
    return path


def config_text(context: typer.Context, resolved: Mapping[str, Any] | None = None) -> str:
    """The options of a call as a file for ``--config``.

    Arguments:
        context: context of the command.
        resolved: values determined during the run, by name of the option.
    """
    values = {**context.params, **(resolved or {})}
    written = {
        option: _plain(values[name])
        for option, name in _options(context).items()
        if values.get(name) is not None and option not in PER_CALL
    }
    head = f"# symnmf {__version__}. Again: symnmf {context.info_name} --config THIS_FILE\n"
    return head + tomli_w.dumps(written)


def _options(context: typer.Context) -> dict[str, str]:
    """Option without its leading dashes → name of the parameter."""
    return {p.opts[0].lstrip("-"): str(p.name) for p in context.command.params}


def read_options(path: Path) -> dict[str, Any]:
    """The options of a .toml file, by their names without dashes.

    Raises:
        InvalidFile: the file is missing, too large or no TOML.
    """
    if not path.is_file():
        raise InvalidFile(str(path), "does not exist", "Check the path of --config")
    if path.stat().st_size > MAX_CONFIG_BYTES:
        raise InvalidFile(
            str(path), "is too large for a configuration file", "Check the path of --config"
        )
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as broken:
        reason = str(broken) or type(broken).__name__
        raise InvalidFile(
            str(path), f"is not valid TOML: {reason}", "Write lines such as k = 10"
        ) from broken


def _plain(value: Any) -> str | int | float:
    """A value that TOML can hold: paths and other objects become strings."""
    return value if isinstance(value, str | int | float) else str(value)
