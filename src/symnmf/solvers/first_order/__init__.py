"""Family 3: adaptive first-order methods, composed of a rule and a space."""

from symnmf.solvers.first_order.rules import AdaGrad, Rule
from symnmf.solvers.first_order.solver import FirstOrder

__all__ = ["AdaGrad", "FirstOrder", "Rule"]
