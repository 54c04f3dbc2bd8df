"""Analysis of a table or a matrix: from data to groups, evidence, and a folder of results."""

from symnmf.analysis.pipeline import Analysis, analyse

__all__ = ["Analysis", "analyse"]
