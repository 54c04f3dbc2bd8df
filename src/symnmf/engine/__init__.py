"""The one loop and the one criterion."""

from symnmf.engine.checkpoint import Checkpoint
from symnmf.engine.driver import Callback, judge, solve
from symnmf.engine.monitor import Monitor
from symnmf.engine.progress import Progress

__all__ = ["Callback", "Checkpoint", "Monitor", "Progress", "judge", "solve"]
