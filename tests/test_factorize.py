"""The front door: what it takes, what it says, and the bars of the paper's small matrices."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
import torch

import symnmf as sn
from helpers import SEEDS, dense, market
from symnmf.core.result import Status
from symnmf.errors import (
    CollapsedWarning,
    InvalidFactor,
    InvalidInput,
    InvalidMatrix,
    NotConvergedWarning,
    UnknownName,
)

BLOCKS = np.kron(np.eye(3), np.ones((4, 4)))


def test_finds_blocks_in_every_form():
    names = [f"asset {i}" for i in range(12)]
    for S in (
        BLOCKS,
        BLOCKS.astype(np.float32),
        BLOCKS.astype(int),
        torch.tensor(BLOCKS),
        pd.DataFrame(BLOCKS, index=names, columns=names),
        sn.GramOperator(torch.kron(torch.eye(3), torch.ones(4, 1))),
    ):
        result = sn.factorize(S, 3, seed=1)
        assert result.status is Status.EXACT
        labels = result.labels().reshape(3, 4)
        assert (labels == labels[:, :1]).all()
        assert len(set(labels[:, 0].tolist())) == 3
    assert sn.factorize(pd.DataFrame(BLOCKS, names, names), 3).names == tuple(names)


def reliable():
    """Both types, two sizes, three seeds, two solvers; the repeated long runs are slow."""
    for kind, n, seed, solver in product(("tpdm", "corr"), (100, 1000), SEEDS, ("adagrad", "admm")):
        slow = n == 1000 and seed != SEEDS[0]
        yield pytest.param(kind, n, seed, solver, marks=[pytest.mark.slow] if slow else [])


@pytest.mark.parametrize(("kind", "n", "seed", "solver"), list(reliable()))
def test_converges_on_the_papers_matrices(kind, n, seed, solver):
    """24 of 24, certified, with the default options."""
    b = market(kind, n, seed)
    result = sn.factorize(b.operator, b.k, solver, seed=seed)
    assert result.status is Status.CONVERGED
    assert result.certificate.excess <= 0.05
    assert result.certificate.paper_converged


def test_residual_of_the_papers_first_figure():
    """TPDM n = 100, k = 10: ‖S − H Hᵀ‖ / ‖S‖ about 2 % (the paper's example: 1.6 %)."""
    residuals = [
        sn.factorize(market("tpdm", 100, seed).operator, 10, seed=seed).certificate.error ** 0.5
        for seed in SEEDS
    ]
    assert 0.01 < np.mean(residuals) < 0.025


@pytest.mark.parametrize("solver", ["mu", "adagrad", "admm"])
def test_scale_changes_neither_status_nor_labels(solver):
    S = dense(market("tpdm", 100).operator).float()
    plain = sn.factorize(S, 10, solver, seed=7)
    for scale in (1e6, 2.0**20):
        large = sn.factorize(S * scale, 10, solver, seed=7)
        assert large.status is plain.status
        assert torch.equal(large.labels(), plain.labels())
    # A power of two changes no digit, so that the last run ends at the same check.
    torch.testing.assert_close(large.H / 2**10, plain.H, rtol=1e-5, atol=1e-6)


def test_own_start_and_starts_by_name():
    H0 = np.random.default_rng(0).random((12, 3))
    assert sn.factorize(BLOCKS, 3, start=H0).status.good
    assert sn.factorize(BLOCKS, 3, start="nndsvd").status.good


def test_dtype():
    assert sn.factorize(BLOCKS, 3, dtype=torch.float32).H.dtype == torch.float32
    assert sn.factorize(BLOCKS, 3).H.dtype == torch.float64


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"S": np.ones((2, 3))}, InvalidMatrix, "square"),
        ({"k": 0}, InvalidInput, "k: got 0.*1 to n = 12"),
        ({"k": 13}, InvalidInput, "k: got 13"),
        ({"solver": "adam_w"}, UnknownName, "Did you mean"),
        ({"rho": 1.0, "solver": "mu"}, InvalidInput, "rho: is not an option of 'mu'. It has eps"),
        ({"solver": "admm", "rho": -1.0}, InvalidInput, r"ADMM.rho: got -1.0. Pass a positive"),
        ({"start": np.ones((3, 3))}, InvalidFactor, r"H0: has shape \(3, 3\)"),
        ({"start": -np.ones((12, 3))}, InvalidFactor, r"entry \[0, 0\] is negative"),
        ({"seed": -1}, InvalidInput, "seed: got -1"),
        ({"kkt_gate": 0.0}, InvalidInput, "kkt_gate: got 0.0"),
    ],
)
def test_wrong_arguments(arguments, kind, words):
    with pytest.raises(kind, match=words):
        sn.factorize(**{"S": BLOCKS, "k": 3, **arguments})


def test_not_converging_warns_once_with_advice():
    with pytest.warns(NotConvergedWarning, match="ended MAX_ITER.*raise max_iter") as caught:
        sn.factorize(market("corr", 100).operator, 10, max_iter=5)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(CollapsedWarning, match="no groups"):
        sn.factorize(market("tpdm", 100).operator, 10, "mu", start=np.full((100, 10), 0.2))


def test_stopping_on_request_does_not_warn():
    result = sn.factorize(market("corr", 100).operator, 10, callbacks=[lambda check, H: True])
    assert result.status is Status.STOPPED


def test_edges_of_k():
    S = market("corr", 100).operator
    assert sn.factorize(S, 1).certificate.excess is None
    everything = sn.factorize(BLOCKS + np.eye(12), 12, "mu", seed=2)
    assert everything.certificate.error < 0.05


@pytest.mark.parametrize("solver", ["mu", "adagrad", "admm"])
@pytest.mark.parametrize("scale", [1e-20, 1e12])
def test_far_scales(solver, scale):
    S = dense(market("tpdm", 100).operator).float()
    plain, far = (sn.factorize(S * c, 10, solver, seed=7) for c in (1.0, scale))
    assert far.status is plain.status
    assert torch.equal(far.labels(), plain.labels())


def test_a_zero_row_is_unassigned():
    S = BLOCKS.copy()
    S[3] = S[:, 3] = 0
    for solver in ("mu", "adagrad", "admm"):
        result = sn.factorize(S.astype(np.float32), 3, solver, seed=1)
        assert int(result.labels()[3]) == -1


def test_negative_rounding_keeps_h_feasible():
    S = market("corr", 100).operator.S.clone()
    S[0, 1] = S[1, 0] = -5e-6
    assert float(sn.factorize(S, 10, "mu", seed=7).H.min()) >= 0


def test_progress_is_silent_without_a_terminal(capsys):
    sn.factorize(BLOCKS, 3, progress=True)
    assert capsys.readouterr() == ("", "")


def test_checkpoint_folder(tmp_path):
    S = market("corr", 100).operator
    with pytest.warns(NotConvergedWarning):
        sn.factorize(S, 10, max_iter=20, checkpoint=tmp_path / "run")
    resumed = sn.factorize(S, 10, checkpoint=tmp_path / "run", resume=True)
    assert torch.equal(resumed.H, sn.factorize(S, 10).H)
