"""Data of others inside a page."""

from __future__ import annotations

import json
from typing import Any


def script_json(value: Any) -> str:
    """JSON that can stand inside a script element: no name in it can end the element.

    Example:
        >>> script_json("</script>")
        '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def embedded_size(value: Any) -> int:
    """Bytes that a value takes in the page."""
    return len(script_json(value).encode("utf-8", "replace"))
