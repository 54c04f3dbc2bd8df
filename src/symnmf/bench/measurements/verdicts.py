"""What the words of a verdict say about the truth: panels with planted groups of many strengths.

Every panel has five groups, or none, and is fitted with five. For each sentence that a threshold of
``symnmf.report.word_limits`` decides, the table has the panels in which it stood, and how far their
groups agree with the planted ones. ``--sizes`` is the number of panels of each strength.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.core.labels import adjusted_rand
from symnmf.core.problem import Problem
from symnmf.data import Panel, read_panel
from symnmf.dependence.independence import independence_baseline, mean_entry
from symnmf.dependence.resampling import shuffled_blocks
from symnmf.dependence.tail import tail_dependence
from symnmf.factorization import factorize
from symnmf.grouping.break_test import BLOCK
from symnmf.planning.tuning import surrogate_labels
from symnmf.report.verdict import STABLE, UNSTABLE
from symnmf.report.word_limits import HALVES_AGREE
from symnmf.report.words import WORDS, chance_statement, statements

#: Panels of each strength, strengths of the groups, groups and their members, and numbers of days.
PANELS, GROUPS, MEMBERS, DAYS = 6, 5, 8, (300, 1000)
STRENGTHS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.5)
#: Agreement with the planted groups from which the groups of a panel are called right, and draws of
#: independent instruments.
RIGHT, BASELINE_DRAWS = 0.8, 17
TABLE = MeasuredTable(
    "verdicts",
    "What sentences of the verdict say about planted groups",
    ("about", "sentence"),
    ("panels", "agreement with the truth", "right"),
    {},
)


def panel_of(strength: float, days: int, number: int) -> tuple[Panel, np.ndarray]:
    """Heavy-tailed returns with a common factor and planted groups; and the true groups.

        x_ti = 0.7 f_t + strength · g_{t,g(i)} + e_ti,   all of t with four degrees of freedom

    Without groups there is no common factor either.
    """
    rng = np.random.default_rng([STRENGTHS.index(strength), days, number])
    truth = np.repeat(np.arange(GROUPS), MEMBERS)
    common, own = rng.standard_t(4, (days, 1)), rng.standard_t(4, (days, GROUPS))
    noise = rng.standard_t(4, (days, len(truth)))
    values = noise if strength == 0 else 0.7 * common + strength * own[:, truth] + noise
    return read_panel(values, kind="returns"), truth


def sentences(strength: float, days: int, number: int) -> tuple[list[tuple[str, str]], float]:
    """What the verdict about a panel says, with its subject; and the agreement with the truth."""
    panel, truth = panel_of(strength, days, number)
    S = tail_dependence(panel)
    result = factorize(S, GROUPS, seed=number)
    _, fit, _, clarity, starts = statements(result)
    baseline = independence_baseline(panel, S, draws=BASELINE_DRAWS, seed=number)
    chance = chance_statement(mean_entry(S), float(baseline.mean()), WORDS["tail"])
    stable = halves_agreement(panel, number) >= HALVES_AGREE
    return [
        ("fit", fit.short),
        ("clarity", clarity.short),
        ("starts", starts.short),
        ("chance", chance.short),
        ("halves", STABLE if stable else UNSTABLE),
    ], adjusted_rand(truth, result.labels().numpy())


def halves_agreement(panel: Panel, seed: int) -> float:
    """Agreement of the groups of two halves of the days, in blocks of a month."""
    rows = shuffled_blocks(len(panel.values), np.random.default_rng(seed), BLOCK)
    one, two = (
        surrogate_labels(Problem(tail_dependence(panel.at(np.sort(half))), GROUPS, seed))
        for half in np.array_split(rows, 2)
    )
    return adjusted_rand(one, two)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """A row for each sentence, over all panels."""
    agreed: dict[tuple[str, str], list[float]] = defaultdict(list)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for strength in STRENGTHS:
            for number in range(choices.size(PANELS)):
                said, right = sentences(strength, DAYS[number % len(DAYS)], number)
                for one in said:
                    agreed[one].append(right)
            choices.note(f"strength {strength}")
    for (about, sentence), found in sorted(agreed.items(), key=lambda item: -np.mean(item[1])):
        right = float((np.array(found) >= RIGHT).mean())
        yield TABLE.row(about, sentence, len(found), round(float(np.mean(found)), 2), right)


MEASUREMENT = Measurement(
    "verdicts",
    "What the words of the verdict mean",
    (TABLE,),
    ("sizes",),
    measure,
)
