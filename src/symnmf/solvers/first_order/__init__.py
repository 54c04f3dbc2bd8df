"""Family 3: adaptive first-order methods, composed of a rule, a sampling, reactions and a space."""

from symnmf.solvers.first_order.averaged import Averaged
from symnmf.solvers.first_order.composition import FirstOrder
from symnmf.solvers.first_order.reactions import Anneal, Grow, Reaction, Reset
from symnmf.solvers.first_order.rules import AdaGrad, Adam, Adan, DualAveraging, RMSprop, Rule
from symnmf.solvers.first_order.sampling import (
    BlockSampling,
    EntrySampling,
    FullBatch,
    PartialSampling,
    RowSampling,
    Sampling,
    SnapshotHybrid,
)

__all__ = [
    "AdaGrad",
    "Adam",
    "Adan",
    "Anneal",
    "Averaged",
    "BlockSampling",
    "DualAveraging",
    "EntrySampling",
    "FirstOrder",
    "FullBatch",
    "Grow",
    "PartialSampling",
    "RMSprop",
    "Reaction",
    "Reset",
    "RowSampling",
    "Rule",
    "Sampling",
    "SnapshotHybrid",
]
