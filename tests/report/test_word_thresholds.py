"""The simulation behind the thresholds of the words: planted groups of several strengths."""

import warnings

import numpy as np
import pandas as pd
import pytest

import symnmf as sn
from report_parts import panel_of
from symnmf.core.labels import adjusted_rand
from symnmf.report.word_limits import FAR_FROM_CHANCE, HALVES_AGREE, NEAR_CHANCE

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found():
    """Strength, agreement with the truth and of the halves, share of chance, suggested number."""
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for strength in (0.0, 0.3, 0.5, 0.8, 1.2):
            for seed in range(4):
                table, truth = panel_of(800, 4, 8, strength, 100 + seed)
                if strength == 0:  # no common factor either
                    noise = np.random.default_rng(seed).standard_t(4, table.shape)
                    table = pd.DataFrame(noise, table.index, table.columns)
                a = sn.analyse(table, kind="returns")
                e = a.evidence
                right = adjusted_rand(truth, a.result.labels().numpy())
                part = float(e.extremes.baseline.mean()) / e.extremes.mean
                rows.append((strength, right, a.rank.subsamples, part, a.rank.k))
    made = pd.DataFrame(rows, columns=["strength", "right", "halves", "chance", "k"])
    print(made.to_string())
    return made


def test_halves_that_agree_mean_groups_that_are_right(found):
    known = found[found.halves.notna()].astype(float)
    stable = known.halves >= HALVES_AGREE
    assert (known.right[stable] >= 0.6).mean() >= 0.9
    assert stable[known.right >= 0.9].mean() >= 0.9


def test_noise_is_near_chance_and_groups_are_far_from_it(found):
    assert (found.k[found.strength == 0] == 1).all()
    assert (found.chance[found.strength == 0] > NEAR_CHANCE).mean() >= 0.75
    assert (found.chance[found.strength >= 0.5] < NEAR_CHANCE).all()
    assert (found.chance[found.strength >= 1.2] < FAR_FROM_CHANCE).all()
