"""Figures: functions that return plotly figures, for notebooks and for the report."""

from symnmf.plot.comparisons import classes, crashes_and_calm
from symnmf.plot.matrices import (
    between_groups,
    heat_map,
    heat_maps,
)
from symnmf.plot.networks import network
from symnmf.plot.risk_bars import risk_shares
from symnmf.plot.runs import convergence, rank_evidence, spectrum
from symnmf.plot.tails import event_groups, exceedance_dates, hill_plot, stability_curve
from symnmf.plot.through_time import ribbon, timeline
from symnmf.plot.trees import dendrogram

__all__ = [
    "between_groups",
    "classes",
    "convergence",
    "crashes_and_calm",
    "dendrogram",
    "event_groups",
    "exceedance_dates",
    "heat_map",
    "heat_maps",
    "hill_plot",
    "network",
    "rank_evidence",
    "ribbon",
    "risk_shares",
    "spectrum",
    "stability_curve",
    "timeline",
]
