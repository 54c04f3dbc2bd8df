"""Signals of a batch system, progress as JSON lines, and Ctrl-C in the demo."""

import io
import json
import signal
import sys
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import symnmf as sn
from symnmf.cli import app
from symnmf.cli.app import Commands, main
from symnmf.distributed import Stopped, batch_signals, handle_batch_signals
from symnmf.engine import JsonProgress, driver

S = np.kron(np.eye(3), np.ones((8, 8))) + np.random.default_rng(0).random((24, 24)) * 0.2
S = (S + S.T) / 2


@pytest.fixture
def handled():
    """The handlers of the command line."""
    before = {n: signal.getsignal(n) for n in (signal.SIGTERM, signal.SIGUSR1)}
    handle_batch_signals()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1])
def test_a_stopped_fit_is_saved_and_goes_on_to_the_same_bits(tmp_path, handled, number):
    def stop(check, H):
        if check.iteration == 20:
            signal.raise_signal(number)

    with pytest.raises(Stopped, match=number.name):
        sn.factorize(
            S, 3, "admm", kkt_gate=1e-9, max_iter=60, checkpoint=tmp_path, callbacks=[stop]
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = sn.factorize(
            S, 3, "admm", kkt_gate=1e-9, max_iter=60, checkpoint=tmp_path, resume=True
        )
        whole = sn.factorize(S, 3, "admm", kkt_gate=1e-9, max_iter=60)
    assert any("resumed at iteration 20" in note for note in again.notes)
    assert (again.H == whole.H).all()


def test_a_signal_while_the_options_are_read_has_the_code_of_one_during_the_command(
    handled, monkeypatch, capsys
):
    """Typer alone answers with 130 and without a word."""
    monkeypatch.setattr(batch_signals, "_asked", [])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # main replaces it
    monkeypatch.setattr(sys, "argv", ["symnmf", "roll"])
    early = lambda *a, **b: signal.raise_signal(signal.SIGTERM)  # noqa: E731
    monkeypatch.setattr(Commands, "make_context", early)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 75
    assert "Stopped by SIGTERM. Finished work is stored" in capsys.readouterr().err


def test_signals_are_left_alone_in_a_library():
    """Without the command line, SIGTERM belongs to the caller."""
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append(1))
    try:
        sn.factorize(S, 3, "admm", callbacks=[lambda check, H: signal.raise_signal(signal.SIGTERM)])
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen


def test_progress_as_json_lines():
    lines = io.StringIO()
    found = sn.factorize(S, 3, "admm", callbacks=[JsonProgress(lines, excess=lambda e: None)])
    checks = [json.loads(line) for line in lines.getvalue().splitlines()]
    assert [c["iteration"] for c in checks] == [c.iteration for c in found.history]
    assert checks[-1]["error"] == found.history[-1].error
    assert set(checks[0]) == {
        "event", "iteration", "products", "error", "excess", "gradient", "seconds",
    }  # fmt: skip


def test_ctrl_c_ends_the_demo(tmp_path, monkeypatch):
    """The second fit is not begun, and nothing is written for the first."""
    begun = []

    def notify(self, callbacks):
        begun.append(self)
        signal.raise_signal(signal.SIGINT)
        return old(self, callbacks)

    old = driver._Driver._notify
    monkeypatch.setattr(driver._Driver, "_notify", notify)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        words = ["demo", "--synthetic", "--n", "40", "--solver", "admm", "--out", str(tmp_path)]
        ended = CliRunner().invoke(app, words)
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended.exit_code == 130
    assert len({id(driver) for driver in begun}) == 1
    assert not list(tmp_path.rglob("*.csv"))


def test_plan_tells_what_a_gpu_must_hold():
    small, large = (sn.plan(100_000, form="dense", processes=p, rate=1e12, gpu_bytes=80e9)[0]
                    for p in (4, 1))  # fmt: skip
    assert small.resident
    assert small.moved == 1e10  # a quarter of 4 n²
    assert not large.resident
    assert large.device_memory < small.device_memory
    said = CliRunner().invoke(app, ["plan", "--n", "1000", "--form", "gram", "--gpu", "8"]).output
    assert "of S are moved to it once" in " ".join(said.split())
