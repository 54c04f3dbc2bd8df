"""Every option of every command may stand in a file, and a file that a run writes says the same."""

import re

import pytest
import typer

from symnmf.cli.app import app
from symnmf.cli.config_file import PER_CALL, config_text

COMMANDS = {
    name: command
    for name, command in typer.main.get_command(app).commands.items()
    if any("--config" in param.opts for param in command.params)
}
OPTIONS = [
    (name, param)
    for name, command in COMMANDS.items()
    for param in command.params
    if param.opts[0].lstrip("-") not in (*PER_CALL, "version")
]


def sample(name, param):
    """A value of an option that is not its default, as the command line has it."""
    if param.is_flag if hasattr(param, "is_flag") else False:
        return not param.default
    choices = re.findall(r"[\w.-]+", param.metavar or "")
    for value in ('a "b", \\ é.csv', "0.25", "7", *choices):
        try:
            said, _ = parsed(name, *on_the_line(param, value), *needed(name, param))
        except typer.BadParameter:
            continue
        if said[param.name] != param.default:
            return value
    raise AssertionError(f"no value for {param.opts[0]}")


def parsed(name, *words):
    """What a command line says, by parameter; the path of the file aside."""
    with COMMANDS[name].make_context(name, [str(word) for word in words]) as context:
        said = {key: value for key, value in context.params.items() if key != "config"}
        return said, config_text(context)


def on_the_line(param, value):
    """The words of an option on the command line."""
    if value is True:
        return [param.opts[0]]
    if value is False:
        return [param.secondary_opts[0]]
    return [value] if not param.opts[0].startswith("-") else [param.opts[0], value]


def needed(name, param):
    """The other options that the command cannot do without, on the command line."""
    others = [p for p in COMMANDS[name].params if p.required and p.name != param.name]
    return [word for other in others for word in on_the_line(other, "8")]


@pytest.mark.parametrize(
    ("name", "param"), OPTIONS, ids=lambda x: x if isinstance(x, str) else x.opts[0]
)
def test_option(name, param, tmp_path):
    value = sample(name, param)
    said, written = parsed(name, *on_the_line(param, value), *needed(name, param))
    assert said[param.name] != param.default
    path = tmp_path / "config.toml"
    path.write_text(written, encoding="utf-8")
    again, rewritten = parsed(name, "--config", path)
    assert again == said
    assert rewritten == written
    key = param.opts[0].lstrip("-")
    path.write_text(
        f"{key} = {str(value).lower()}"
        if value in (True, False, "7", "0.25")
        else f"{key} = '{value}'",
        encoding="utf-8",
    )
    assert parsed(name, "--config", path, *needed(name, param))[0] == said


def test_commands_that_write_a_folder_take_a_file():
    assert set(COMMANDS) == {"fit", "roll"}
