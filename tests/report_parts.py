"""Results to report on, made without long computations."""

import numpy as np
import pandas as pd
import torch

from symnmf.core.problem import Problem
from symnmf.core.result import Result
from symnmf.engine import certify_exact
from symnmf.operators import GramOperator

#: Names that are no friends of markup, spreadsheets or layouts.
HOSTILE = (
    "</script><script>alert(1)</script>",
    "=cmd|'/c calc'!A0",
    "<img src=x onerror=alert(2)>",
    "שלום עולם",
    "🚀🌈 emoji",
    "long-" + "x" * 495,
    "{{ 7 * 7 }}&amp;<b>bold</b>",
    '"quoted" & `ticked`',
)


def planted(n: int, k: int, names=None) -> tuple[GramOperator, Result]:
    """A matrix whose factor is known, and the result that says so."""
    rng = torch.Generator().manual_seed(n)
    H = 0.1 * torch.rand(n, k, generator=rng)
    H[torch.arange(n), torch.randint(k, (n,), generator=rng)] += 1.0
    H /= torch.linalg.vector_norm(H, dim=1, keepdim=True)
    S = GramOperator(H, names=names)
    return S, certify_exact(Problem(S, k), H, name="planted")


def panel_of(days, groups, size, strength, seed):
    """Heavy-tailed returns with a common factor and planted groups; and the true groups."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(groups), size)
    common, own = rng.standard_t(4, (days, 1)), rng.standard_t(4, (days, groups))
    noise = rng.standard_t(4, (days, groups * size))
    values = 0.7 * common + strength * own[:, truth] + noise
    names = [f"{chr(65 + g)}{i}" for i, g in enumerate(truth)]
    return pd.DataFrame(values, pd.bdate_range("2012", periods=days), names), truth
