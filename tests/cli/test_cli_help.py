"""Help of every command."""

import re

import pytest
import typer

from symnmf.cli import app

COMMANDS = typer.main.get_command(app).commands


def test_help_of_the_program(run):
    assert "Exit codes" in run("--help")


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_fits_and_says_everything(run_streams, name):
    text, _ = run_streams(name, "--help")
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(rf"^ +symnmf {name}\b", text, re.MULTILINE), "no example"
    for option in COMMANDS[name].params:
        assert option.help, option.name
        flag = isinstance(option.default, bool)
        if option.default in (None, "") and not option.required:
            assert "default" in option.help, option.name
        elif not option.required and not flag:
            assert option.show_default is not False
            shown = "".join(text.split())  # lines break within words, too
            assert f"[default:{option.default}]" in shown, option.name
    if name in ("fit", "demo", "roll"):
        assert "Exit codes: 0 converged" in text
