"""Tables as csv text whose cells no spreadsheet evaluates as formulas."""

from __future__ import annotations

from typing import Any

import pandas as pd

#: A spreadsheet evaluates a cell that begins with one of these characters.
FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(text: Any) -> Any:
    """A cell that no spreadsheet evaluates as a formula.

    Example:
        >>> safe_cell("=1+1")
        "'=1+1"
    """
    return f"'{text}" if isinstance(text, str) and text.startswith(FORMULA) else text


def csv_text(table: pd.DataFrame) -> str:
    """A table as csv whose names are not evaluated as formulas; numbers are unchanged.

    Example:
        >>> csv_text(pd.DataFrame({"x": [-1.5]}, index=pd.Index(["=1+1"], name="name")))
        "name,x\\n'=1+1,-1.5\\n"
    """
    if table.index.dtype.kind not in "iuf":
        table = table.rename(index=safe_cell)
    return str(table.rename(columns=safe_cell).to_csv(lineterminator="\n"))
