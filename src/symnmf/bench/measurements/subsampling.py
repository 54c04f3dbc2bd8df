"""When a sampled gradient is faithful, and which solver is faster: effective rank and gap."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from statistics import mean, pstdev

import numpy as np
import torch

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.core.objective import gradient
from symnmf.core.problem import Problem
from symnmf.core.spectrum import diagnostics
from symnmf.dependence.correlation import abs_correlation
from symnmf.engine import Monitor, solve
from symnmf.numerics import torch_stream
from symnmf.operators import SymmetricOperator
from symnmf.solvers.first_order.sampling import BlockSampling
from symnmf.solvers.registry import find

N, K, DAYS, SEEDS = 800, 28, 4000, (7, 42, 99)
#: Shares of the variance: of the common factor, and of the factor of a group. The first seven have
#: one strength of groups against noise and effective ranks from 1.05 to 20, the others one common
#: factor and gaps from hardly any to wide.
SHARES = (
    (0.95, 0.03), (0.80, 0.12), (0.60, 0.24), (0.40, 0.36), (0.20, 0.48), (0.08, 0.55),
    (0.02, 0.59), (0.40, 0.05), (0.40, 0.10), (0.40, 0.20), (0.40, 0.50),
)  # fmt: skip
SOLVERS = ("adagrad", "row-svrg", "block-svrg-adaptgrow", "rmsprop", "admm")
#: Fraction of the pairs in a block, and number of blocks that are drawn.
PHI, DRAWS = 0.5, 20
#: Iterations of AdaGrad before the gradient is sampled, and the most of a run.
ADVANCE, LONGEST = 30, 3000

BLOCKS = MeasuredTable(
    "subsampling",
    "Deviation of block gradients, against effective rank and gap",
    ("common", "group"),
    ("r_eff", "gap", "deviation at the start", "deviation under way", "noise against the gate"),
    {},
)
RUNS = MeasuredTable(
    "subsampling-solvers",
    "Products until the criterion is met",
    ("common", "group", "solver"),
    ("r_eff", "gap", "converged", "iterations", "products", "deviation", "excess"),
    {},
)


def factor_correlation(common: float, group: float, seed: int) -> SymmetricOperator:
    """|correlation| of days with one common factor, a factor for each group, and noise."""
    rng = np.random.default_rng(seed)
    label = rng.integers(K, size=N)
    noise = 1.0 - common - group
    days = (
        common**0.5 * rng.standard_normal((DAYS, 1))
        + group**0.5 * rng.standard_normal((DAYS, K))[:, label]
        + noise**0.5 * rng.standard_normal((DAYS, N))
    )
    return abs_correlation(days)


def deviation(problem: Problem, H: torch.Tensor) -> tuple[float, float]:
    """Root mean square of block gradient − gradient: against the gradient, and per entry."""
    exact = gradient(H, problem.S.matmul(H)).double()
    rng, blocks = torch_stream(0, 1), BlockSampling(PHI)
    squares = []
    for _ in range(DRAWS):
        drawn = blocks.partial(problem, H, PHI, rng)[0].double() / PHI
        squares.append(float((drawn - exact).square().sum()))
    size = mean(squares) ** 0.5
    return size / float(exact.norm()), size / H.numel()


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row a matrix, and a row a matrix and solver; means over three matrices and starts."""
    names = choices.solvers or SOLVERS
    for common, group in SHARES:
        start, under_way, noise, ranks, gaps = [], [], [], [], []
        runs: dict[str, list[tuple[bool, int, float, float]]] = {name: [] for name in names}
        for seed in SEEDS:
            S = factor_correlation(common, group, seed)
            problem = Problem(S, K, seed)
            spectral = diagnostics(problem.spectrum, K)
            ranks.append(spectral.r_eff)
            gaps.append(spectral.gamma_k)
            start.append(deviation(problem, problem.H0)[0])
            adagrad = find("adagrad").make()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                H = solve(problem, adagrad, max_iter=ADVANCE, handle_interrupt=False).H
                relative, size = deviation(problem, H)
                under_way.append(relative)
                noise.append(size / Monitor().gate(N))
                for name in names:
                    result = solve(
                        Problem(S, K, seed), find(name).make(), max_iter=LONGEST,
                        handle_interrupt=False,
                    )  # fmt: skip
                    found = result.certificate
                    runs[name].append(
                        (found.converged, result.iterations, result.products, found.excess or 0.0)
                    )
        yield BLOCKS.row(
            common, group, mean(ranks), mean(gaps), mean(start), mean(under_way), mean(noise)
        )
        for name, ends in runs.items():
            good, iterations, products, excess = zip(*ends, strict=True)
            yield RUNS.row(
                common, group, name, mean(ranks), mean(gaps), f"{sum(good)}/{len(good)}",
                mean(iterations), mean(products), pstdev(products), max(excess),
            )  # fmt: skip


MEASUREMENT = Measurement(
    "subsampling",
    "When sampled gradients are faithful, and which solver is faster",
    (BLOCKS, RUNS),
    ("solvers",),
    measure,
    named=True,
)
