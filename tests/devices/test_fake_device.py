"""Every operator and every row of the registry on a device that is not there (FakeTensorMode).

What this shows: no operation mixes tensors of two devices, every generator, index and mask is
where it belongs, and nothing is copied to the host inside a step but what is listed here.
"""

import json
import os
import subprocess
import sys
import warnings
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import symnmf as sn
from devices.fake_device import FakeDevice
from devices.host_copies import not_allowed
from symnmf.core.problem import Problem
from symnmf.numerics import torch_seed
from symnmf.operators import (
    DenseOperator,
    GramOperator,
    LowRankOperator,
    SparseOperator,
    as_operator,
)
from symnmf.operators.lowrank import CorrectedOperator
from symnmf.operators.wrappers import CountingOperator, ScaledOperator
from symnmf.solvers.registry import available, make_solver

N, K = 24, 3


def matrix(seed=0):
    """A matrix with three groups, in memory."""
    gen = torch.Generator().manual_seed(seed)
    B = torch.eye(K).repeat_interleave(N // K, 0) + 0.3 * torch.rand(N, K, generator=gen)
    return B, B @ B.T


def operators(device):
    """Every operator on the device, with the same matrix in memory."""
    B, S = matrix()
    put = device.put
    Q, R = torch.linalg.qr(B)
    core, d = R @ R.T, torch.full((N,), 0.5)
    table = as_operator(sp.csr_array(np.where(S > 0.5, S, 0)))
    parts = (table.crow, table.col, table.values)
    made = {
        "dense": (lambda: DenseOperator(put(S)), DenseOperator(S)),
        "gram": (lambda: GramOperator(put(B)), GramOperator(B)),
        "gram+d": (lambda: GramOperator(put(B), put(d)), GramOperator(B, d)),
        "wide gram": (lambda: GramOperator(put(S)), GramOperator(S)),
        "low rank": (
            lambda: LowRankOperator(put(Q), put(core), put(d)), LowRankOperator(Q, core, d),
        ),
        "sparse": (lambda: SparseOperator(*map(put, parts)), table),
        "corrected": (
            lambda: CorrectedOperator(DenseOperator(put(S)), put(B), put(0.1 * B)),
            CorrectedOperator(DenseOperator(S), B, 0.1 * B),
        ),
        "scaled": (lambda: ScaledOperator(DenseOperator(put(S)), 3.0), ScaledOperator(
            DenseOperator(S), 3.0)),
        "counted": (lambda: CountingOperator(GramOperator(put(B))), CountingOperator(
            GramOperator(B))),
    }  # fmt: skip
    return made


def test_the_device_refuses_what_a_gpu_refuses(device):
    """The harness itself: mixed devices are an error, numbers are those of the CPU."""
    real = torch.arange(6.0).view(2, 3)
    x = device.put(real)
    with device:
        with pytest.raises(RuntimeError, match="two devices"):
            x @ torch.ones(3, 1)
        with device.counting() as copies:
            y = (x @ torch.ones(3, 1, device="cuda")).cpu()
            assert float(x[1, 2]) == 5.0
            assert len((x > 2).nonzero()) == 3
        assert sum(copies.values()) == 3
    assert y.device.type == "cpu"
    assert torch.equal(device.numbers(y), real.sum(dim=1, keepdim=True))


@pytest.mark.parametrize(
    "hidden",
    [
        lambda x: x.cpu(), lambda x: x.to("cpu"), lambda x: x.sum().item(), lambda x: x.tolist(),
        lambda x: float(x[0, 0]), lambda x: bool((x > 2).any()), lambda x: x[x > 2],
        lambda x: (x > 2).nonzero(), lambda x: torch.empty(2, 3).copy_(x),
        lambda x: torch.zeros(2, 3).__setitem__(slice(None), x), lambda x: torch.equal(x, x),
        lambda x: x.unique(), lambda x: x.masked_select(x > 2), lambda x: x.cpu().numpy(),
    ],
)  # fmt: skip
def test_a_copy_to_the_host_that_is_not_listed_is_found(device, hidden):
    """Every way in which a step could wait for the device."""
    with device, device.counting() as copies:
        hidden(device.put(torch.arange(6.0).view(2, 3)))
    assert sum(not_allowed([copies]).values()) == 1


@pytest.mark.parametrize("name", list(operators(FakeDevice())))
def test_every_operator_stays_on_its_device(device, name):
    make, twin = operators(device)[name]
    i, j = torch.tensor([3, 1, 20]), torch.tensor([0, 3, 7, 20])
    X = torch.rand(N, 2, generator=torch.Generator().manual_seed(1))
    with device:
        S = make()
        Xd, i_d, j_d = device.put(X), device.put(i), device.put(j)
        found = {
            "matmul": S.matmul(Xd), "block": S.block(i_d, j_d),
            "entries": S.entries(i_d, j_d[:3]),
            "block_matmul": S.block_matmul(i_d, j_d, Xd[:4]), "diag": S.diag(),
            "row_norms": S.row_norms(), "to_dense": S.to_dense(),
        }  # fmt: skip
        numbers = (S.frob_sq(), S.mean(), S.trace(), S.scale())
    expected = {
        "matmul": twin.matmul(X), "block": twin.block(i, j), "entries": twin.entries(i, j[:3]),
        "block_matmul": twin.block_matmul(i, j, X[:4]), "diag": twin.diag(),
        "row_norms": twin.row_norms(), "to_dense": twin.to_dense(),
    }  # fmt: skip
    for what, y in found.items():
        assert y.device == S.device == device.device, what
        torch.testing.assert_close(device.numbers(y), expected[what], msg=what)
    assert numbers == pytest.approx((twin.frob_sq(), twin.mean(), twin.trace(), twin.scale()))


def tensors(state):
    """All tensors of a state."""
    if isinstance(state, torch.Tensor):
        return [state]
    if is_dataclass(state):
        return [t for f in fields(state) for t in tensors(getattr(state, f.name))]
    if isinstance(state, tuple | list):
        return [t for part in state for t in tensors(part)]
    return []


def steps(device, name, form, count):
    """Run some steps on the device; return the factor, the state and the copies of each step."""
    B, S = matrix()
    rng, copies = torch.Generator(), []
    operator = GramOperator(device.put(B)) if form == "gram" else DenseOperator(device.put(S))
    problem = Problem(operator, K, 0)
    solver = make_solver(name)
    state = solver.init_state(problem)
    for iteration in range(count):
        rng.manual_seed(torch_seed(0, "step", iteration))
        with device.counting() as found:
            state = solver.step(problem, state, rng)
        copies.append(found)
    return state, copies


#: Rows that another test steps.
ELSEWHERE = {"symnmf-net": "differentiates: test_a_row_that_differentiates_steps_on_its_device"}


@pytest.mark.parametrize("form", ["dense", pytest.param("gram", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", list(available()))
def test_every_row_steps_on_its_device(device, name, form):
    if name in ELSEWHERE:
        pytest.skip(ELSEWHERE[name])
    with device:
        state, copies = steps(device, name, form, 2)
    assert all(t.device == device.device for t in tensors(state) if t.ndim), name
    assert not_allowed(copies, name) == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ELSEWHERE))
def test_a_row_that_differentiates_steps_on_its_device(name):
    """In a process of its own: see ``differentiating_device.py``."""
    tests = Path(__file__).parents[1]
    code = f"from devices.differentiating_device import main; main({name!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tests, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [tests, *sys.path]))},
    )  # fmt: skip
    found = json.loads(done.stdout)
    assert found == {"devices": ["fakegpu:0"], "not allowed": {}, "same": True}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("admm", "gram"),
        pytest.param("admm", "dense", marks=pytest.mark.slow),
        pytest.param("sketched", "gram", marks=pytest.mark.slow),
        pytest.param("sketched", "dense", marks=pytest.mark.slow),
        pytest.param("row-adagrad", "dense", marks=pytest.mark.slow),
        pytest.param("block-svrg-adaptgrow", "gram", marks=pytest.mark.slow),
    ],
)
def test_a_whole_fit_on_the_device_equals_that_of_the_cpu(device, generators, name, form):
    """Start, spectrum, solver, checks, best factor, certificate, agreement and order of columns."""
    B, S = matrix()
    on_cpu = GramOperator(B) if form == "gram" else DenseOperator(S)
    put = device.put
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = sn.factorize(on_cpu, K, name, max_iter=20, n_init=1)
        with device:
            there = GramOperator(put(B)) if form == "gram" else DenseOperator(put(S))
            found = sn.factorize(there, K, name, max_iter=20, n_init=1)
            labels = found.labels()
    assert found.H.device == device.device
    assert found.status is expected.status
    assert found.certificate == expected.certificate
    assert torch.equal(device.numbers(found.H), expected.H)
    assert torch.equal(device.numbers(labels), expected.labels())


