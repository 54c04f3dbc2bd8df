"""Spherical K-means on rows that are never normalized, and the paper's theorems about it."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import symnmf as sn
from helpers import SEEDS, DiagonalShift, dense, market
from symnmf.core.kmeans import Partition, lloyd
from symnmf.errors import DegenerateWarning
from symnmf.grouping.centre_exchange import exchange_centres
from symnmf.grouping.spherical_kmeans import (
    ObjectiveSettled,
    UnitRows,
    partition_objectives,
)
from symnmf.operators import CountingOperator, GramOperator


def unit_rows(S):
    return S / S.norm(dim=1, keepdim=True)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", ["tpdm", "corr"])
def test_finds_the_groups(kind, seed):
    b = market(kind, 100, seed)
    found = sn.spherical_kmeans(b.operator, b.k, n_init=5)
    assert found.converged
    assert not found.degenerate
    assert adjusted_rand_score(b.labels, found.labels) > 0.95


def test_the_objective_is_that_of_the_explicit_rows():
    b = market("corr", 100)
    found = sn.spherical_kmeans(b.operator, b.k, seed=3)
    X = unit_rows(dense(b.operator))
    total, norms, squares = 0.0, 0.0, 0.0
    for g in range(b.k):
        rows = X[found.labels == g]
        s = rows.sum(dim=0)
        total += float((1 - rows @ (s / s.norm())).sum())
        norms += float(s.norm())
        squares += float(s.norm() ** 2) / len(rows)
    assert found.objective == pytest.approx(total, rel=1e-3)
    assert found.sum_norms == pytest.approx(norms, rel=1e-5)
    assert found.sum_norms_sq == pytest.approx(squares, rel=1e-5)
    assert total == pytest.approx(100 - norms, rel=1e-9)  # theorem, part 1
    assert squares <= norms + 1e-9  # Cauchy–Schwarz: ‖s_k‖ ≤ n_k


def test_orthogonal_symnmf_maximizes_the_second_objective():
    """‖XᵀX − L Lᵀ‖² = ‖XᵀX‖² − 2 Σ ‖s_k‖² / n_k + K for every partition: theorem, part 2."""
    X = unit_rows(dense(market("corr", 100).operator))
    gram, rng = X @ X.T, np.random.default_rng(0)
    rows = UnitRows(sn.as_operator(dense(market("corr", 100).operator)))
    for _ in range(5):
        labels = torch.from_numpy(rng.permutation(np.arange(100) % 7))
        B = torch.nn.functional.one_hot(labels).double()
        L = B / B.sum(dim=0).sqrt()
        _, squares = partition_objectives(rows, labels, 7)
        explicit = float((gram - L @ L.T).square().sum())
        assert explicit == pytest.approx(float(gram.square().sum()) - 2 * squares + 7, rel=1e-9)


def test_every_operator_has_the_same_row_norms():
    b = market("tpdm", 100)
    expected = dense(b.operator).norm(dim=1)
    for S in (b.operator, sn.as_operator(dense(b.operator)), CountingOperator(b.operator)):
        torch.testing.assert_close(S.row_norms().double(), expected, rtol=1e-5, atol=0)
    d = torch.rand(100)
    gram = GramOperator(b.operator.B, d)
    shifted = DiagonalShift(b.operator, d)
    torch.testing.assert_close(gram.row_norms(), shifted.row_norms(), rtol=1e-5, atol=0)


def test_one_direction_is_said():
    B = torch.ones(60, 3) + 0.02 * torch.rand(60, 3, generator=torch.Generator().manual_seed(0))
    with pytest.warns(DegenerateWarning, match="nearly one direction.*use symnmf.factorize"):
        found = sn.spherical_kmeans(sn.GramOperator(B), 4)
    assert found.degenerate
    assert found.spread <= found.bound


def test_rows_of_zeros_and_more_groups_than_directions():
    S = np.kron(np.eye(3), np.ones((4, 4)))
    S = np.pad(S, (0, 2))
    found = sn.spherical_kmeans(S, 5)
    assert (found.labels[-2:] == -1).all()
    assert found.objective == pytest.approx(0, abs=1e-6)
    assert adjusted_rand_score(np.repeat(range(3), 4), found.labels[:12]) > 0.6


def test_same_seed_same_groups_and_more_starts_are_no_worse():
    b = market("tpdm", 1000)
    one, again = (sn.spherical_kmeans(b.operator, b.k, seed=1) for _ in range(2))
    assert torch.equal(one.labels, again.labels)
    more = sn.spherical_kmeans(b.operator, b.k, seed=1, n_init=4)
    assert more.objective <= one.objective


def test_both_theorems_and_the_gap_between_them():
    """Σ_i (1 − cos) = n − Σ ‖s_k‖, and (Σ ‖s_k‖)² ≤ n · Σ ‖s_k‖² / n_k."""
    S = dense(market("corr", 100).operator)
    X, rng = unit_rows(S), np.random.default_rng(1)
    rows = UnitRows(sn.as_operator(S))
    for _ in range(20):
        labels = torch.from_numpy(rng.integers(6, size=100))
        first, second = partition_objectives(rows, labels, 6)
        sums = torch.stack([X[labels == g].sum(dim=0) for g in range(6)])
        centres = sums / sums.norm(dim=1, keepdim=True)
        loss = float((1 - (X * centres[labels]).sum(dim=1)).sum())
        assert loss == pytest.approx(100 - first, abs=1e-9)
        assert first**2 <= 100 * second * (1 + 1e-12)
    blocks = torch.kron(torch.eye(4), torch.ones(5, 5)).double()
    first, second = partition_objectives(
        UnitRows(sn.as_operator(blocks)), torch.arange(4).repeat_interleave(5), 4
    )
    assert first**2 == pytest.approx(20 * second)


@pytest.mark.parametrize("kind", ["corr", "tpdm"])
def test_lloyd_from_the_same_start_as_scikit_learn(kind):
    """From the same rows as first centres; groups are clear enough that lengths do not matter."""
    b = market(kind, 100)
    S = dense(b.operator)
    X, rows = unit_rows(S).numpy(), UnitRows(sn.as_operator(S))
    first = np.array([np.flatnonzero(b.labels == g)[0] for g in range(b.k)])
    chosen = torch.zeros(100, b.k, dtype=torch.float64)
    chosen[first, torch.arange(b.k)] = 1
    ours = lloyd(rows, rows.sums(chosen), b.k, 100, ObjectiveSettled(rows)).labels
    theirs = KMeans(b.k, init=X[first], n_init=1, max_iter=50).fit(X).labels_
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize(("noise", "degenerate"), [(0.02, True), (0.24, True), (1.0, False)])
def test_what_counts_as_one_direction(noise, degenerate):
    rng = torch.Generator().manual_seed(3)
    groups = torch.kron(torch.eye(4), torch.ones(15, 1))
    B = torch.cat([torch.ones(60, 1), noise * groups + 0.01 * torch.rand(60, 4, generator=rng)], 1)
    B = B / B.norm(dim=1, keepdim=True)
    S = sn.GramOperator(B)
    r_eff = 60 / float(torch.linalg.eigvalsh(dense(S))[-1])
    assert (r_eff < 1.05) == degenerate
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sn.spherical_kmeans(S, 4)
    assert found.degenerate == degenerate
    assert found.spread <= found.bound + 1e-6


def test_greedy_seeding_finds_the_groups_from_one_start():
    """Of scikit-learn's k-means on the same rows the single start is no better."""
    aris = {}
    for seeding in ("plain", "greedy"):
        found = []
        for seed in range(4):
            b = market("corr", 300, seed)
            hard = sn.spherical_kmeans(b.operator, b.k, seed=seed, seeding=seeding)
            found.append(adjusted_rand_score(b.labels, hard.labels))
        aris[seeding] = sum(found) / len(found)
    assert aris["greedy"] >= aris["plain"]
    assert aris["greedy"] > 0.9


