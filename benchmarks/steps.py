"""``make bench-steps``: the best step of AdaGrad and penalty of ADMM against n, and the picture."""

from __future__ import annotations

import sys
from pathlib import Path

import plotly.graph_objects as go

from benchmarks.sheet import Sheet
from symnmf.contract import Problem
from symnmf.probe import trials
from symnmf.synthetic import benchmark_matrix

SIZES = (100, 316, 1000, 3162, 10_000)
CASES = (("adagrad", "step_size", 300), ("admm", "penalty", 100))
GRID = tuple(2.0**e for e in range(-4, 5))
#: Written for ``docs/picture.py``, which makes docs/images/steps.png of it.
PAGE = Path("demo") / "steps.html"


def main(sizes: list[int]) -> None:
    """One line a matrix: the best value, scale-free and as η or ρ."""
    sheet = Sheet(
        "steps",
        "best of a grid, by the error on the surrogate",
        ["solver", "matrix", "n", "k", "best, scale-free", "as η or ρ", "error", "error of ours"],
        {},
        labels=4,
    )
    found: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for kind in ("tpdm", "corr"):
        for n in sizes or SIZES:
            b = benchmark_matrix(kind, n, seed=7)
            problem = Problem(b.operator, b.k, 7)
            for name, option, steps in CASES:
                values = trials(problem, name, option, steps, GRID)
                best = min(values, key=lambda v: values[v])
                unit = problem.entry_scale if name == "adagrad" else n * problem.entry_scale**2
                found.setdefault((name, kind), []).append((n, best * unit))
                default = values[sorted(values)[len(values) // 2]]
                least = min(values.values())
                sheet.add(name, kind, n, b.k, best, best * unit, least, default)
    sheet.show()
    _draw(found)


def _draw(found: dict[tuple[str, str], list[tuple[int, float]]]) -> None:
    figure = go.Figure()
    for (name, kind), points in found.items():
        label = f"{'η of AdaGrad' if name == 'adagrad' else 'ρ of ADMM'}, {kind}"
        x, y = zip(*points, strict=True)
        dash = "dot" if kind == "corr" else "solid"
        figure.add_scatter(x=x, y=y, mode="lines+markers", name=label, line={"dash": dash})
    figure.update_xaxes(type="log", title="n (k = ⌊√n⌋)")
    figure.update_yaxes(type="log", title="best step or penalty")
    figure.update_layout(template="simple_white", width=760, height=420)
    PAGE.parent.mkdir(exist_ok=True)
    figure.write_html(PAGE, config={"displayModeBar": False})


if __name__ == "__main__":
    main([int(n) for n in sys.argv[1:]])
