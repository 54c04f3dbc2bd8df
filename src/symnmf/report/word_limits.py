"""The table of the thresholds behind the words of the verdict.

They are choices. ``symnmf bench verdicts`` measures what they make the sentences mean, on panels of
heavy-tailed returns with planted groups of many strengths and on panels without groups; the slow
simulation of ``tests/report/test_word_thresholds.py`` checks those about halves of the days and
about chance. The share of resampled histories is the one of ``symnmf bench calibration``.
"""

from __future__ import annotations

from symnmf.core.certificate import AGREED, GOOD_FIT
from symnmf.grouping.stability import SURE_SHARE

#: Median margin from which groups are called sharp, and below which they are called blurred.
CLEAR_MARGIN, BLURRED_MARGIN = 0.5, 0.25
#: Agreement of starts from which their groups are called the same.
SAME_GROUPS = 0.95
#: Share of the dependence that independent instruments would show: up to the first, instruments
#: are together far more than by chance; above the second, hardly more.
FAR_FROM_CHANCE, NEAR_CHANCE = 1 / 3, 0.85
#: Agreement of the groups of two halves of the days from which groups are called stable.
HALVES_AGREE = 0.5
#: Every threshold with what it decides, for the page about reading the report.
TABLE = (
    ("close to the best fit", "excess at most", GOOD_FIT),
    ("starts find the same groups", "agreement at least", SAME_GROUPS),
    ("starts find mostly the same groups", "agreement at least", AGREED),
    ("sharp groups", "median clarity at least", CLEAR_MARGIN),
    ("blurred groups", "median clarity below", BLURRED_MARGIN),
    ("stable groups, with --resamples", "share of histories at least", SURE_SHARE),
    ("stable groups, from two halves of the days", "agreement at least", HALVES_AGREE),
    ("far more than by chance", "share of independent instruments at most", FAR_FROM_CHANCE),
    ("hardly above chance", "share of independent instruments above", NEAR_CHANCE),
)
