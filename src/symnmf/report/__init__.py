"""The report: what a person sees of a result, in one file."""

from symnmf.report.content import Content, gather
from symnmf.report.page import render, write_report

__all__ = ["Content", "gather", "render", "write_report"]
