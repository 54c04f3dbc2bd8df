"""The symmetric matrix S as an operator: dense, sparse, Gram, low rank."""

from symnmf.operators.base import SymmetricOperator
from symnmf.operators.conversion import as_operator
from symnmf.operators.dense import DenseOperator
from symnmf.operators.gram import GramOperator
from symnmf.operators.lowrank import LowRankOperator
from symnmf.operators.sparse import SparseOperator
from symnmf.operators.wrappers import CountingOperator, ScaledOperator, unwrap

__all__ = [
    "CountingOperator",
    "DenseOperator",
    "GramOperator",
    "LowRankOperator",
    "ScaledOperator",
    "SparseOperator",
    "SymmetricOperator",
    "as_operator",
    "unwrap",
]
