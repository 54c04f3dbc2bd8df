"""Test suites for operators and solvers written outside this package, whose tests also use them.

Example:
    >>> import torch, symnmf as sn
    >>> sn.testing.check_operator(sn.as_operator(torch.eye(5)))
"""

from symnmf.testing.operator_suite import check_operator
from symnmf.testing.solver_suite import check_solver

__all__ = ["check_operator", "check_solver"]
