"""Figures as SVG: what is drawn lies where the data say."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from plotly.graph_objects import Bar, Figure, Heatmap, Pie, Scatter
from plotly.subplots import make_subplots

from symnmf.report.svg_axes import Axis, date_marks, linear_marks, log_marks
from symnmf.report.svg_figures import drawn
from symnmf.report.svg_text import hover_text, plain_text, text_width
from symnmf.report.svg_words import marked, words

SPACE = "{http://www.w3.org/2000/svg}"


def drawing(figure, size="half"):
    """The drawing for wide screens, parsed; it must be well-formed XML."""
    text = str(drawn(figure.to_dict(), "f", "words <&>", size))
    both = ET.fromstring(text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" '))
    assert [svg.get("class") for svg in both] == ["wide", "small"]
    assert both[0].find(f"{SPACE}desc").text == "words <&>"
    return both[0]


def numbers(path):
    return [float(v) for v in re.findall(r"-?\d+\.?\d*", path)]


def paths(svg, **wanted):
    return [e for e in svg.iter(f"{SPACE}path") if all(e.get(k) == v for k, v in wanted.items())]


def test_points_lie_where_the_axes_say():
    figure = Figure(Scatter(x=[0, 1, 2, 4], y=[1, 10, None, 100], mode="lines", line_color="#123"))
    figure.update_yaxes(type="log")
    svg = drawing(figure)
    (line,) = paths(svg, stroke="#123")
    assert line.get("d").count("M") == 2  # a gap where a number is missing
    x0, y0, x1, y1, x2, y2 = numbers(line.get("d"))
    assert x1 - x0 == pytest.approx((x2 - x0) / 4, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)  # equal ratios on a log scale
    assert y0 > y2
    ticks = {
        e.text: float(e.get("y")) for e in svg.iter(f"{SPACE}text") if e.get("text-anchor") == "end"
    }
    assert {"1", "10", "100"} <= set(ticks)
    assert ticks["10"] - ticks["100"] == pytest.approx(y1 - y2, abs=0.2)


def test_bars_have_the_heights_of_their_numbers():
    svg = drawing(Figure(Bar(x=["a", "b", "c"], y=[1, 2, -1], marker_color="#123")))
    heights = [float(e.get("height")) for e in svg.iter(f"{SPACE}rect")]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.2)
    assert heights[2] == pytest.approx(heights[0], abs=0.2)
    figure = Figure(
        [Bar(y=["a", "b"], x=[1, 2], orientation="h"), Bar(y=["a", "b"], x=[3, 1], orientation="h")]
    )
    figure.update_layout(barmode="stack")
    boxes = [
        [float(e.get(k)) for k in ("x", "width")] for e in drawing(figure).iter(f"{SPACE}rect")
    ]
    boxes = boxes[-4:]  # the first are those of the legend
    assert boxes[2][0] == pytest.approx(sum(boxes[0]), abs=0.2)  # the second begins at the end
    assert boxes[2][1] == pytest.approx(3 * boxes[0][1], abs=0.3)


@pytest.mark.parametrize("lying", [True, False])
def test_intervals_of_bars_end_where_the_numbers_say(lying):
    """Two bars of 10 and 20 with intervals from 8 to 13 and from 15 to 30."""
    over, under = [3, 10], [2, 5]
    names, sizes = ["a", "b"], [10, 20]
    if lying:
        error = {"error_x": {"array": over, "arrayminus": under}}
        trace = Bar(y=names, x=sizes, orientation="h", **error)
    else:
        trace = Bar(x=names, y=sizes, error_y={"array": over, "arrayminus": under})
    svg = drawing(Figure([trace]))
    side, size = ("x", "width") if lying else ("y", "height")
    rects = [r for r in svg.iter(f"{SPACE}rect") if r.get(size)]
    found = paths(svg, **{"class": "error"})
    assert len(found) == len(rects) == 2
    pixel = float(rects[0].get(size)) / 10
    ground = float(rects[0].get(side)) + (0 if lying else float(rects[0].get("height")))
    for path, (low, high) in zip(found, ((8, 13), (15, 30)), strict=True):
        first = numbers(path.get("d"))[:3]  # a point, and the other end of the line
        ends = (first[0], first[2]) if lying else (first[1], first[2])
        sign = 1 if lying else -1
        np.testing.assert_allclose(ends, [ground + sign * pixel * v for v in (low, high)], atol=0.6)
    width = float(svg.get("viewBox").split()[2 if lying else 3])
    assert all(0 <= end <= width for path in found for end in numbers(path.get("d"))[:3])


def test_the_key_of_a_legend_is_the_marker_of_its_trace():
    marks = [
        Scatter(x=[1, 2], y=[1, 2], mode="markers", name=name, marker={"symbol": name})
        for name in ("circle", "x", "triangle-up")
    ]
    svg = drawing(Figure(marks).update_layout(showlegend=True))
    (key,) = [c for c in svg.iter(f"{SPACE}circle")]
    assert key.get("r") == "4.5"
    crosses = paths(svg, **{"fill": "none", "stroke-width": "2"})
    assert any(path.get("d").count("l") == 2 for path in crosses)


def test_turned_names_are_not_cut():
    """The longest name is one that a step between names would leave out."""
    grey = [[0, "#000000"], [1, "#ffffff"]]
    names = ["a", "Investment Bankers", *"cdefghijklmnopq"]
    svg = drawing(
        Figure([Heatmap(z=np.eye(len(names)).tolist(), x=names, y=names, colorscale=grey)])
    )
    height = float(svg.get("viewBox").split()[3])
    turned = [t for t in svg.iter(f"{SPACE}text") if "rotate" in (t.get("transform") or "")]
    longest = max(turned, key=lambda t: len(t.text))
    _, top = numbers(longest.get("transform"))[:2]
    assert top + text_width(longest.text, 12.5) <= height


def test_heat_maps_have_the_colours_of_their_scale():
    z = np.array([[0.0, 1.0], [np.nan, 0.5]])
    heat = Heatmap(z=z, x=["<b>", "c"], y=["r", "s"], zmin=0, zmax=1, colorscale="Viridis")
    cells = [
        e for e in drawing(Figure(heat)).iter(f"{SPACE}rect") if e.find(f"{SPACE}title") is not None
    ]
    assert [cell.get("fill") for cell in cells[:2]] == ["#440154", "#fde725"]
    assert len(cells) == 3  # nothing for what is missing
    large = drawing(Figure(Heatmap(z=np.eye(40), colorscale="Viridis")))
    (image,) = large.iter(f"{SPACE}image")
    assert image.get("href").startswith("data:image/png;base64,")


def test_the_picture_of_many_cells_holds_their_colours():
    import base64
    import io

    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    z = np.linspace(0, 1, 900).reshape(30, 30)
    svg = drawing(Figure(Heatmap(z=z, zmin=0, zmax=1, colorscale="Viridis")))
    (found,) = svg.iter(f"{SPACE}image")
    png = image.open(io.BytesIO(base64.b64decode(found.get("href").split(",")[1]))).convert("RGB")
    assert png.size == (30, 30)
    assert png.getpixel((0, 29)) == (68, 1, 84)  # the first row is at the bottom
    assert png.getpixel((29, 0)) == (253, 231, 37)


def test_lines_notes_and_legends():
    figure = make_subplots(rows=2, shared_xaxes=True)
    figure.add_trace(
        Scatter(x=["2020-01-01", "2021-01-01"], y=[1, 2], name="A&amp;B"), row=1, col=1
    )
    figure.add_trace(Scatter(x=["2020-01-01", "2021-01-01"], y=[3, 4], name="two"), row=2, col=1)
    figure.add_hline(1.5, line_color="#123456", annotation_text="half <i>way</i>", row=1, col=1)
    svg = drawing(figure, "full")
    words = [e.text for e in svg.iter(f"{SPACE}text")]
    assert {"A&B", "two", "half  way"} <= {w.replace(" way ", " way").strip() for w in words}
    (line,) = paths(svg, stroke="#123456")
    assert numbers(line.get("d"))[1] == numbers(line.get("d"))[3]
    assert float(line.get("stroke-width")) > 0


def test_dates_that_lie_in_one_pixel_are_drawn_once():
    days = np.arange("1990-01-01", "2020-01-01", dtype="datetime64[D]").astype(str)
    text = str(drawn(Figure(Bar(x=list(days), y=np.ones(len(days)))).to_dict(), "f", "w"))
    assert len(text) < 60_000


def test_bars_over_each_other_are_as_thin_as_all_of_them_need():
    """A kind of days with one day had a bar over half of the time line."""
    days = [f"2020-01-{day:02d}" for day in range(1, 31)]
    figure = Figure(Bar(x=days, y=[1.0] * 30, marker_color="#111"))
    figure.add_trace(Bar(x=[days[10]], y=[2.0], marker_color="#222"))
    figure.update_layout(barmode="overlay")
    widths = [float(e.get("width")) for e in drawing(figure).iter(f"{SPACE}rect") if e.get("width")]
    bars = [w for w in widths if w < 100]
    assert len(bars) == 31
    assert max(bars) == pytest.approx(min(bars), abs=0.11)


def test_an_empty_axis_has_the_range_of_the_one_that_it_matches():
    """A time line without a mark had an axis from 0 to 1."""
    figure = make_subplots(rows=2, shared_xaxes=True)
    figure.add_trace(Bar(x=["2019-05-01", "2021-03-01"], y=[1.0, 2.0]), row=1, col=1)
    figure.add_trace(Scatter(x=[], y=[], mode="markers"), row=2, col=1)
    words = [e.text for e in drawing(figure, "full").iter(f"{SPACE}text")]
    assert any("2020" in str(word) for word in words)


def test_what_cannot_be_drawn_is_an_error():
    with pytest.raises(NotImplementedError, match="pie"):
        drawn(Figure(Pie(values=[1])).to_dict(), "f", "w")


def test_ticks():
    assert [word for _, word in linear_marks(-1, 1, 4)] == ["−1", "−0.5", "0", "0.5", "1"]
    assert [word for _, word in log_marks(-8, 2, 6)] == ["10⁻⁸", "10⁻⁶", "10⁻⁴", "0.01", "1", "100"]
    assert [word for _, word in date_marks(18262, 18262 + 365, 4)][:2] == ["2020-01", "2020-04"]
    assert linear_marks(1, 1, 4) == []


def test_words():
    assert plain_text("&lt;script&gt;") == "<script>"
    values = {"x": "A&amp;B", "y": 0.12345, "customdata": [3, None]}
    template = "%{x}: %{y:.2f}, %{customdata[0]} and %{customdata[1]}<extra>no</extra>"
    assert hover_text(template, values) == "A&B: 0.12, 3 and –"


def test_widths_of_words_are_on_the_safe_side():
    """Advances of DejaVu Sans, the font of most Linux systems; "1" once counted as thin."""
    advances = {"N": 0.748, "Q": 0.787, "O": 0.787, "1": 0.636, "7": 0.636, "m": 0.974, "M": 0.863,
                "w": 0.818, "b": 0.635, "i": 0.278, "-": 0.361, "+": 0.838, "%": 0.950}  # fmt: skip
    for char, advance in advances.items():
        assert text_width(char, 1.0) >= advance, char
    assert text_width("11 NASDAQ:AIMC", 12.5) >= 12.5 * 8.741


def test_words_hide_no_marker():
    axis = Axis("linear", 0, 10, {}, start=0, stop=1000)
    first = {"mode": "markers+text", "x": [5.0], "y": [5.0], "text": ["a long word"]}
    second = {"mode": "markers+text", "x": [5.3], "y": [5.0], "text": ["b"], "marker": {"size": 8}}
    taken = [(0.0, 0.0, 1000.0, 1000.0), *marked(first, axis, axis), *marked(second, axis, axis)]
    at = float(re.search(r'<text x="([\d.]+)"', "".join(words(first, axis, axis, taken)))[1])
    assert at < 500 - 20  # on the other side of its own marker


def test_words_are_drawn_above_all_markers():
    names = {"mode": "markers+text", "text": ["a", ""]}
    figure = Figure([Scatter(x=[1, 2], y=[1, 2], **names), Scatter(x=[1, 3], y=[3, 1], **names)])
    tags = [part.tag for part in drawing(figure).iter() if part.get("class") in ("halo", None)]
    last_marker = max(i for i, tag in enumerate(tags) if tag == f"{SPACE}path")
    first_word = min(i for i, tag in enumerate(tags) if tag == f"{SPACE}text")
    assert first_word > last_marker
