"""Family 3: adaptive first-order methods, composed of a rule, a sampling, reactions and a space."""

from symnmf.solvers.first_order.averaged import Averaged
from symnmf.solvers.first_order.reactions import Anneal, Grow, Reaction, Reset
from symnmf.solvers.first_order.rules import AdaGrad, Adam, Adan, DualAveraging, RMSprop, Rule
from symnmf.solvers.first_order.sampling import Blocks, Entries, Full, Hybrid, Rows, Sampling
from symnmf.solvers.first_order.solver import FirstOrder

__all__ = [
    "AdaGrad",
    "Adam",
    "Adan",
    "Anneal",
    "Averaged",
    "Blocks",
    "DualAveraging",
    "Entries",
    "FirstOrder",
    "Full",
    "Grow",
    "Hybrid",
    "RMSprop",
    "Reaction",
    "Reset",
    "Rows",
    "Rule",
    "Sampling",
]
