"""The report of an analysis: one HTML file."""

from symnmf.report.content import Content, gather
from symnmf.report.page import render, write_report

__all__ = ["Content", "gather", "render", "write_report"]
