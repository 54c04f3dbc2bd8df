"""The symmetric matrix S, in whatever form it is held."""

from symnmf.operators.base import SymmetricOperator
from symnmf.operators.convert import as_operator
from symnmf.operators.dense import DenseOperator
from symnmf.operators.gram import GramOperator
from symnmf.operators.lowrank import LowRankOperator
from symnmf.operators.sparse import SparseOperator
from symnmf.operators.wrap import CountingOperator, DiagonalShift, ScaledOperator, bare

__all__ = [
    "CountingOperator",
    "DenseOperator",
    "DiagonalShift",
    "GramOperator",
    "LowRankOperator",
    "ScaledOperator",
    "SparseOperator",
    "SymmetricOperator",
    "as_operator",
    "bare",
]