def test_an_unknown_seeding_is_refused():
    with pytest.raises(sn.errors.SymnmfError, match="seeding"):
        sn.spherical_kmeans(torch.ones(3, 3), 2, seeding="random")


def clear_groups(k, noise=0.05):
    """A correlation-like matrix of k groups of eight, and the groups."""
    truth = np.repeat(np.arange(k), 8)
    rng = np.random.default_rng(4)
    A = np.where(truth[:, None] == truth, 0.8, 0.1) + noise * rng.random((len(truth), len(truth)))
    return torch.from_numpy((A + A.T) / 2), truth


def partition(rows, labels, k):
    """A partition as Lloyd's passes leave it: with the sums of its groups."""
    centres = rows.sums(torch.nn.functional.one_hot(labels, k).double())
    fit = rows.cosines(centres).gather(1, labels[:, None])[:, 0]
    return Partition(labels, fit, centres, 1, False)


@pytest.mark.parametrize("faults", [1, 2])
def test_exchanges_mend_what_passes_do_not(faults):
    """For each fault two groups share a label, and a third one has two."""
    S, truth = clear_groups(7)
    rows, labels = UnitRows(sn.as_operator(S)), torch.from_numpy(truth)
    for fault in range(faults):
        a, b, c = 3 * fault, 3 * fault + 1, 3 * fault + 2
        labels = torch.where(labels == b, a, labels)
        labels[(torch.from_numpy(truth) == c).nonzero()[::2, 0]] = b
    found = partition(rows, labels, 7)
    stuck = lloyd(rows, found.centres, 7, 100, ObjectiveSettled(rows)).labels
    assert adjusted_rand_score(truth, stuck) < 0.95
    centres, exchanges = exchange_centres(rows, found, 7)
    assert exchanges == faults
    assert float(centres.norm(dim=0).sum()) > float(found.centres.norm(dim=0).sum())
    torch.testing.assert_close(centres.sum(dim=1), found.centres.sum(dim=1))  # all rows, once
    mended = lloyd(rows, centres, 7, 100, ObjectiveSettled(rows)).labels
    assert adjusted_rand_score(truth, mended) == 1


def test_the_groups_themselves_are_not_exchanged():
    S, truth = clear_groups(5)
    rows = UnitRows(sn.as_operator(S))
    found = partition(rows, torch.from_numpy(truth), 5)
    centres, exchanges = exchange_centres(rows, found, 5)
    assert exchanges == 0
    assert torch.equal(centres, found.centres)


def test_two_groups_have_nothing_to_exchange():
    S, truth = clear_groups(2)
    rows = UnitRows(sn.as_operator(S))
    found = partition(rows, torch.from_numpy((truth + np.arange(16)) % 2), 2)
    assert exchange_centres(rows, found, 2)[1] == 0


def test_a_round_of_exchanges_costs_two_products():
    S, truth = clear_groups(6)
    counting = CountingOperator(sn.as_operator(S))
    rows = UnitRows(counting)
    found = partition(rows, torch.from_numpy(truth), 6)
    before = counting.work
    exchange_centres(rows, found, 6)
    read = 1 / 48  # one row of each group
    assert (counting.work - before) / (6 * counting.cost()) == pytest.approx(2 + read)
