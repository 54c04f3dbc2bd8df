"""Readers of tables and matrices of users."""

from symnmf.data.layouts import IsMatrix
from symnmf.data.matrix_checks import sensible_matrix
from symnmf.data.matrix_files import read_matrix
from symnmf.data.panel import Panel, PanelSummary, read_panel

__all__ = ["IsMatrix", "Panel", "PanelSummary", "read_matrix", "read_panel", "sensible_matrix"]
