"""Pictures of a history as inline SVG: the ribbon, lines over time, and bars.

Every picture is drawn twice, for wide screens and paper and for phones; the page shows one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import markupsafe
from markupsafe import Markup

from symnmf.grouping.flows import Flows
from symnmf.plot.ribbon_bands import Band, Bar, band_path, ribbon_bands
from symnmf.plot.style import GROUP_COLORS
from symnmf.report.svg_text import text_width

#: Font size of the words, and most pixels of a group's name beside a ribbon.
FONT, NAME_WIDTH = 13.0, 150.0
#: Height in pixels below which a band of movers is not drawn: many such hairs hide the others.
LEAST_BAND = 2.5
#: Pixels between two entries of a legend, of its key, and of a row of it.
ENTRY_GAP, KEY, LEGEND_ROW = 24.0, 34.0, 20.0


@dataclass(frozen=True)
class Screen:
    """A width for which pictures are drawn: name, pixels, and dates below a picture."""

    name: str
    width: int
    dates: int


#: Wide screens and paper, and phones.
WIDE, NARROW = SCREENS = (Screen("wide", 1080, 8), Screen("narrow", 350, 3))


@dataclass(frozen=True)
class Line:
    """A line over the windows: name, values (None where there is none), colour and dashes."""

    name: str
    values: Sequence[float | None]
    color: str
    dash: str = ""


def ribbon_svg(found: Flows, fewer: Flows, breaks: Mapping[int, str], alt: str) -> Markup:
    """The ribbon of groups over windows.

    Arguments:
        found: flows between the windows.
        fewer: flows between fewer of them, for phones, on which names are left to the legend.
        breaks: for each window that breaks, its number and its first day.
        alt: description in words.
    """
    return Markup("").join(
        _ribbon(flows, breaks, alt, screen)
        for flows, screen in zip((found, fewer), SCREENS, strict=True)
    )


def hidden_moves(found: Flows) -> int:
    """Moves from window to window whose bands are too thin to be drawn on a wide screen.

    Arguments:
        found: flows between the windows.
    """
    tall = _ribbon_height(found) - 56
    return sum(band.count for band in ribbon_bands(found)[1] if not _visible(band, tall))


def _visible(band: Band, tall: float) -> bool:
    thick = tall * (band.left[1] - band.left[0])
    return band.source == band.target or thick >= LEAST_BAND


def _ribbon_height(found: Flows) -> int:
    return max(300, min(760, 26 * int(found.sizes.shape[1]) + 120))


def _ribbon(found: Flows, breaks: Mapping[int, str], alt: str, screen: Screen) -> Markup:
    height = _ribbon_height(found)
    bars, bands = ribbon_bands(found)
    names = found.names
    if screen is NARROW:  # the names stand in the legend
        names = tuple(str(g + 1) for g in range(len(names)))
    side = 16 + max((min(NAME_WIDTH, text_width(n, FONT)) for n in names), default=0.0)
    top, tall, wide = 24, height - 56, screen.width - 2 * side
    parts = []
    for band in sorted(bands, key=lambda b: b.source != b.target):
        if not _visible(band, tall):
            continue
        path = band_path(band, wide, tall, side, top)
        stays = band.source == band.target
        words = "stay in" if stays else f"go from {_fitted(found.names[band.source])} to"
        title = (
            f"{found.dates[band.window]} to {found.dates[band.window + 1]}: {band.count} {words} "
            f"{_fitted(found.names[band.target])}"
        )
        color = GROUP_COLORS[band.source % len(GROUP_COLORS)]
        parts.append(
            f'<path d="{path}" fill="{color}" opacity="{0.28 if stays else 0.75}">'
            f"<title>{markupsafe.escape(title)}</title></path>"
        )
    parts += _bars_of_groups(bars, side, wide, top, tall)
    last = len(found.dates) - 1
    for at, x, anchor in ((0, side - 8, "end"), (last, screen.width - side + 8, "start")):
        ends = [(top + tall * (b.top + b.bottom) / 2, b.group) for b in bars if b.window == at]
        for y, group in _apart(ends, 14.0):
            name = markupsafe.escape(_fitted(names[group]))
            parts.append(f'<text x="{x:.4g}" y="{y + 4:.4g}" text-anchor="{anchor}">{name}</text>')
    places = [side + wide * (i / max(1, last)) for i in range(last + 1)]
    parts += _dates(found.dates, places, height - 10, screen)
    where = dict(zip(found.windows, places, strict=True))
    marked = [(where[b], day) for b, day in breaks.items() if b in where]
    parts += _breaks(marked, top - 4, top + tall + 4, screen)
    return _svg(parts, height, alt, screen)


def _bars_of_groups(
    bars: Sequence[Bar], side: float, wide: float, top: float, tall: float
) -> list[str]:
    parts = []
    for bar in bars:
        color = GROUP_COLORS[bar.group % len(GROUP_COLORS)]
        x, y = side + wide * bar.x, top + tall * bar.top
        parts.append(
            f'<rect x="{x - 2:.4g}" y="{y:.4g}" width="4" '
            f'height="{max(1.0, tall * (bar.bottom - bar.top)):.4g}" fill="{color}"/>'
        )
    return parts


def lines_svg(
    dates: Sequence[str], lines: Sequence[Line], breaks: Mapping[int, str], alt: str
) -> Markup:
    """Lines over the windows, from zero.

    Arguments:
        dates: last date of each window.
        lines: the lines.
        breaks: for each window that breaks, its number and its first day.
        alt: description in words.
    """
    return Markup("").join(_lines(dates, lines, breaks, alt, screen) for screen in SCREENS)


def _lines(
    dates: Sequence[str], lines: Sequence[Line], breaks: Mapping[int, str], alt: str, screen: Screen
) -> Markup:
    known = [v for line in lines for v in line.values if v is not None]
    most = _round_up(max(known, default=1.0))
    left, right = 56, screen.width - 16
    parts, rows = _legend(lines, left if screen is WIDE else 8, right)
    top = 24 + LEGEND_ROW * rows
    low = top + 162
    places = [left + (right - left) * i / max(1, len(dates) - 1) for i in range(len(dates))]

    def y(value: float) -> float:
        return low - (low - top) * max(value, 0.0) / most

    parts += _grid(most, y, left, right)
    for line in lines:
        path, pen = [], "M"
        for x, value in zip(places, line.values, strict=True):
            if value is None:
                pen = "M"
                continue
            path.append(f"{pen}{x:.4g},{y(value):.4g}")
            pen = "L"
        parts.append(f'<path d="{" ".join(path)}" fill="none" {_pen(line)}/>')
    parts += _dates(dates, places, low + 20, screen)
    marked = [(places[b], day) for b, day in breaks.items() if b < len(places)]
    parts += _breaks(marked, top, low, screen)
    return _svg(parts, round(low + 28), alt, screen)


def _pen(line: Line) -> str:
    dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    return f'stroke="{line.color}" stroke-width="2.5"{dash}'


def _legend(lines: Sequence[Line], left: float, right: float) -> tuple[list[str], int]:
    """Keys and names of lines, in as many rows as the width needs, and their number."""
    parts, x, row = [], float(left), 0
    for line in lines:
        wide = KEY + text_width(line.name, FONT)
        if x > left and x + wide > right:
            x, row = float(left), row + 1
        y = 12 + LEGEND_ROW * row
        parts.append(
            f'<path d="M{x:.4g},{y:.4g} h28" {_pen(line)}/>'
            f'<text x="{x + KEY:.4g}" y="{y + 4:.4g}">{markupsafe.escape(line.name)}</text>'
        )
        x += wide + ENTRY_GAP
    return parts, row + 1


def bars_svg(
    dates: Sequence[str],
    values: Sequence[int],
    usual: float | None,
    breaks: Mapping[int, str],
    alt: str,
) -> Markup:
    """Bars over the windows, with the level that chance gives.

    Arguments:
        dates: last date of each window.
        values: height of each bar.
        usual: level of a dashed line; None for none.
        breaks: for each window that breaks, its number and its first day.
        alt: description in words.
    """
    return Markup("").join(_bars(dates, values, usual, breaks, alt, screen) for screen in SCREENS)


def _bars(
    dates: Sequence[str],
    values: Sequence[int],
    usual: float | None,
    breaks: Mapping[int, str],
    alt: str,
    screen: Screen,
) -> Markup:
    most = _round_up(max(max(values, default=1), usual or 0.0, 1))
    top, low, left, right = 44, 190, 56, screen.width - 16
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
    parts += _dates(dates, places, 210, screen)
    marked = [(places[b], day) for b, day in breaks.items() if b < len(places)]
    parts += _breaks(marked, top, low, screen)
    return _svg(parts, 218, alt, screen)


def _svg(parts: Sequence[str], height: int, alt: str, screen: Screen) -> Markup:
    inside = "\n".join(parts)
    # Every piece is made of numbers, constants and escaped words.
    return Markup(
        f'<svg class="drawing {screen.name}" viewBox="0 0 {screen.width} {height}" role="img" '
        f'aria-label="{markupsafe.escape(alt)}">\n{inside}\n</svg>'
    )


def _grid(most: float, y: Callable[[float], float], left: float, right: float) -> list[str]:
    parts = []
    steps = _steps(most)
    for i in range(steps + 1):
        value = most * i / steps
        at = y(value)
        parts.append(
            f'<path d="M{left},{at:.4g} H{right}" stroke="var(--rule)"/>'
            f'<text x="{left - 8}" y="{at + 4:.4g}" text-anchor="end">{value:.3g}</text>'
        )
    return parts


def _dates(dates: Sequence[str], places: Sequence[float], y: float, screen: Screen) -> list[str]:
    """Some dates, those at the ends inside the picture."""
    count, most = len(dates), screen.dates
    shown = [0]
    if count > 1:
        shown = sorted({round(i * (count - 1) / (most - 1)) for i in range(most)})
    parts = []
    for i in shown:
        half = 0.65 * FONT * len(dates[i]) / 2  # digits are wide in some fonts
        anchor = "start" if i == 0 and places[i] < half else "middle"
        beyond = places[i] > screen.width - half
        anchor = "end" if i == count - 1 and beyond and count > 1 else anchor
        words = markupsafe.escape(dates[i])
        parts.append(f'<text x="{places[i]:.4g}" y="{y:.4g}" text-anchor="{anchor}">{words}</text>')
    return parts


def _breaks(
    marked: Sequence[tuple[float, str]], top: float, low: float, screen: Screen
) -> list[str]:
    """A dashed line for each break, with its day where there is room for it."""
    parts, free = [], 0.0
    for x, day in marked:
        parts.append(
            f'<path d="M{x:.4g},{top:.4g} V{low:.4g}" stroke="var(--bad)" stroke-width="2" '
            'stroke-dasharray="5 4"/>'
        )
        for words in (f"break {day}", "break"):
            half = 0.65 * FONT * len(words) / 2
            middle = min(max(x, half), screen.width - half)
            if middle - half >= free:
                free = middle + half + 4
                parts.append(
                    f'<text x="{middle:.4g}" y="{top - 5:.4g}" text-anchor="middle" '
                    f'class="broke">{markupsafe.escape(words)}</text>'
                )
                break
    return parts


def _apart(places: Sequence[tuple[float, int]], least: float) -> list[tuple[float, int]]:
    """Heights of words moved down where they would overlap."""
    out: list[tuple[float, int]] = []
    for y, group in sorted(places):
        out.append((max(y, out[-1][0] + least) if out else y, group))
    return out


def _fitted(name: str) -> str:
    """A name as long as there is room beside a ribbon."""
    if text_width(name, FONT) <= NAME_WIDTH:
        return name
    while name and text_width(f"{name}…", FONT) > NAME_WIDTH:
        name = name[:-1]
    return f"{name}…"


#: First figures of the top of an axis, and the number of steps from zero to it.
TOPS = {1: 4, 1.5: 3, 2: 4, 3: 3, 4: 4, 5: 5, 6: 3, 8: 4, 10: 5}


def _round_up(value: float) -> float:
    """The next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten."""
    from math import floor, log10

    if value <= 0:
        return 1.0
    tens = 10.0 ** floor(log10(value))
    return next(s * tens for s in TOPS if s * tens >= value * 0.999999)


def _steps(most: float) -> int:
    """Number of steps from zero to a number of :func:`_round_up`, each a round number."""
    from math import floor, log10

    first = most / 10.0 ** floor(log10(most) + 1e-9)
    return TOPS[min(TOPS, key=lambda top: abs(top - first))]
