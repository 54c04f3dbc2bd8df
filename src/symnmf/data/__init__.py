"""Readers of tables and matrices of users."""

from symnmf.data.matrix_files import read_matrix
from symnmf.data.panel import Panel, PanelSummary, read_panel

__all__ = ["Panel", "PanelSummary", "read_matrix", "read_panel"]
