"""How many groups."""

import numpy as np
import pytest
import torch

import symnmf as sn
from helpers import SEEDS, market
from symnmf.bench.simulated_panels import simulate
from symnmf.data.samples import sp500_prices
from symnmf.grouping import rank_selection
from symnmf.grouping.common_factor import common_and_own, group_fit
from symnmf.grouping.held_out import OffDiagonal, factor_fit, shrunk, spectral_fit
from symnmf.grouping.panel_versions import common_factor_only, halves, rotated
from symnmf.grouping.rank_evidence import Noise, Prediction, predict
from symnmf.grouping.rank_selection import suggest_rank
from symnmf.operators import DenseOperator
from symnmf.operators.rows import Rows
from symnmf.plot import rank_evidence


def panel_with(sizes, T=600, noise=1.0, spread=0.3, seed=0, strengths=None):
    """A common factor, groups of the given sizes, and noise of each instrument."""
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(len(sizes)), sizes)
    own = np.ones(len(sizes)) if strengths is None else np.asarray(strengths)
    beta = 1 + spread * rng.uniform(-1, 1, len(label))
    values = rng.normal(size=(T, 1)) * beta + (rng.normal(size=(T, len(sizes))) * own)[:, label]
    return sn.read_panel(values + noise * rng.normal(size=values.shape), kind="returns")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["corr", "tpdm"])
