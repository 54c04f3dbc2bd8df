"""Heat maps as SVG: rectangles for few cells, a picture for many; their colours."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from symnmf.report.svg_axes import Axis
from symnmf.report.svg_text import hover_text, text_width, xml
from symnmf.report.svg_traces import MAX_TITLED, Box, array_of

#: Number of colours of a heat map.
PICTURE_COLORS = 128
#: Cells up to which a drawing for narrow screens has a rectangle for each.
SMALL_CELLS = 100


def heat(
    trace: dict[str, Any], x: Axis, y: Axis, zmin: float, zmax: float, *, titles: bool, size: float
) -> list[str]:
    """A heat map: a rectangle for each of few cells, a picture for many.

    Arguments:
        trace, x, y, titles: as for :func:`scatter`.
        zmin, zmax: numbers with the first and the last colour.
        size: font size of numbers in the cells.
    """
    z = np.array(
        [[np.nan if v is None else v for v in row] for row in array_of(trace.get("z"))], dtype=float
    )
    rows, columns = z.shape
    palette = colors_of(trace.get("colorscale") or (), PICTURE_COLORS)
    span = (zmax - zmin) or 1.0
    shade = np.clip((z - zmin) / span * (PICTURE_COLORS - 1), 0, PICTURE_COLORS - 1)
    left, right = x.at(-0.5), x.at(columns - 0.5)
    top, bottom = y.at(-0.5), y.at(rows - 0.5)
    wide, tall = (right - left) / columns, (bottom - top) / rows
    if z.size > (MAX_TITLED if titles else SMALL_CELLS):
        made = [
            picture(shade, palette, (left, min(top, bottom), right, max(top, bottom)), tall < 0)
        ]
    else:
        gap = 0.5 if trace.get("xgap") else 0.0
        xs = array_of(trace.get("x")) or list(range(columns))
        ys = array_of(trace.get("y")) or list(range(rows))
        template = str(trace.get("hovertemplate") or "%{y}, %{x}: %{z}")
        made = []
        for i in range(rows):
            for j in range(columns):
                if not np.isfinite(z[i, j]):
                    continue
                value = float(f"{z[i, j]:.4g}")
                words = hover_text(template, {"x": xs[j], "y": ys[i], "z": value})
                label = f"<title>{xml(words)}</title>" if titles else ""
                made.append(
                    f'<rect x="{left + j * wide + gap:.1f}" '
                    f'y="{min(top + i * tall, top + (i + 1) * tall) + gap:.1f}" '
                    f'width="{wide - 2 * gap + 0.3:.1f}" height="{abs(tall) - 2 * gap + 0.3:.1f}" '
                    f'fill="{_hex(palette[int(shade[i, j])])}">{label}</rect>'
                )
    form = trace.get("texttemplate")
    if form and abs(tall) >= size:
        for i in range(rows):
            for j in range(columns):
                words = hover_text(str(form), {"z": _number(z[i, j])})
                if np.isfinite(z[i, j]) and text_width(words, size) <= wide:
                    bright = shade[i, j] > 0.6 * PICTURE_COLORS
                    made.append(
                        f'<text x="{left + (j + 0.5) * wide:.1f}" text-anchor="middle" '
                        f'y="{top + (i + 0.5) * tall + 0.35 * size:.1f}" '
                        f'style="fill:{"#000" if bright else "#fff"};font-size:{size}px">'
                        f"{xml(words)}</text>"
                    )
    return made


def picture(shade: np.ndarray, palette: np.ndarray, box: Box, flipped: bool = False) -> str:
    """Cells as an image element, one pixel for each cell.

    Arguments:
        shade: (rows, columns) numbers of colours; NaN for none.
        palette: (colours, 3) red, green and blue.
        box: where it lies.
        flipped: whether the first row is at the bottom.
    """
    rows, columns = shade.shape
    empty = len(palette)
    cells = np.where(np.isnan(shade), empty, np.nan_to_num(shade)).astype(np.uint8)
    cells = cells[::-1] if flipped else cells
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), cells], axis=1).tobytes()

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    colors = np.vstack([palette, [[128, 128, 128]]]).astype(np.uint8).tobytes()
    data = (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0))
        + chunk(b"PLTE", colors)
        + chunk(b"tRNS", b"\xff" * empty + b"\x00")
        + chunk(b"IDAT", zlib.compress(lines, 9))
        + chunk(b"IEND", b"")
    )
    left, top, right, bottom = box
    return (
        f'<image x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{bottom - top:.1f}" preserveAspectRatio="none" class="cells" '
        f'href="data:image/png;base64,{base64.b64encode(data).decode("ascii")}"/>'
    )


def colors_of(scale: Sequence[Sequence[Any]], count: int) -> np.ndarray:  # (count, 3)
    """Colours along a scale of plotly, evenly spaced.

    Example:
        >>> colors_of([[0, "#000000"], [1, "#ffffff"]], 3).tolist()
        [[0.0, 0.0, 0.0], [127.5, 127.5, 127.5], [255.0, 255.0, 255.0]]
    """
    at = np.array([float(stop) for stop, _ in scale])
    known = np.array([_rgb(str(color)) for _, color in scale], dtype=float)
    to = np.linspace(0, 1, count)
    return np.column_stack([np.interp(to, at, known[:, c]) for c in range(3)])


def _number(value: float) -> float | int:
    return int(value) if np.isfinite(value) and value == int(value) else float(value)


def _rgb(color: str) -> tuple[float, float, float]:
    if color.startswith("#"):
        return tuple(int(color[i : i + 2], 16) for i in (1, 3, 5))  # type: ignore[return-value]
    parts = color[color.index("(") + 1 : color.rindex(")")].split(",")
    return float(parts[0]), float(parts[1]), float(parts[2])


def _hex(color: np.ndarray) -> str:
    return "#" + "".join(f"{round(float(c)):02x}" for c in color)