def test_spectrum_by_iteration_and_kmeans_on_the_device(device):
    from symnmf.core import spectrum

    gen = torch.Generator().manual_seed(0)
    B = torch.rand(90, 4, generator=gen) + torch.eye(4)[torch.arange(90) % 4]
    S = B @ B.T
    expected = spectrum._subspace(DenseOperator(S), 4, 12, 0, 6, None)
    means = sn.spherical_kmeans(DenseOperator(S), 4, seed=1)
    with device:
        there = DenseOperator(device.put(S))
        found = spectrum._subspace(there, 4, 12, 0, 6, None)
        labels = sn.spherical_kmeans(there, 4, seed=1).labels
    assert found.vectors.device == labels.device == device.device
    assert found.floor(4) == expected.floor(4)
    assert torch.equal(device.numbers(labels), means.labels)


def test_a_fit_on_a_chosen_device_comes_back(device, generators, found):
    """``--device``: S is on the CPU, the fit is on the device, the answer is on the CPU again."""
    from symnmf.operators.devices import computing_on

    _, S = matrix()
    seen = []
    with device, computing_on("auto"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = DenseOperator(device.put(S, "cpu"))
        watch = [lambda check, H: seen.append(H.device.type)]
        result = sn.factorize(here, K, "admm", max_iter=10, callbacks=watch)
    assert set(seen) == {"cuda"}
    assert result.H.device.type == "cpu"


@pytest.mark.parametrize(("word", "says"), [
    ("mps", "mps has no float64"), ("cuda", "torch finds no GPU"), ("tpu", "unknown device 'tpu'"),
])  # fmt: skip
def test_devices_that_cannot_be_used_are_refused(word, says):
    if word == "cuda" and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(sn.SymnmfError, match=f"^device: .*{says}"):
        sn.factorize(np.eye(4), 2, device=word)
    with pytest.raises(sn.SymnmfError, match=says):
        sn.SymNMF(2, device=word).fit(np.eye(4))
