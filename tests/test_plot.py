"""Figures."""

from itertools import pairwise

import numpy as np
import pytest
import torch

import symnmf as sn
from conftest import dense, market
from symnmf.data.samples import sp500_prices
from symnmf.dependence.diagnostics import hill_curve, independence_baseline, threshold_stability
from symnmf.plot import (
    averaged,
    exceedance_dates,
    group_order,
    heat_maps,
    hill_plot,
    stability_curve,
)


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
    assert list(figure.layout.yaxis.ticktext) == names
    assert list(figure.layout.xaxis2.ticktext) == names


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
    S = sn.tail_dependence(panel)
    curve = threshold_stability(panel, draws=10)
    baseline = independence_baseline(panel, S, draws=3)
    band, line = stability_curve(curve, baseline).data
    np.testing.assert_allclose(line.y, curve.mean)
    assert max(band.y) == curve.high.max()
    assert curve.mean.min() > baseline.max()
    counts, estimates = hill_curve(panel)
    figure = hill_plot(counts, estimates, panel.names)
    assert [trace.name for trace in figure.data] == list(panel.names)
    bars = exceedance_dates(S.about).data[0]
    assert list(bars.x) == list(S.about.dates)
    assert min(bars.y) > S.about.threshold
