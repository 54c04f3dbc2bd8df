"""Reading what users have."""

from symnmf.data.matrix import read_matrix

__all__ = ["read_matrix"]
