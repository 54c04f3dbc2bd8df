"""Data of a report as JSON inside the page."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from markupsafe import Markup


def script_json(value: Any) -> Markup:
    """JSON for a script element: ASCII only, and no text in it can end the element.

    Arguments:
        value: what JSON can hold, without NaN and infinities.

    Example:
        >>> print(script_json("</script>"))
        "\\u003c/script\\u003e"
    """
    from jinja2.utils import htmlsafe_json_dumps

    strict = partial(json.dumps, separators=(",", ":"), allow_nan=False)
    return htmlsafe_json_dumps(value, dumps=strict)


def embedded_size(value: Any) -> int:
    """Number of bytes that a value takes in the page."""
    return len(script_json(value))