@pytest.mark.parametrize("n", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_the_true_number_is_found_from_the_spectrum(kind, n, seed):
    b = market(kind, n, seed)
    found = suggest_rank(b.operator, seed=1)
    assert abs(found.k - b.k) <= 1
    assert found.gap in (found.k, found.k + 1)
    assert f"{found.k} factors predict hidden entries best" in found.reasons[0]
    assert f"gap after {found.gap}" in found.reasons[1]
    assert "only the matrix is known" in found.reasons[-1]
    assert found.products <= 30
    assert found.agreement[found.k] > 0.9
    assert found.subsamples > 0.9


@pytest.mark.parametrize("kind", ["corr", "tpdm"])
def test_the_true_number_at_one_thousand(kind):
    b = market(kind, 1000)
    assert abs(suggest_rank(b.operator).k - b.k) <= 1


@pytest.mark.slow
def test_the_true_number_at_ten_thousand():
    b = market("corr", 10_000)
    found = suggest_rank(b.operator)
    assert abs(found.k - b.k) <= 10
    assert found.products <= 30


@pytest.mark.parametrize("count", [3, 7])
def test_equal_groups_are_counted_from_a_panel(count):
    found = suggest_rank(panel_with([12] * count), dependence="correlation")
    assert found.k == found.by_prediction == found.by_noise == count
    assert found.words.startswith(f"{count} groups")
    assert found.subsamples > 0.95


def test_a_common_factor_with_unequal_loadings_is_not_a_group():
    found = suggest_rank(panel_with([40] * 5, T=1000, spread=0.9), dependence="correlation")
    assert found.by_prediction == 6
    assert found.k == 5
    assert "common to all" in found.reasons[0]


def test_unequal_groups():
    sizes, strengths = [30, 20, 14, 10, 8, 8], [0.7, 1.0, 1.4, 0.8, 1.6, 1.2]
    found = suggest_rank(panel_with(sizes, strengths=strengths), dependence="correlation")
    assert abs(found.k - 6) <= 1
    assert found.low <= 6 <= found.high


def test_groups_above_noise_are_counted_although_fewer_predict_best(monkeypatch):
    def careful(*arguments):
        found, halves = predict(*arguments)
        fits = found.fits.copy()
        fits[:, 3:] = fits[:, [2]] - 1e-3
        return Prediction(fits), halves

    monkeypatch.setattr(rank_selection, "predict", careful)
    found = suggest_rank(panel_with([12] * 7, spread=0.0), dependence="correlation")
    assert (found.by_prediction, found.by_noise, found.k) == (3, 7, 7)
    assert found.words == "7 groups; 3 to 7 do nearly as well"


@pytest.mark.parametrize(
    ("ratios", "count", "clear"),
    [
        ([9, 3, 2, 1.1, 0.9, 0.8], 4, 4),  # a weak group, and a clear end after it
        ([9, 3, 2, 1.14, 1.12, 1.1, 1.06, 1.02, 0.98], 8, 3),  # a glide
        ([9, 3, 2, 1.14, 1.13, 1.12, 1.0, 0.98], 6, 6),  # a glide with a clear end
        ([9, 1.14, 1.13, 1.12, 1.1, 1.06, 1.02], 7, 1),  # none is clear
        ([9, 0.9, 0.8], 1, 1),
        ([9, 3, 2.9], 3, 3),  # the end is beyond what is known
    ],
)
def test_eigenvalues_clearly_above_noise(ratios, count, clear):
    baseline = np.linspace(2, 1, len(ratios))
    found = Noise.of(np.array(ratios) * baseline, baseline)
    assert (found.count, found.clear) == (count, clear)


def test_groups_within_groups_are_not_counted_but_end_the_range():
    made = simulate("nested", 1)
    found = suggest_rank(made.panel)
    assert abs(found.k - made.k) <= 2
    assert found.low <= made.k
    assert found.high >= 1.5 * made.k
    assert "clearly" in found.reasons[0]


def test_a_number_with_nearly_all_of_the_gain_begins_the_range():
    gain = np.array([0.1, 0.5, 0.595, 0.598, 0.6])
    sure = Prediction(gain + np.array([[1e-6], [-1e-6]]))  # differences without error
    assert (sure.best, sure.careful) == (5, 3)


def test_the_first_reason_names_a_limit_that_decides():
    found = suggest_rank(panel_with([5] * 16, T=500, noise=0.7), dependence="correlation")
    assert found.by_noise > found.k == 12  # 1.5 ⌊√80⌋
    assert found.reasons[0].endswith("12 is the largest number considered for 80 instruments")


@pytest.mark.parametrize("dependence", ["correlation", "tail"])
@pytest.mark.parametrize("common", [0.0, 1.0])
def test_noise_and_one_factor_have_no_groups(dependence, common):
    rng = np.random.default_rng(5)
    values = rng.standard_t(5, size=(700, 60)) + common * rng.normal(size=(700, 1))
    found = suggest_rank(sn.read_panel(values, kind="returns"), dependence=dependence)
    assert found.k == found.low == found.high == 1
    assert found.words == "no groups"
    assert found.reasons[0].startswith("no groups")


def test_tails_are_counted_and_never_above_a_fifth_of_the_exceedances():
    rng = np.random.default_rng(1)
    own = rng.standard_t(2.5, size=(1500, 4))
    values = np.repeat(own, 10, axis=1) + 0.5 * rng.standard_t(2.5, size=(1500, 40))
    panel = sn.read_panel(values, kind="returns")
    assert abs(suggest_rank(panel, q=0.1).k - 4) <= 1
    few = suggest_rank(panel, estimator="global", count=30)
    assert len(few.values) - 1 <= 6
    assert few.k <= 6


@pytest.mark.parametrize("dependence", ["correlation", "tail"])
def test_groups_are_counted_where_numbers_are_missing(dependence):
    values = panel_with([12] * 5, seed=3).values.copy()
    values[np.random.default_rng(0).random(values.shape) < 0.03] = np.nan
    holes = sn.read_panel(values, kind="returns", missing="pairwise")
    assert suggest_rank(holes, dependence=dependence).k == 5


def test_the_observations_behind_a_correlation_are_known():
    panel = panel_with([12] * 4)
    S = sn.abs_correlation(panel)
    assert suggest_rank(S).k == suggest_rank(panel, dependence="correlation").k == 4


def test_the_same_seed_gives_the_same_answer():
    panel = panel_with([8] * 3, T=300)
    one, two = (suggest_rank(panel, dependence="correlation", seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.prediction.fits, two.prediction.fits)
    assert one.reasons == two.reasons


def entries_of(panel):
    """Absolute correlations without their table."""
    return np.abs(np.corrcoef(panel.values.T))


def test_hidden_entries_count_groups_that_have_no_gap():
    sizes, strengths = [40, 30, 20, 14, 10, 10], [0.7, 1.0, 1.4, 0.8, 1.6, 1.2]
    found = suggest_rank(entries_of(panel_with(sizes, T=500, strengths=strengths)))
    assert found.k == 6
    assert found.low <= 6 <= found.high
    assert found.hidden.confirmed
    assert list(found.hidden.numbers) == [0.1, 0.3]


@pytest.mark.parametrize("common", [0.0, 1.0])
def test_a_matrix_of_noise_or_of_one_factor_has_no_groups(common):
    """Many instruments for few days: their entries share noise, which predicts itself."""
    rng = np.random.default_rng(4)
    values = rng.normal(size=(250, 150)) + common * rng.normal(size=(250, 1)) * rng.uniform(
        0.5, 1.5, 150
    )
    found = suggest_rank(np.abs(np.corrcoef(values.T)))
    assert found.k == 1
    assert found.words == "no groups"
    assert "does not predict hidden entries better" in found.reasons[0]


def test_a_random_graph_has_no_groups_and_a_block_model_has_its_blocks():
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(4), 30)
    for inside, k in ((0.1, 1), (0.35, 4)):
        joined = rng.random((120, 120)) < np.where(group[:, None] == group, inside, 0.1)
        A = np.triu(joined, 1).astype(float)
        assert suggest_rank(A + A.T).k == k


def test_a_largest_number_is_no_answer():
    place = np.linspace(0, 1, 60)  # smooth: every further factor predicts
    found = suggest_rank(np.exp(-8 * np.abs(place[:, None] - place)), 3)
    assert set(found.hidden.numbers.values()) == {3}
    assert found.hidden.k is None
    assert any("do not tell the number" in reason for reason in found.reasons)


def test_hidden_pairs_are_hidden_on_both_sides_of_the_diagonal():
    """What is hidden does not reach the sketch: other values there change nothing."""
    from symnmf.grouping import entry_hold_out

    seen = []
    rng = np.random.default_rng(0)
    S = torch.from_numpy(np.abs(np.corrcoef(rng.normal(size=(50, 80))))).float()

    def completed(matrix, known, p):
        assert (known == known.T).all()
        other = torch.where(known, matrix, 7.0)
        seen.append(torch.equal(made(matrix, known, p), made(other, known, p)))
        return made(matrix, known, p)

    made, entry_hold_out._completed = entry_hold_out._completed, completed
    try:
        entry_hold_out._fits(S, 5, 0.3, 0)
    finally:
        entry_hold_out._completed = made
    assert seen == [True] * entry_hold_out.SPLITS


def test_a_spectrum_without_a_gap_is_said():
    place = np.linspace(0, 1, 30)  # too few instruments to hide entries
    found = suggest_rank(np.exp(-8 * np.abs(place[:, None] - place)))
    assert found.hidden is None
    assert found.gap is None
    assert "no gap" in found.reasons[0]
    assert 1 <= found.k <= 10


@pytest.mark.slow
def test_the_edge_of_noise_for_correlations():
    panel = sn.read_panel(sp500_prices(), kind="prices").rows(0, 800)
    found = suggest_rank(sn.abs_correlation(panel), 10)
    R = np.corrcoef(panel.values.T)
    edge = (1 + np.sqrt(20 / len(panel.values))) ** 2
    assert found.edge == int((np.linalg.eigvalsh(R) > edge).sum())
    noise = sn.abs_correlation(np.random.default_rng(1).normal(size=(500, 50)))
    found = suggest_rank(noise, 10)
    assert (found.gap, found.edge, found.k) == (None, 0, 1)
    wide = sn.abs_correlation(np.random.default_rng(1).normal(size=(500, 300)))
    assert suggest_rank(wide, 10).share is None  # beyond what is examined
    given = suggest_rank(np.eye(60) + 0.001, observations=500)
    assert given.k == 1
    assert "no groups" in given.reasons[0]


def test_the_fit_is_the_squared_correlation_of_the_entries():
    rng = np.random.default_rng(2)
    A, B = (sn.abs_correlation(rng.normal(size=(80, 30)) + rng.normal(size=(80, 1))) for _ in "ab")
    off = ~np.eye(30, dtype=bool)
    other = OffDiagonal.of(B)
    from symnmf.core.spectrum import leading

    fits = spectral_fit(leading(A, 10), other, 5)
    values, vectors = np.linalg.eigh(A.to_dense().double().numpy())
    for k in range(1, 6):
        U, w = vectors[:, -k:], values[-k:]
        expected = np.corrcoef(((U * w) @ U.T)[off], B.to_dense().numpy()[off])[0, 1] ** 2
        assert fits[k - 1] == pytest.approx(expected, rel=1e-4)
    H = sn.factorize(A, 3, n_init=1).H
    expected = np.corrcoef((H @ H.T).numpy()[off], B.to_dense().numpy()[off])[0, 1] ** 2
    assert factor_fit(H, other) == pytest.approx(expected, rel=1e-4)


def test_shrunk_eigenvalues_are_those_of_the_signal():
    """A spiked matrix with Wigner noise: the weight is the eigenvalue times the squared cosine."""
    import torch

    from symnmf.core.spectrum import leading

    n, size = 1000, 3.0
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(n, n))
    noise = (noise + noise.T) / np.sqrt(2 * n)  # its spectrum ends at 2
    u = np.abs(rng.normal(size=n))
    u /= np.linalg.norm(u)
    S = size * np.outer(u, u) + noise
    np.fill_diagonal(S, 0)
    spectrum = leading(
        DenseOperator.of(Rows(torch.from_numpy(S)), float((S**2).sum()), S.sum()), 20
    )
    found = shrunk(spectrum)
    assert float(spectrum.values[0]) == pytest.approx(size + 1 / size, rel=0.03)
    assert float(found.values[0]) == pytest.approx(size * (1 - 1 / size**2), rel=0.08)


