"""The kinds of stored sets, and the files of each kind that have fixed names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SetKind:
    """A kind of stored set, described by a manifest.

    Attributes:
        name: name of the kind in the manifest.
        noun: name of the kind in messages.
        files: names of the files stored with the model, all of which are derived from it.
    """

    name: str
    noun: str
    files: tuple[str, ...] = ()


RESULT = SetKind(
    "symnmf result",
    "result",
    (
        "loadings.parquet",
        "loadings.csv",
        "labels.csv",
        "history.csv",
        "certificate.json",
        "data.json",
        "classes.csv",
        "suspects.csv",
        "events.csv",
        "portfolio.csv",
        "portfolio_groups.csv",
        "worst_days.csv",
        "group_returns.csv",
        "config.toml",
        "report.html",
    ),
)
WINDOWS = SetKind(
    "symnmf set of windows",
    "set of windows",
    (
        "windows.csv",
        "labels.csv",
        "loadings.parquet",
        "memberships.csv",
        "config.toml",
        "report.html",
    ),
)
MATRIX = SetKind("symnmf matrix", "matrix", ("data.npy",))
CHECKPOINT = SetKind("symnmf checkpoint", "checkpoint")
