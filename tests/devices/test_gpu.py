"""What only a GPU can show; none of it has run yet (docs/devices.md). ``make test-gpu``."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from symnmf.operators import as_operator
from symnmf.operators.stored import open_matrix, write_matrix
from symnmf.solvers.registry import available
from symnmf.testing import check_operator

pytestmark = pytest.mark.gpu


@pytest.fixture(params=[False, True], ids=["float32", "tf32"])
def tf32(request):
    """Products with and without TF32, which has ten bits instead of 23."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = request.param
    yield request.param
    torch.backends.cuda.matmul.allow_tf32 = before


@pytest.mark.parametrize("kind", ["corr", "tpdm"])
@pytest.mark.parametrize("name", list(available()))
def test_every_row_agrees_with_the_cpu(kind, name, tf32):
    """The error to four digits (two with TF32), the status, and the groups."""
    market = sn.benchmark_matrix(kind, 200, seed=7, samples=4000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here = sn.factorize(market.operator, market.k, name, max_iter=400)
        whole = as_operator(market.operator.to_dense(), device="cuda")
        there = sn.factorize(whole, market.k, name, max_iter=400)
    assert there.H.is_cuda
    digits = 1e-2 if tf32 else 1e-4
    assert there.certificate.error == pytest.approx(here.certificate.error, rel=digits, abs=1e-6)
    if not tf32:
        assert there.status is here.status
    if here.status.good:
        agreed = adjusted_rand_score(here.labels(), there.labels().cpu())
        assert agreed > (0.9 if tf32 else 0.99)


def test_every_operator_on_the_gpu(tmp_path):
    import scipy.sparse as sp

    B = torch.rand(70, 5)
    S = B @ B.T
    check_operator(as_operator(S, device="cuda"))
    check_operator(sn.GramOperator(B.cuda()))
    check_operator(as_operator(sp.csr_array(S.numpy()), device="cuda"))
    folder = write_matrix(tmp_path / "S", S, form="dense")
    X = torch.rand(70, 3)
    torch.testing.assert_close(open_matrix(folder, device="cuda").matmul(X.cuda()).cpu(), S @ X)


def test_a_run_resumes_on_the_other_device(tmp_path):
    """A checkpoint of the GPU goes on on the CPU."""
    S = np.kron(np.eye(3), np.ones((20, 20))) + 0.1 * np.random.default_rng(0).random((60, 60))
    S = (S + S.T) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sn.factorize(S, 3, "admm", max_iter=10, device="cuda", checkpoint=tmp_path)
        found = sn.factorize(S, 3, "admm", checkpoint=tmp_path, resume=True)
    assert found.status.good


@pytest.mark.parametrize("command", ["fit", "rank"])
def test_the_command_line_on_the_gpu(tmp_path, command):
    from typer.testing import CliRunner

    from symnmf.cli import app

    np.savetxt(tmp_path / "r.csv", np.random.default_rng(0).standard_normal((200, 9)),
               delimiter=",", header="a,b,c,d,e,f,g,h,i", comments="")  # fmt: skip
    out = ["--k", "3", "--out", str(tmp_path / "o")] if command == "fit" else []
    words = [command, "--returns", str(tmp_path / "r.csv"), "--device", "cuda", *out]
    assert CliRunner().invoke(app, words).exit_code in (0, 1)
