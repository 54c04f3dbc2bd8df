"""Reading what users have."""

from symnmf.data.matrix import read_matrix
from symnmf.data.panel import Panel, PanelSummary, read_panel

__all__ = ["Panel", "PanelSummary", "read_matrix", "read_panel"]
