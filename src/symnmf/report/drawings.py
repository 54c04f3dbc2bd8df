"""Pictures of a history as inline SVG: the ribbon, lines over time, and bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import markupsafe
from markupsafe import Markup

from symnmf.grouping.flows import Flows
from symnmf.plot.ribbon_bands import band_path, ribbon_bands
from symnmf.plot.style import GROUP_COLORS

#: Width of a picture, and the space for words at its sides.
WIDTH, SIDE = 1080, 120
#: Characters of a group's name.
NAME_LENGTH = 14


@dataclass(frozen=True)
class Line:
    """A line over the windows: name, values (None where there is none), colour and dashes."""

    name: str
    values: Sequence[float | None]
    color: str
    dash: str = ""


def ribbon_svg(found: Flows, breaks: Sequence[int], alt: str) -> Markup:
    """The ribbon of groups over windows.

    Arguments:
        found: flows between the windows.
        breaks: numbers of the windows that break.
        alt: description in words.
    """
    k = found.sizes.shape[1]
    height = max(300, min(760, 26 * k + 120))
    bars, bands = ribbon_bands(found)
    top, tall, wide = 24, height - 56, WIDTH - 2 * SIDE
    parts = []
    for band in sorted(bands, key=lambda b: b.source != b.target):
        path = band_path(band, wide, tall, SIDE, top)
        stays = band.source == band.target
        words = "stay in" if stays else f"go from {_short(found.names[band.source])} to"
        title = (
            f"{found.dates[band.window]} to {found.dates[band.window + 1]}: {band.count} {words} "
            f"{_short(found.names[band.target])}"
        )
        color = GROUP_COLORS[band.source % len(GROUP_COLORS)]
        parts.append(
            f'<path d="{path}" fill="{color}" opacity="{0.28 if stays else 0.75}">'
            f"<title>{markupsafe.escape(title)}</title></path>"
        )
    for bar in bars:
        color = GROUP_COLORS[bar.group % len(GROUP_COLORS)]
        x, y = SIDE + wide * bar.x, top + tall * bar.top
        parts.append(
            f'<rect x="{x - 2:.4g}" y="{y:.4g}" width="4" '
            f'height="{max(1.0, tall * (bar.bottom - bar.top)):.4g}" fill="{color}"/>'
        )
    last = len(found.dates) - 1
    for at, x, anchor in ((0, SIDE - 8, "end"), (last, WIDTH - SIDE + 8, "start")):
        ends = [(top + tall * (b.top + b.bottom) / 2, b.group) for b in bars if b.window == at]
        for y, group in _apart(ends, 14.0):
            name = markupsafe.escape(_short(found.names[group]))
            parts.append(f'<text x="{x}" y="{y + 4:.4g}" text-anchor="{anchor}">{name}</text>')
    places = [SIDE + wide * (i / max(1, last)) for i in range(last + 1)]
    parts += _dates(found.dates, places, height - 10)
    for at, number in enumerate(found.windows):
        if number in breaks:
            parts.append(_break(places[at], top - 4, top + tall + 4))
    return _svg(parts, height, alt, "wide")


def lines_svg(
    dates: Sequence[str], lines: Sequence[Line], breaks: Sequence[int], alt: str
) -> Markup:
    """Lines over the windows, from zero.

    Arguments:
        dates: last date of each window.
        lines: the lines.
        breaks: numbers of the windows that break.
        alt: description in words.
    """
    known = [v for line in lines for v in line.values if v is not None]
    most = _round_up(max(known, default=1.0))
    top, low = 44, 206
    left, right = 56, WIDTH - 16
    places = [left + (right - left) * i / max(1, len(dates) - 1) for i in range(len(dates))]

    def y(value: float) -> float:
        return low - (low - top) * max(value, 0.0) / most

    parts = _grid(most, y, left, right)
    for line in lines:
        path, pen = [], "M"
        for x, value in zip(places, line.values, strict=True):
            if value is None:
                pen = "M"
                continue
            path.append(f"{pen}{x:.4g},{y(value):.4g}")
            pen = "L"
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        parts.append(
            f'<path d="{" ".join(path)}" fill="none" stroke="{line.color}" stroke-width="2.5"'
            f"{dash}/>"
        )
    x = float(left)
    for line in lines:
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        parts.append(
            f'<path d="M{x:.4g},12 h28" stroke="{line.color}" stroke-width="2.5"{dash}/>'
            f'<text x="{x + 34:.4g}" y="16">{markupsafe.escape(line.name)}</text>'
        )
        x += 60 + 7.5 * len(line.name)
    parts += _dates(dates, places, 226)
    parts += [_break(places[b], top, low) for b in breaks if b < len(places)]
    return _svg(parts, 234, alt)


def bars_svg(
    dates: Sequence[str],
    values: Sequence[int],
    usual: float | None,
    breaks: Sequence[int],
    alt: str,
) -> Markup:
    """Bars over the windows, with the level that chance gives.

    Arguments:
        dates: last date of each window.
        values: height of each bar.
        usual: level of a dashed line; None for none.
        breaks: numbers of the windows that break.
        alt: description in words.
    """
    most = _round_up(max(max(values, default=1), usual or 0.0, 1))
    top, low, left, right = 44, 190, 56, WIDTH - 16
    step = (right - left) / max(1, len(values))
    places = [left + step * (i + 0.5) for i in range(len(values))]

    def y(value: float) -> float:
        return low - (low - top) * value / most

    parts = _grid(most, y, left, right)
    for x, value in zip(places, values, strict=True):
        wide = max(1.0, 0.7 * step)
        parts.append(
            f'<rect x="{x - wide / 2:.4g}" y="{y(value):.4g}" width="{wide:.4g}" '
            f'height="{low - y(value):.4g}" fill="{GROUP_COLORS[0]}"/>'
        )
    if usual is not None:
        parts.append(
            f'<path d="M{left},{y(usual):.4g} H{right}" stroke="var(--ink)" stroke-width="1.5" '
            'stroke-dasharray="6 4"/>'
            f'<text x="{left}" y="16">dashed: {usual:.0f} by chance</text>'
        )
    parts += _dates(dates, places, 210)
    parts += [_break(places[b], top, low) for b in breaks if b < len(places)]
    return _svg(parts, 218, alt)


def _svg(parts: Sequence[str], height: int, alt: str, kind: str = "") -> Markup:
    inside = "\n".join(parts)
    # Every piece is made of numbers, constants and escaped words.
    return Markup(
        f'<svg class="drawing {kind}" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{markupsafe.escape(alt)}">\n{inside}\n</svg>'
    )


def _grid(most: float, y: object, left: float, right: float) -> list[str]:
    parts = []
    for i in range(5):
        value = most * i / 4
        at = y(value)  # type: ignore[operator]
        parts.append(
            f'<path d="M{left},{at:.4g} H{right}" stroke="var(--rule)"/>'
            f'<text x="{left - 8}" y="{at + 4:.4g}" text-anchor="end">{value:.3g}</text>'
        )
    return parts


def _dates(dates: Sequence[str], places: Sequence[float], y: float) -> list[str]:
    """At most eight dates, those at the ends inside the picture."""
    count = len(dates)
    shown = sorted({round(i * (count - 1) / 7) for i in range(8)}) if count > 1 else [0]
    parts = []
    for i in shown:
        anchor = "start" if i == 0 and places[i] < 100 else "middle"
        anchor = "end" if i == count - 1 and places[i] > WIDTH - 100 and count > 1 else anchor
        words = markupsafe.escape(dates[i])
        parts.append(f'<text x="{places[i]:.4g}" y="{y}" text-anchor="{anchor}">{words}</text>')
    return parts


def _break(x: float, top: float, low: float) -> str:
    return (
        f'<path d="M{x:.4g},{top:.4g} V{low:.4g}" stroke="var(--bad)" stroke-width="2" '
        f'stroke-dasharray="5 4"/><text x="{x:.4g}" y="{top - 5:.4g}" text-anchor="middle" '
        'class="broke">break</text>'
    )


def _apart(places: Sequence[tuple[float, int]], least: float) -> list[tuple[float, int]]:
    """Heights of words moved down where they would overlap."""
    out: list[tuple[float, int]] = []
    for y, group in sorted(places):
        out.append((max(y, out[-1][0] + least) if out else y, group))
    return out


def _short(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"


def _round_up(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten."""
    from math import floor, log10

    if value <= 0:
        return 1.0
    tens = 10.0 ** floor(log10(value))
    return next(s * tens for s in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if s * tens >= value * 0.999999)