def test_weak_groups_behind_a_strong_common_factor_are_not_called_none():
    rng = np.random.default_rng(0)
    own = np.repeat(rng.normal(size=(400, 5)), 24, axis=1)
    values = 1.5 * rng.normal(size=(400, 1)) + own + 2.5 * rng.normal(size=(400, 120))
    found = suggest_rank(sn.read_panel(values, kind="returns"), dependence="correlation")
    assert found.k == 5


def test_a_common_factor_and_groups_are_recovered():
    import torch

    rng = np.random.default_rng(0)
    labels = torch.arange(5).repeat_interleave(10)
    b, own = rng.uniform(0.3, 0.8, 50), rng.uniform(0.3, 0.6, 50)
    S = np.outer(b, b) + np.where(labels[:, None] == labels, np.outer(own, own), 0)
    np.fill_diagonal(S, 1.0)
    operator = DenseOperator(torch.from_numpy(S))
    found, L = common_and_own(operator, labels, 5)
    model = np.outer(found, found) + (L @ L.T).numpy()
    off = ~np.eye(50, dtype=bool)
    assert np.corrcoef(model[off], S[off])[0, 1] > 0.99
    fit = group_fit(operator, labels, 5, OffDiagonal.of(operator))
    assert fit == pytest.approx(np.corrcoef(model[off], S[off])[0, 1] ** 2, abs=1e-6)


