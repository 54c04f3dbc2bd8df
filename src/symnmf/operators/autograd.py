"""S @ X as a differentiable function, for every operator."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from symnmf.operators.base import SymmetricOperator


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, X: Tensor, S: SymmetricOperator) -> Tensor:
        ctx.S = S
        return S.matmul(X)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        return ctx.S.matmul(grads[0].contiguous()), None


def product(S: SymmetricOperator, X: Tensor) -> Tensor:  # (n, c)
    """``S @ X`` with a gradient; the backward pass is another product, because S = Sᵀ.

    Example:
        >>> from symnmf.operators import DenseOperator
        >>> X = torch.ones(2, 1, requires_grad=True)
        >>> product(DenseOperator(torch.eye(2) * 3), X).sum().backward()
        >>> X.grad[:, 0]
        tensor([3., 3.])
    """
    out: Tensor = _Product.apply(X, S)  # type: ignore[no-untyped-call]
    return out
