"""The algorithms, each a frozen dataclass of hyper-parameters; the registry names them.

>>> import symnmf as sn
>>> sn.solvers.available()["admm"].reference
'Boyd et al. 2011'
"""

from symnmf.core.problem import Problem
from symnmf.core.solver import Check, Solver, State
from symnmf.solvers.registry import available, make_solver

__all__ = ["Check", "Problem", "Solver", "State", "available", "make_solver"]