def test_versions_of_a_panel():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(400, 1)) * 2 + rng.normal(size=(400, 20))
    values[:, :10] += rng.normal(size=(400, 1))
    turned = rotated(values, np.random.default_rng(1))
    np.testing.assert_array_equal(np.sort(turned, axis=0), np.sort(values, axis=0))
    assert np.abs(np.corrcoef(turned.T)[np.triu_indices(20, 1)]).mean() < 0.1
    place = np.argmax(turned == values[0], axis=0)  # rows by which each column turned
    assert len(set(place)) == 20
    assert len(set(np.diff(np.sort(place)))) > 3  # no two draws have the same distances only
    step = np.diff(np.concatenate([values, values[:1]]), axis=0)  # neighbours stay neighbours
    there = np.diff(np.concatenate([turned, turned[:1]]), axis=0)
    np.testing.assert_allclose(np.sort(step, axis=0), np.sort(there, axis=0))
    alone = np.linalg.eigvalsh(np.corrcoef(common_factor_only(values, rng).T))[::-1]
    before = np.linalg.eigvalsh(np.corrcoef(values.T))[::-1]
    assert alone[0] == pytest.approx(before[0], rel=0.1)
    assert alone[1] < 0.6 * before[1]
    holes = values.copy()
    holes[3, 4] = np.nan
    assert np.isnan(common_factor_only(holes, rng)).sum() == 1
    for one, two in halves(401, 3, rng):
        assert abs(len(one) - len(two)) <= 21
        assert sorted([*one, *two]) == list(range(401))


@pytest.mark.parametrize("from_panel", [False, True])
def test_the_plot_marks_the_number(from_panel):
    data = panel_with([8] * 3, T=300) if from_panel else market("corr", 100).operator
    found = suggest_rank(data, dependence="correlation")
    figure = rank_evidence(found)
    np.testing.assert_allclose(figure.data[0].y, found.values)
    assert f"{found.k} groups" in str(figure.layout.annotations)
    assert len(figure.data) == (3 if from_panel else 1)
