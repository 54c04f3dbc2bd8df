"""No two rows of the registry are one method under two names."""

from itertools import combinations

import torch

from helpers import market
from symnmf.core.problem import Problem
from symnmf.engine import Monitor, solve
from symnmf.solvers.registry import available

#: Rows that are the same run by definition; none at present.
IDENTITIES: set[frozenset[str]] = set()
RESETS = [name for name in available() if "reset" in name or name == "piecewise-adagrad"]


def run(name, iterations):
    """A run with a gate that is out of reach, so that stagnation asks for reactions."""
    row = available()[name]
    problem = Problem(market("tpdm", 64).operator, 8, 3, row.start)
    return solve(problem, row.make(), monitor=Monitor(kkt_gate=1e-6), max_iter=iterations)


def test_no_two_rows_are_the_same_run_and_resets_fire():
    """In one test, because the runs take long: pairs that begin alike must come to differ."""
    first = {name: run(name, 20).H for name in available()}
    candidates = [pair for pair in combinations(first, 2) if torch.equal(*map(first.get, pair))]
    assert ("adagrad", "piecewise-adagrad") in candidates  # no reset in so few steps
    runs = {name: run(name, 1100) for name in {name for pair in candidates for name in pair}}
    twins = [
        pair
        for pair in candidates
        if frozenset(pair) not in IDENTITIES and torch.equal(*(runs[name].H for name in pair))
    ]
    assert twins == []
    for name in RESETS:
        result = runs[name]
        assert result.reactions["resets"] >= 1, name
        counts = [check.reactions for check in result.history]
        assert counts[0] == 0
        assert counts == sorted(counts)
        assert sum(result.reactions.values()) - counts[-1] in (0, 1)  # one after the last check
