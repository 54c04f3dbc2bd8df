"""Figures."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import torch

import symnmf as sn
from helpers import dense, market
from symnmf.data.samples import sp500_prices
from symnmf.dependence.diagnostics import hill_curve, independence_baseline, threshold_stability
from symnmf.grouping.between_groups import event_shares
from symnmf.grouping.flows import flows
from symnmf.grouping.side_by_side import side_by_side
from symnmf.grouping.sorted_matrix import averaged, group_order, sort_by_group
from symnmf.plot import (
    classes,
    convergence,
    crashes_and_calm,
    event_groups,
    exceedance_dates,
    heat_map,
    heat_maps,
    hill_plot,
    spectrum,
    stability_curve,
)
from symnmf.plot.ribbon_bands import ribbon_bands
from symnmf.plot.style import GROUP_COLORS, KIND_COLORS, MEASURE_COLORS, labels, short_names


def test_heat_maps_show_s_and_its_fit():
    b = market("tpdm", 100)
    result = sn.factorize(b.operator, b.k, seed=7)
    seen, made = (np.array(trace.z) for trace in heat_maps(b.operator, result, "title").data)
    order = group_order(result)
    np.testing.assert_allclose(seen, dense(b.operator)[order][:, order], atol=1e-3)
    fit = (result.H @ result.H.T)[order][:, order]
    np.testing.assert_allclose(made, fit, atol=1e-3)


def test_few_rows_have_their_names():
    S = sn.abs_correlation(sn.read_panel(sp500_prices(), kind="prices"))
    result = sn.factorize(S, 4)
    figure = heat_maps(S, result)
    names = [S.names[i] for i in group_order(result)]
    for trace in figure.data:
        assert list(trace.x) == list(trace.y) == names
    assert figure.layout.yaxis.type == figure.layout.xaxis2.type == "category"
    assert figure.layout.yaxis.showticklabels


def test_order_is_by_group_size():
    b = market("corr", 100)
    result = sn.factorize(b.operator, b.k, seed=7)
    labels = result.labels()[group_order(result)].tolist()
    runs = [labels.count(g) for g in dict.fromkeys(labels)]
    assert runs == sorted(runs, reverse=True)
    assert sum(a != c for a, c in pairwise(labels)) == len(runs) - 1


def test_large_matrices_are_averaged(rng):
    A = torch.rand(7, 7, generator=rng, dtype=torch.float64)
    cells = torch.tensor([0, 1, 1, 0, 2, 2, 2])
    means = averaged(cells, 7, lambda X: A @ X)
    assert float(means[1, 2]) == pytest.approx(float(A[1:3][:, 4:].mean()))
    b = market("corr", 1000)
    result = sn.factorize(b.operator, b.k, "admm", seed=7)
    assert np.array(heat_maps(b.operator, result).data[0].z).shape == (200, 200)


def test_diagnostics_of_the_tail():
    panel = sn.read_panel(sp500_prices().iloc[:1500], kind="prices")
    S = sn.tail_dependence(panel, estimator="global")
    curve = threshold_stability(panel, draws=10)
    baseline = independence_baseline(panel, S, draws=3)
    band, line = stability_curve(curve, baseline).data
    np.testing.assert_allclose(line.y, curve.mean)
    assert max(band.y) == curve.high.max()
    assert curve.mean.min() > baseline.max()
    counts, estimates = hill_curve(panel)
    figure = hill_plot(counts, estimates, panel.names)
    assert [trace.name for trace in figure.data] == list(panel.names)
    bars = exceedance_dates(S.provenance).data[0]
    assert list(bars.x) == list(S.provenance.dates)
    assert min(bars.y) > S.provenance.threshold


def test_names_are_words_not_markup():
    names = ["<b>bold</b>", "A&B", "x" * 500, "2020"]
    trace = heat_map(np.eye(4), names=names).data[0]
    assert trace.x[:2] == ("&lt;b&gt;bold&lt;/b&gt;", "A&amp;B")
    assert len(trace.x[2]) == 24
    figure = heat_map(np.eye(2), names=["x" * 500, "x" * 501])
    assert figure.data[0].x == (f"{'x' * 19}… (1)", f"{'x' * 19}… (2)")  # cut, they were the same
    assert heat_map(np.eye(2), names=["twice", "twice"]).data[0].x is None
    assert heat_map(np.eye(4), names=names).layout.xaxis.type == "category"


def test_groups_end_where_the_lines_are():
    S = np.kron(np.eye(2), np.ones((3, 3)))[:5, :5]
    found = sort_by_group(sn.as_operator(S), sn.factorize(S, 2))
    assert found.edges == (2.5,)
    assert found.names == ("0", "1", "2", "3", "4")
    np.testing.assert_allclose(found.seen, S)
    b = market("corr", 1000)
    result = sn.factorize(b.operator, b.k, seed=7)
    many = sort_by_group(b.operator, result, cells=50)
    assert many.seen.shape == (50, 50)
    assert many.names is None
    sizes = torch.bincount(result.labels()).sort(descending=True).values
    assert many.edges[0] == pytest.approx(int(sizes[0]) / 20 - 0.5)


def test_spectrum_and_convergence():
    b = market("corr", 100)
    result = sn.factorize(b.operator, b.k, seed=7)
    used, left = spectrum(result.eigenvalues.numpy(), b.k).data
    np.testing.assert_allclose([*used.y, *left.y], result.eigenvalues)
    assert len(used.y) == b.k
    exact = np.linalg.eigvalsh(dense(b.operator))[::-1]
    np.testing.assert_allclose(used.y, exact[: b.k], rtol=1e-5)
    for axis in ("products", "seconds"):
        above, gradient = convergence(result.history, result.certificate.floor_low, axis).data
        assert above.x[-1] == pytest.approx(getattr(result.history[-1], axis), rel=1e-3)
        assert gradient.y[-1] < 1
    with pytest.raises(ValueError, match="axis"):
        convergence(result.history, 0, "iterations")


def test_events_on_a_time_line():
    S = sn.tail_dependence(sn.read_panel(sp500_prices(), kind="prices"), estimator="global")
    shares = event_shares(S, sn.factorize(S, 4).labels(), 4)
    bars, *dots = event_groups(S.provenance, shares, ["1 <i>", "b", "c", "d"]).data
    assert list(bars.x) == list(S.provenance.dates)
    assert min(bars.y) >= 1
    usual = shares.mean(axis=0)
    hit = shares >= 1.25 * usual
    assert sum(len(trace.x) for trace in dots) == int(hit.sum())
    kinds = np.arange(len(shares)) % 3 - 1  # days of no kind, of the first and of the second
    made = event_groups(S.provenance, shares, list("abcd"), kinds=kinds).data
    dates = np.array(S.provenance.dates)
    for kind in (0, 1):
        assert list(made[kind].x) == list(dates[kinds == kind])
    assert sum(len(trace.x) for trace in made[2:]) == int(hit[kinds >= 0].sum())


def test_two_answers_beside_each_other():
    panel = sn.read_panel(sp500_prices(), kind="prices")
    found = side_by_side(sn.tail_dependence(panel, estimator="global"), sn.abs_correlation(panel))
    cloud, crashes, calm = crashes_and_calm(found, panel.names).data
    assert len(cloud.x) == 190
    assert len(crashes.x) == len(calm.x) == 10
    assert panel.names[found.only_in_crashes[0].first] in crashes.text[0]
    table = pd.DataFrame({f"c{i}": [i, 1] for i in range(60)}, index=["1 a", "2 b"])
    heat = classes(table).data[0]
    assert heat.z.shape == (2, 40)
    assert heat.x[:2] == ("c59", "c58")  # the largest
    table = pd.DataFrame({"a": [0, 9], "b": [5, 0], "c": [0, 7]}, index=["1 a", "2 b"])
    assert classes(table).data[0].x == ("b", "a", "c")  # beside their groups


def test_ribbon_and_timeline_of_a_history():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(600, 2))
    X = f[:, np.repeat([0, 1], 5)] + 0.4 * rng.normal(size=(600, 10))
    X[300:, 0] = f[300:, 1] + 0.4 * rng.normal(size=300)
    found = sn.rolling(X, 150, 150, 2, "correlation", draws=39)
    figure = sn.plot.ribbon(found)
    made = flows(found)
    bands = [s for s in figure.layout.shapes if s.type == "path"]
    assert len(bands) == np.count_nonzero(made.moves) == 7  # one of them moves
    assert sorted(s.opacity for s in bands)[-1] > sorted(s.opacity for s in bands)[-2]
    bars, ribbons = ribbon_bands(made)
    for bar in bars:  # the bands of a group fill its bar, on both sides
        out = [b for b in ribbons if (b.window, b.source) == (bar.window, bar.group)]
        if out:
            assert min(b.left[0] for b in out) == pytest.approx(bar.top)
            assert max(b.left[1] for b in out) == pytest.approx(bar.bottom)
        into = [b for b in ribbons if (b.window + 1, b.target) == (bar.window, bar.group)]
        if into:
            assert max(b.right[1] for b in into) == pytest.approx(bar.bottom)
    figure = sn.plot.timeline(found)
    assert figure.data[0].y[1] == pytest.approx(found.windows[1].dependence.within)
    assert list(figure.data[4].y) == [len(w.moved) for w in found.windows]


ALIKE = [f"International Holdings Number {i:02d} Class A" for i in range(12)]


@pytest.mark.parametrize("most", [8, 14, 24])
def test_short_names_differ_where_names_differ(most):
    names = [*ALIKE, "KO", "KO", "<b>", "International Holdings Number"]
    made = short_names(names, most)
    assert len(set(made)) == len(set(names))
    assert max(map(len, made)) <= most
    assert made[12:14] == ["KO", "KO"]
    assert labels(names, most)[14] == "&lt;b&gt;"


def test_long_names_that_begin_alike_stay_on_the_axes():
    figure = heat_map(np.eye(12), names=ALIKE)
    assert len(set(figure.data[0].x)) == 12
    assert figure.layout.xaxis.showticklabels
    table = pd.DataFrame([[3, 0, 1], [0, 5, 2]], index=["1 XOM", "2 KO"], columns=ALIKE[:3])
    trace = classes(table).data[0]
    assert len(set(trace.x)) == 3  # classes of one name would be drawn over each other
    assert sorted(np.array(trace.z).ravel()) == [0, 0, 1, 2, 3, 5]


def luminance(color):
    parts = np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_colours_of_kinds_and_measures_are_of_no_group():
    def rgb(color):
        return np.array([int(color[i : i + 2], 16) for i in (1, 3, 5)])

    for color in (*KIND_COLORS, *MEASURE_COLORS):
        assert min(np.abs(rgb(color) - rgb(other)).sum() for other in GROUP_COLORS) > 60
        for sheet in ("#ffffff", "#1a2029"):
            light, dark = sorted((luminance(color), luminance(sheet)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 3
