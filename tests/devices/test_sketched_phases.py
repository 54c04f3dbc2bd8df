"""Every phase of the default solver on a device that is not there (FakeTensorMode)."""

import warnings

import pytest
import torch

import symnmf as sn
from devices.host_copies import not_allowed
from symnmf.numerics import torch_seed
from symnmf.operators import DenseOperator
from symnmf.solvers import sketch_phases, sketch_refinement
from symnmf.solvers.sketch_refinement import CorrectedNewton, ExactNewton
from symnmf.solvers.sketch_state import Phase
from symnmf.solvers.sketched import Sketched

PHASES = {
    name
    for module in (sketch_phases, sketch_refinement)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, Phase) and kind is not Phase
}


def noisy_matrix(n):
    """A matrix whose noise keeps the fit from the floor, so that every phase has work."""
    gen = torch.Generator().manual_seed(3)
    B = torch.rand(n, 5, generator=gen) ** 3
    S = B @ B.T + torch.rand(n, n, generator=gen)
    return (S + S.T) / 2


@pytest.fixture
def phases(device, monkeypatch):
    """Copies of each step, by phase, and the last problem and state of each phase."""
    copies, last = {}, {}
    step = Sketched.step

    def counted(self, problem, state, rng):
        name = type(state.phase).__name__
        with device.counting() as made:
            after = step(self, problem, state, rng)
        copies.setdefault(name, []).append(made)
        last[name] = (problem, after)
        return after

    monkeypatch.setattr(Sketched, "step", counted)
    return copies, last


@pytest.mark.slow
def test_every_phase_steps_on_the_device(device, generators, phases):
    copies, last = phases
    solver = Sketched(n_init=2)
    with device, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sn.factorize(DenseOperator(device.put(noisy_matrix(60))), 3, solver)
        # Two phases that only stagnant checks begin.
        problem, state = last["CorrectedFit"]
        rng = torch.Generator().manual_seed(torch_seed(0, "step", 0))
        for phase in (CorrectedNewton(0, state.phase.correction), ExactNewton()):
            state = solver.step(problem, state.enter(phase), rng)
    assert found.H.device == state.H.device == device.device
    assert set(copies) == PHASES
    assert {name: not_allowed(steps) for name, steps in copies.items() if not_allowed(steps)} == {}
