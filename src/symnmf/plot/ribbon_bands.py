"""Geometry of a ribbon: the groups of each window as bars, and what flows between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.grouping.flows import Flows

#: Share of the height that is left between the bars.
GAPS = 0.16


@dataclass(frozen=True)
class Bar:
    """A group in a window: x from 0 to 1 over the windows, top and bottom from 0 to 1."""

    window: int
    group: int
    size: int
    x: float
    top: float
    bottom: float


@dataclass(frozen=True)
class Band:
    """Instruments that go from a group to a group; heights are of its left and right end."""

    window: int
    source: int
    target: int
    count: int
    left: tuple[float, float]
    right: tuple[float, float]
    x: tuple[float, float]


def ribbon_bands(found: Flows) -> tuple[list[Bar], list[Band]]:
    """Bars and bands of a ribbon, groups from top to bottom in the order of their numbers.

    Arguments:
        found: what :func:`symnmf.grouping.flows.flows` returned.

    Example:
        >>> moves = np.array([[[2, 1], [0, 3]]])
        >>> sizes = np.array([[3, 3], [2, 4]])
        >>> none = np.zeros(1)
        >>> made = Flows((0, 1), ("a", "b"), sizes, moves, none, none, ("1", "2"))
        >>> bars, bands = ribbon_bands(made)
        >>> len(bars), [(b.source, b.target, b.count) for b in bands]
        (4, [(0, 0, 2), (0, 1, 1), (1, 1, 3)])
    """
    count, k = found.sizes.shape
    unit = (1 - GAPS) / max(1, int(found.sizes.sum(axis=1).max()))
    gap = GAPS / max(1, k - 1)
    tops = np.cumsum(found.sizes * unit + gap, axis=1) - (found.sizes * unit + gap)
    xs = np.linspace(0, 1, count) if count > 1 else np.array([0.5])
    bars = [
        Bar(w, g, int(found.sizes[w, g]), float(xs[w]), float(tops[w, g]),
            float(tops[w, g] + unit * found.sizes[w, g]))
        for w in range(count) for g in range(k) if found.sizes[w, g]
    ]  # fmt: skip
    bands = []
    for w in range(count - 1):
        left, right = tops[w].copy(), tops[w + 1].copy()
        inflow: dict[tuple[int, int], float] = {}
        for b in range(k):
            for a in range(k):
                inflow[a, b] = right[b]
                right[b] += unit * found.moves[w, a, b]
        for a in range(k):
            for b in range(k):
                n = int(found.moves[w, a, b])
                if n:
                    ends = (float(left[a]), float(left[a] + unit * n))
                    other = (float(inflow[a, b]), float(inflow[a, b] + unit * n))
                    bands.append(Band(w, a, b, n, ends, other, (float(xs[w]), float(xs[w + 1]))))
                left[a] += unit * n
    return bars, bands


def band_path(band: Band, x_scale: float, y_scale: float, x: float = 0.0, y: float = 0.0) -> str:
    """A band as the path of an SVG.

    Arguments:
        band: the band.
        x_scale, y_scale: width and height of the ribbon.
        x, y: its upper left corner.
    """
    x0, x1 = (x + x_scale * value for value in band.x)
    middle = (x0 + x1) / 2
    a, b, c, d = (y + y_scale * value for value in (*band.left, *band.right))
    return (
        f"M{_n(x0)},{_n(a)} C{_n(middle)},{_n(a)} {_n(middle)},{_n(c)} {_n(x1)},{_n(c)} "
        f"L{_n(x1)},{_n(d)} C{_n(middle)},{_n(d)} {_n(middle)},{_n(b)} {_n(x0)},{_n(b)} Z"
    )


def _n(value: float) -> str:
    return f"{value:.4g}"
