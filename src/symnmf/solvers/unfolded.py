"""Family 7: an iteration unrolled into a network that is trained on the matrix itself."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from symnmf.core.objective import gradient
from symnmf.core.problem import Problem
from symnmf.core.solver import Solver, State
from symnmf.operators import SymmetricOperator
from symnmf.operators.autograd import product
from symnmf.options import option
from symnmf.solvers.first_order.rules import Adam, Moments


@dataclass
class NetState(State):
    """Weights P (T, k, k) and log λ, one or T of them, with Adam's state of each."""

    P: Tensor
    log_lam: Tensor
    P_moments: Moments
    lam_moments: Moments


@dataclass(frozen=True)
class SymNMFNet(Solver[NetState]):
    """T unrolled blocks with trainable weights; a step is one Adam step on them.

        H_{t+1} = ReLU((S H_t + λ_t H_t)(H_tᵀH_t + λ_t I)⁻¹ P_t),   H_0 the start factor

    Differences from the paper (its appendix C), which gives the layers but not their wiring:

    1. A block is a regularized least-squares update, followed by the linear layer P_t (k×k,
       the identity at first); λ_t starts at n·s / k.
    2. Each block has a λ_t of its own; ``one_lambda`` gives the blocks one in common, as in the
       paper.

    The factor of a state is the output before its Adam step, whose product is known.

    Arguments:
        blocks: T; the paper's is 5.
        rate: Adam's learning rate; the paper's is 0.1.
        one_lambda: whether all blocks have the same λ.

    Reference: Li et al. (2022), as cited by the paper.
    """

    blocks: int = option(5, whole=True, at_least=1)
    rate: float = option(0.01, above=0)
    one_lambda: bool = option(False)

    def init_state(self, problem: Problem) -> NetState:
        """The untrained network at the start factor."""
        H0 = problem.H0
        P = torch.eye(problem.k, dtype=H0.dtype, device=H0.device).repeat(self.blocks, 1, 1)
        scale = torch.tensor(problem.S.n * problem.entry_scale**2, dtype=H0.dtype)
        log_lam = scale.log().repeat(1 if self.one_lambda else self.blocks).to(H0.device)
        rule = Adam()
        return NetState(H0.clone(), None, P, log_lam, rule.init(P), rule.init(log_lam))

    def step(self, problem: Problem, state: NetState, rng: torch.Generator) -> NetState:
        """2T products: T forward, one at the output, T − 1 backward."""
        S, frob_sq = problem.S, problem.S.frob_sq()
        with torch.enable_grad():
            P = state.P.detach().requires_grad_()
            log_lam = state.log_lam.detach().requires_grad_()
            H = unrolled(S, problem.H0, P, log_lam)
            SH = S.matmul(H.detach())
            slope = gradient(H.detach(), SH).div_(frob_sq)
            grads = torch.autograd.grad(H, (P, log_lam), grad_outputs=slope)
        rule = Adam()
        P, log_lam = P.detach(), log_lam.detach()
        rule.update(P, state.P_moments, grads[0], self.rate)
        rule.update(log_lam, state.lam_moments, grads[1], self.rate)
        return NetState(H.detach(), SH, P, log_lam, state.P_moments, state.lam_moments)


def unrolled(S: SymmetricOperator, H: Tensor, P: Tensor, log_lam: Tensor) -> Tensor:  # (n, k)
    """The output of the network."""
    eye = torch.eye(H.shape[1], dtype=H.dtype, device=H.device)
    for weight, log in zip(P, log_lam.expand(len(P)), strict=True):
        lam = log.exp()
        system = H.T @ H + lam * eye
        update = torch.linalg.solve(system, (product(S, H) + lam * H).T).T
        H = torch.relu(update @ weight)
    return H
