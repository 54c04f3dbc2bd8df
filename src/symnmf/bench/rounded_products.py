"""Products with S as tensor cores make them: rounded factors, sums in float32."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch
from sklearn.metrics import adjusted_rand_score
from torch import Tensor

from symnmf.bench.problems import study_problem
from symnmf.bench.study import Run
from symnmf.core.problem import Problem
from symnmf.engine import solve
from symnmf.operators import DenseOperator, SymmetricOperator
from symnmf.solvers.registry import find


class RoundedProducts(DenseOperator):
    """S whose products round S and X to a shorter format and sum in float32.

    Products of two numbers of a half format are exact in float32.

    Arguments:
        S: a matrix to form.
        dtype: the shorter format.

    Example:
        >>> S = RoundedProducts(DenseOperator(torch.full((2, 2), 1.001)), torch.bfloat16)
        >>> S.matmul(torch.ones(2, 1)).ravel()
        tensor([2., 2.])
    """

    def __init__(self, S: SymmetricOperator, dtype: torch.dtype):
        super().__init__(S.to_dense())
        self.short = dtype
        self.rounded = self.S.to(dtype).to(self.S.dtype)

    def matmul(self, X: Tensor) -> Tensor:
        """S X of the rounded S and X."""
        return self.rounded @ X.to(self.short).to(X.dtype)


def rounded_products(run: Run, scratch: Path) -> dict[str, Any]:
    """A solver that multiplies in the format of the option ``product``, judged on S itself."""
    b, row = study_problem(run.kind, run.n, run.seed, scratch), find(run.solver)
    S = RoundedProducts(b.operator, getattr(torch, run.options["product"]))
    exact = Problem(b.operator, run.k, run.seed, row.start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = solve(
            Problem(S, run.k, run.seed, row.start),
            row.make(),
            max_iter=run.iterations,
            max_seconds=run.seconds,
            handle_interrupt=False,
        )
    error = exact.error(result.H, b.operator.matmul(result.H))
    return {
        "status": result.status.name,
        "iterations": result.iterations,
        "seen": result.certificate.error,
        "error": error,
        "excess": exact.bounds.excess(error),
        "ari": float(adjusted_rand_score(b.labels, result.labels())),
    }
