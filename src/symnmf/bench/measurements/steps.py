"""The best step of AdaGrad and penalty of ADMM against n."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.core.problem import Problem
from symnmf.dependence.synthetic.in_memory import benchmark_matrix
from symnmf.planning.tuning import trials

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

SEED, SIZES = 7, (100, 316, 1000, 3162, 10_000)
#: Solver, its option, and steps of a trial.
CASES = (("adagrad", "step_size", 300), ("admm", "penalty", 100))
#: Factors of the default that are tried.
GRID = tuple(2.0**e for e in range(-4, 5))
STEPS = MeasuredTable(
    "steps",
    "Best of a grid, by the error on the surrogate",
    ("solver", "matrix", "n", "k"),
    ("best, scale-free", "as η or ρ", "error", "error of ours"),
    {},
)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row a matrix and solver: the best value, scale-free and as η or ρ."""
    for kind in ("tpdm", "corr"):
        for n in choices.sizes or SIZES:
            b = benchmark_matrix(kind, n, seed=SEED)
            problem = Problem(b.operator, b.k, SEED)
            for name, option, steps in CASES:
                errors = trials(problem, name, option, steps, GRID)
                best = min(errors, key=lambda value: errors[value])
                unit = problem.entry_scale if name == "adagrad" else n * problem.entry_scale**2
                default = sorted(errors)[len(errors) // 2]
                yield STEPS.row(
                    name, kind, n, b.k, best, best * unit, errors[best], errors[default]
                )


def draw(rows: pd.DataFrame) -> Figure:
    """The best step and penalty against n; docs/picture.py makes an image of it."""
    from plotly.graph_objects import Figure

    figure = Figure()
    for (name, kind), part in rows.groupby(["solver", "matrix"], sort=False):
        label = f"{'η of AdaGrad' if name == 'adagrad' else 'ρ of ADMM'}, {kind}"
        dash = "dot" if kind == "corr" else "solid"
        figure.add_scatter(
            x=part["n"], y=part["as η or ρ"], mode="lines+markers", name=label, line={"dash": dash}
        )
    figure.update_xaxes(type="log", title="n (k = ⌊√n⌋)")
    figure.update_yaxes(type="log", title="best step or penalty")
    figure.update_layout(template="simple_white", width=760, height=420)
    return figure


MEASUREMENT = Measurement(
    "steps",
    "The best step of AdaGrad and penalty of ADMM",
    (STEPS,),
    ("sizes",),
    measure,
    named=True,
    draw=draw,
)
