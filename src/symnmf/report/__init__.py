"""The report of an analysis or a history: one HTML file."""

from symnmf.report.content import Content, gather
from symnmf.report.history_page import render_history
from symnmf.report.page import render, write_report

__all__ = ["Content", "gather", "render", "render_history", "write_report"]
