"""Honest failure: every way to end is tested one by one, and says once what to try."""

import warnings

import numpy as np
import pytest
import torch

import symnmf as sn
from helpers import dense, market
from symnmf.core.result import Status
from symnmf.errors import (
    AmbiguousWarning,
    CollapsedWarning,
    DegenerateWarning,
    NotConvergedWarning,
)
from trust.tally import trial


def matrix():
    return market("corr", 100).operator


def plateau():
    S = dense(market("tpdm", 100).operator)
    column = torch.rand(100, 1, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    return sn.factorize(S, 3, "mu", start=column.expand(100, 3).contiguous(), max_iter=3000)


def ring():
    """Neighbours on a ring depend on each other: it can be cut into arcs anywhere."""
    places = np.arange(12)
    apart = np.abs(places[:, None] - places)
    S = np.exp(-((np.minimum(apart, 12 - apart) / 1.5) ** 2))
    return sn.factorize(S, 3, n_init=6)


def at_rest():
    """A factor that is not yet good, and a step that no longer moves it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = sn.factorize(matrix(), 10, "mu", max_iter=40, seed=7).H
    return sn.factorize(matrix(), 10, "adagrad", start=start, step_size=1e-12)


def stop(check, H):
    return check.iteration >= 20


ENDS = {
    Status.EXACT: (lambda: sn.factorize(matrix(), 1), None, ""),
    Status.CONVERGED: (lambda: sn.factorize(matrix(), 10), None, ""),
    Status.STOPPED: (lambda: sn.factorize(matrix(), 10, "adagrad", callbacks=[stop]), None, ""),
    Status.COLLAPSED: (plateau, CollapsedWarning, "another seed, start='nndsvd'"),
    Status.STAGNATED: (at_rest, NotConvergedWarning, "try another solver or dtype"),
    Status.MAX_ITER: (
        lambda: sn.factorize(matrix(), 10, "adagrad", max_iter=20),
        NotConvergedWarning,
        "raise max_iter",
    ),
    Status.TIME_OUT: (
        lambda: sn.factorize(matrix(), 10, "adagrad", max_seconds=0),
        NotConvergedWarning,
        "raise max_seconds",
    ),
    Status.DIVERGED: (
        lambda: sn.factorize(matrix(), 10, "adagrad", step_size=1e25),
        NotConvergedWarning,
        "use a smaller step",
    ),
}


def test_every_status_is_here():
    assert set(ENDS) == set(Status)


@pytest.mark.parametrize("status", ENDS, ids=lambda status: status.name)
def test_every_end_is_what_it_says_and_warns_once(status):
    run, kind, remedy = ENDS[status]
    with trial("statuses and warnings"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        result = run()
        assert result.status is status
        assert torch.isfinite(result.H).all()
        assert (result.H >= 0).all()
        assert [w.category for w in said] == ([] if kind is None else [kind])
        if kind is not None:
            assert remedy in str(said[0].message)
            assert not result.certificate.converged
            assert said[0].filename == __file__  # the caller's line, not ours


@pytest.mark.parametrize(
    ("run", "kind", "remedy"),
    [
        (ring, AmbiguousWarning, "choose another k"),
        (
            lambda: sn.factorize(np.diag([3.0, 2.0, 0.0]) + 0, 3),
            DegenerateWarning,
            "choose k up to 2",
        ),
        (
            lambda: sn.factorize(np.kron(np.eye(2), np.ones((3, 3))), 4),
            DegenerateWarning,
            "choose k up to 2",
        ),
        (
            lambda: sn.spherical_kmeans(np.ones((30, 30)) + 1e-6 * np.eye(30), 3),
            DegenerateWarning,
            "",
        ),
    ],
    ids=["ambiguous", "diagonal", "blocks", "one direction"],
)
def test_good_fits_with_poor_groups_say_so(run, kind, remedy):
    with trial("statuses and warnings"), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run()
        assert [w.category for w in said] == [kind]
        assert remedy in str(said[0].message)


def test_an_ambiguous_result_says_it_everywhere():
    with pytest.warns(AmbiguousWarning, match=r"agreement 0\.\d\d of 1"):
        result = ring()
    assert result.certificate.agreement < 0.7
    assert "groups ambiguous" in result.certificate.verdict
