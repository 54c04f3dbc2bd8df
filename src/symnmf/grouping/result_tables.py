"""A factorization as tables for people: groups are numbered from 1."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import pandas as pd

from symnmf.core.labels import group_numbers
from symnmf.core.result import Result
from symnmf.grouping.naming import names_of


def loading_columns(k: int) -> list[str]:
    """Headings of the columns of H.

    Example:
        >>> loading_columns(2)
        ['group_1', 'group_2']
    """
    return [f"group_{number}" for number in group_numbers(np.arange(k))]


def labels_columns(result: Result) -> dict[str, Any]:
    """Name, group and margin of every instrument, by heading; group 0 stands for no group."""
    return {
        "name": names_of(result),
        "group": group_numbers(result.labels()),
        "margin": result.margins().cpu().numpy(),
    }


def loadings_columns(result: Result) -> dict[str, Any]:
    """Name and loadings of every instrument, by heading."""
    H = result.H.cpu().numpy()
    columns = loading_columns(H.shape[1])
    return {"name": names_of(result), **{name: H[:, j] for j, name in enumerate(columns)}}


def labels_table(result: Result, confidence: np.ndarray | None = None) -> pd.DataFrame:
    """Group and margin of every instrument, indexed by name.

    Arguments:
        result: a factorization.
        confidence: (n,) share of resampled histories in which each instrument is with the other
            members of its group; an additional column.
    """
    table = pd.DataFrame(labels_columns(result)).set_index("name")
    return table if confidence is None else table.assign(confidence=confidence)


def loadings_table(result: Result) -> pd.DataFrame:
    """Loadings of every instrument, indexed by name."""
    names = pd.Index(names_of(result), name="name")
    return pd.DataFrame(
        result.H.cpu().numpy(), index=names, columns=loading_columns(result.H.shape[1])
    )


def history_table(result: Result) -> pd.DataFrame:
    """Every check of the run, indexed by iteration."""
    return pd.DataFrame([asdict(check) for check in result.history]).set_index("iteration")
