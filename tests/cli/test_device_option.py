"""The device of the fits is an option of every command that fits."""

from typer.main import get_command

from symnmf.cli import app


def test_every_command_that_fits_takes_a_device():
    commands = get_command(app).commands
    takes = {name for name, c in commands.items() if any("--device" in p.opts for p in c.params)}
    others = {"bench", "generate", "inspect", "plan", "solvers"}  # bench measures the CPU
    assert takes == set(commands) - others
