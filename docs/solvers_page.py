"""Write docs/solvers.md from the registry: `python docs/solvers_page.py`."""

from pathlib import Path

from symnmf.solvers.registry import solvers

HEAD = """# Solvers

Every row works under the one criterion with the defaults below, which are free of the scale of S:
step sizes are multiples of sqrt(s / k), the size of the entries that H must reach, and couplings
multiples of n·s / k, the size of ‖h_j‖². The paper's own numbers can be set outright (`eta`,
`rho`, `alpha`, `unit`).

*products* are products of S with k columns in an iteration; a look of the driver every ten
iterations costs one more where the solver does not know S·H itself. *arrays* are n×k arrays alive
in a fit, spectrum (two) and looks included. On a Gram operator S = B Bᵀ with m columns a product
costs 4·n·m·k operations instead of 2·n²·k, a block of it 2·(|I| + |J|)·m·k instead of
2·|I|·|J|·k, and a single entry 2·m instead of one read: entry sampling does not pay there.

Rows of the tier *study* are kept for comparison: they are never recommended.

"""
TAIL = """
Left out: Shampoo. Its left factor for an n×k variable is n×n, and each step needs a root of it:
n³ operations, where a product with S costs 2·n²·k.

Refused: sampling with RMSprop, Adam or Adan. Their mean of squares decays on every gradient that
was not sampled, so that the next one is overscaled by α^(−Δ/2) after Δ misses (a test shows it).
AdaGrad's sum keeps what it has.

## How the adaptive parts work

- **Anneal** (rmsprop, adam, nadam, adan and their softplus forms): a rule that forgets makes
  steps of the same size for ever and circles around the answer. When the error has risen at three
  looks with the gradient above its gate, η is halved. The paper tunes η for each matrix and size
  instead; `anneal=0.99` all but switches it off.
- **Reset** (piecewise-adagrad and the reset rows): the rules of the paper's section 5.1.
- **Grow** (adaptgrow rows): φ doubles after three stagnant looks in a row with the gradient above
  its gate.
- **Hybrid** (svrg rows): fresh gradients on the rows that were sampled, on the scale of ∇f, and
  the last full gradient elsewhere; a look of the driver is a free snapshot.
- **Coupling** (hals, anls, lai): begins small and doubles at stagnant looks with the gradient
  above its gate. The start factor is scaled to fit S first.
"""


def page() -> str:
    """The page as markdown."""
    lines = ["| name | family | tier | products | arrays | options | the paper's | from |"]
    lines.append("|" + "---|" * 8)
    for row in solvers().values():
        options = ", ".join(f"{name}={value}" for name, value in row.parameters.items())
        cells = (row.name, row.family, row.tier, row.products, row.memory, options)
        lines.append("| " + " | ".join(map(str, (*cells, row.paper, row.reference))) + " |")
    return HEAD + "\n".join(lines) + "\n" + TAIL


if __name__ == "__main__":
    Path(__file__).with_name("solvers.md").write_text(page(), encoding="utf-8")
