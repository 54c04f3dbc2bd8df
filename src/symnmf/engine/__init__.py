"""The driver loop and the stopping criterion."""

from symnmf.engine.criterion import Monitor
from symnmf.engine.driver import Callback, solve
from symnmf.engine.exact_result import certify_exact
from symnmf.engine.progress import JsonProgress, Progress

__all__ = ["Callback", "JsonProgress", "Monitor", "Progress", "certify_exact", "solve"]
