"""The line of progress."""

import io
from dataclasses import replace

import pytest
import torch
from rich.console import Console

import symnmf as sn
from helpers import market
from symnmf.engine.progress import Progress, time_left


@pytest.fixture
def look():
    b = market("corr", 100)
    check = sn.factorize(b.operator, b.k).history[0]
    return replace(check, iteration=0, seconds=0.0, kkt=check.kkt_gate * 100)


def test_time_left(look):
    assert time_left([look]) is None
    assert time_left([look], max_seconds=90) == "at most 1 min 30 s left"
    later = replace(look, iteration=10, seconds=5.0)
    assert time_left([look, later], max_iter=20) == "at most 5 s left"
    nearer = replace(later, kkt=look.kkt / 10)  # half of the way to the gate
    assert time_left([look, nearer]) == "about 5 s left"
    assert time_left([look, nearer], max_seconds=7) == "about 2 s left"
    assert time_left([look], max_seconds=7300) == "at most 2 h 1 min left"


def test_the_line_has_what_people_ask_for(look):
    line = Progress(excess=lambda error: 0.25, max_seconds=60)
    line(look, torch.zeros(1))
    for words in ("products", f"error {look.error:.3e}", "excess 0.2500", "at most 1 min 0 s left"):
        assert words in line.line()


@pytest.mark.parametrize("terminal", [True, False])
def test_it_is_silent_where_there_is_no_terminal(look, terminal):
    file = io.StringIO()
    with Progress(console=Console(file=file, force_terminal=terminal)) as line:
        line(look, torch.zeros(1))
    assert bool(file.getvalue()) == terminal


def test_a_run_shows_its_excess(monkeypatch):
    lines = []

    def note(self, check, H):
        self.checks.append(check)
        lines.append(self.line())

    monkeypatch.setattr("symnmf.engine.progress.Progress.__call__", note)
    b = market("corr", 100)
    result = sn.factorize(b.operator, b.k, progress=True)
    assert len(lines) == len(result.history)
    assert f"excess {max(0.0, result.certificate.excess):.4f}" in lines[-1]
