"""The verdict in plain words, the most important statement first."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from symnmf.analysis import Analysis
from symnmf.analysis.extremes import Extremes
from symnmf.core.certificate import AGREED, GOOD_FIT
from symnmf.core.result import Result, Status
from symnmf.defaults import EVENTS_A_GROUP
from symnmf.display import counted
from symnmf.report.word_limits import (
    BLURRED_MARGIN,
    CLEAR_MARGIN,
    FAR_FROM_CHANCE,
    NEAR_CHANCE,
    SAME_GROUPS,
)


@dataclass(frozen=True)
class Words:
    """Words for a kind of dependence.

    Attributes:
        together: what the instruments of a group do.
        events: word for the extreme days, in the plural.
    """

    together: str
    events: str = "crashes"


#: Words by kind of dependence (:attr:`symnmf.analysis.Analysis.dependence`).
WORDS = {
    "tail": Words("crash together", "crashes"),
    "gains": Words("surge together", "surges"),
    "correlation": Words("move together"),
    "matrix": Words("belong together"),
}
#: How to continue a run, in Python and on the command line.
CONTINUE = (
    "To continue it, run it again with --resume (command line) or, where it saved a checkpoint, "
    "with resume=True (Python)."
)
#: Status of a run: level, short sentence, and meaning or remedy.
ENDS = {
    Status.EXACT: (
        "good",
        "The answer is exact.",
        "This matrix is of a kind whose best answer is known: no other has a smaller error.",
    ),
    Status.CONVERGED: (
        "good",
        "The computation finished.",
        "It met every part of its stopping rule: no small change improves the answer.",
    ),
    Status.COLLAPSED: (
        "bad",
        "No groups were found.",
        "All groups are nearly the same, so they do not show which instruments belong together. "
        "Try another seed, another number of groups, or another solver.",
    ),
    Status.STAGNATED: (
        "care",
        "The computation got stuck.",
        "It stopped improving before it met its stopping rule. Try another solver.",
    ),
    Status.MAX_ITER: (
        "care",
        "The computation reached its maximum number of iterations.",
        CONTINUE,
    ),
    Status.TIME_OUT: (
        "care",
        "The computation reached its time limit.",
        CONTINUE,
    ),
    Status.STOPPED: (
        "care",
        "The computation was stopped on request.",
        CONTINUE,
    ),
    Status.DIVERGED: (
        "bad",
        "The computation failed.",
        "Its numbers grew without bound. Use the default options of the solver.",
    ),
}


@dataclass(frozen=True)
class Statement:
    """One statement of the verdict.

    Attributes:
        level: ``"good"``, ``"open"`` (not examined), ``"care"`` or ``"bad"``.
        short: the answer in one sentence.
        long: the meaning of the answer.
        term: formal name of the quantity with its value.
        part: which of the four things of a sound answer it is about; empty for none.
    """

    level: str
    short: str
    long: str
    term: str
    part: str = ""


def statements(result: Result) -> list[Statement]:
    """The five answers that a person should know first."""
    about_fit = [_ended(result), _fit(result)]
    about_fit, agreement = (
        [replace(s, part="optimization") for s in each]
        for each in (about_fit, [_agreement(result)])
    )
    return [*about_fit, _count(result), _sharpness(result), *agreement]


def chance_statement(mean: float, chance: float, words: Words) -> Statement:
    """The statement about the dependence that independent instruments would show.

    Arguments:
        mean: mean tail dependence.
        chance: that of independent instruments.
        words: words for the kind of dependence.
    """
    part = chance / mean if mean > 0 else 1.0
    if part <= FAR_FROM_CHANCE:
        level, short = "good", f"Instruments {words.together} far more than by chance."
    elif part <= NEAR_CHANCE:
        level, short = "good", f"Instruments {words.together} more than by chance."
    else:
        level, short = "care", f"Dependence in {words.events} is hardly above chance."
    return Statement(
        level,
        short,
        f"Independent instruments would show {share(max(0.0, min(1.0, part)))} of the dependence "
        "that was found.",
        f"mean tail dependence {mean:.2f}, independence baseline {chance:.2f}",
        "beyond chance",
    )


def extreme_statements(found: Extremes, k: int, words: Words) -> list[Statement]:
    """Statements about the extremes that the groups rest on."""
    made = [chance_statement(found.mean, float(found.baseline.mean()), words)]
    events = found.estimate.events
    if 0 < events < EVENTS_A_GROUP * k:
        fewer = (
            f"Use at most {max(1, events // EVENTS_A_GROUP)} groups, or a larger share of extreme "
            "days: --q (command line) or q (Python)."
        )
        made.append(
            Statement(
                "care",
                f"{events} extreme days are few for {k} groups.",
                f"Groups then tend to be single events. {fewer}",
                f"{events / k:.1f} exceedances per group; {EVENTS_A_GROUP} are recommended",
            )
        )
    return made


def data_statements(found: Analysis) -> list[Statement]:
    """Statements about data that a person should examine before believing the groups."""
    if found.panel is None:
        return []
    summary = found.panel.summary
    jumps = [s for s in summary.suspects if s.kind != "stale"]
    made = []
    for caution in summary.cautions:
        about_jumps = bool(jumps) and "jumps of single instruments" in caution
        short = (
            counted(
                len(jumps),
                "jump of a single instrument is probably an error of the data.",
                "jumps of single instruments are probably errors of the data.",
            )
            if about_jumps
            else "Something about the data needs attention."
        )
        term = "suspects.csv lists them" if about_jumps else "see what was done to the data"
        made.append(Statement("care", short, f"{caution}.", term))
    return made


def share(part: float) -> str:
    """A fraction as per cent, never rounded to 0 or 100 unless it is exactly that.

    Example:
        >>> share(0.99997), share(1.0), share(0.5)
        ('more than 99.9 %', '100 %', '50 %')
    """
    if 0.999 < part < 1:
        return "more than 99.9 %"
    if 0 < part < 0.001:
        return "less than 0.1 %"
    return f"{100 * part:.0f} %" if 0.01 <= part <= 0.99 else f"{100 * part:.3g} %"


def _ended(result: Result) -> Statement:
    level, short, long = ENDS[result.status]
    c = result.certificate
    return Statement(level, short, long, f"status {result.status.name}, gradient {c.kkt:.2g}")


def _fit(result: Result) -> Statement:
    c, k = result.certificate, result.H.shape[1]
    explained = f"The groups explain {share(max(0.0, 1 - c.error))} of the matrix."
    if k > 1 and c.rank_one is not None and 0 <= c.rank_one <= 1:
        alone = share(max(0.0, 1 - c.rank_one))
        explained = f"{explained[:-1]}; one factor alone explains {alone}."
    proof = "" if c.floor_exact else " (numerical, not proven)"
    term = f"error {c.error:.4g}, least possible {c.floor_low:.4g}{proof}"
    if c.exact or abs(c.error - c.floor_low) < c.resolution:
        best = f"No other {k} groups could fit better." if k > 1 else "No factor could fit better."
        if k == 1:
            explained = explained.replace("The groups explain", "One factor explains")
        return Statement("good", best, explained, term)
    if c.excess is None:
        return Statement("good" if c.converged else "care", "The fit is finished.", explained, term)
    excess = max(0.0, c.excess)
    way = (
        f"It covers {share(max(0.0, 1 - excess))} of the distance from no groups at all to the "
        "least possible error."
    )
    factors = f"explains {c.factors_explained} of {c.factors_available} factors"
    term = f"excess {excess:.4f}; {term}; {factors}"
    if excess <= GOOD_FIT:
        return Statement(
            "good",
            f"The fit is close to the best that {k} groups allow.",
            f"{way} {explained}",
            term,
        )
    if not c.collapsed:
        return Statement(
            "care", f"A better fit with {k} groups may exist.", f"{way} {explained}", term
        )
    return Statement("bad", "The fit is far from what is possible.", f"{way} {explained}", term)


def _count(result: Result) -> Statement:
    labels = result.labels()
    sizes = torch.bincount(labels[labels >= 0], minlength=result.H.shape[1])
    k = len(sizes)
    sizes = sizes[sizes > 0]
    outside = int((labels < 0).sum())
    range_ = f"{int(sizes.min())} to {int(sizes.max())}" if len(sizes) else "0"
    if len(sizes) and int(sizes.min()) == int(sizes.max()):
        range_ = f"{int(sizes[0])}"
    long = f"They have {range_} members each." if k > 1 else "It has all of them."
    if len(sizes) < k:
        long += f" {k} were requested; {k - len(sizes)} have no members."
    if outside:
        long += f" {outside:,} instruments have no group: all their loadings are zero."
    level = "good" if 2 * len(sizes) > k and len(sizes) > 0 else "care"
    noun = "group" if len(sizes) == 1 else "groups"
    return Statement(
        level, f"{len(sizes)} {noun} of {len(labels):,} instruments.", long, f"k = {k}"
    )


def _sharpness(result: Result) -> Statement:
    labels, margins = result.labels(), result.margins()
    known = margins[labels >= 0]
    if not len(known):
        return Statement("bad", "No instrument has a group.", "Every loading is zero.", "margin 0")
    if result.H.shape[1] == 1:
        return Statement("good", "One group has no rival.", "There is no second group.", "k = 1")
    middle = float(known.median())
    sure = float((known >= CLEAR_MARGIN).to(torch.float64).mean())
    long = (
        f"For a typical instrument the second-best group fits {share(1 - middle)} as well as its "
        f"own; {share(sure)} of the instruments belong clearly to one group."
    )
    term = f"median margin {middle:.2f}"
    if middle >= CLEAR_MARGIN:
        return Statement("good", "The groups are sharp.", long, term)
    if middle >= BLURRED_MARGIN:
        return Statement("good", "The groups overlap somewhat.", long, term)
    return Statement("care", "The groups are blurred.", long, term)


def _agreement(result: Result) -> Statement:
    agreement = result.certificate.agreement
    if result.status is Status.EXACT:
        return Statement(
            "good",
            "The result does not depend on a random start.",
            "The answer is in closed form.",
            "exact",
        )
    tried = result.certificate.starts or 1
    if agreement is None and tried > 1:
        return Statement(
            "good",
            "No other start fits as well.",
            f"Of {tried} starts the others end with a larger error, so that they do not dispute "
            "these groups.",
            "agreement is that of starts that fit as well",
        )
    if agreement is None:
        return Statement(
            "care",
            "Other starts were not tried.",
            "Whether they would find the same groups is not known. Use --starts 5 (command line) "
            "or n_init=5 (Python).",
            "agreement not measured",
        )
    term = f"adjusted Rand index {agreement:.2f} (1: the same groups, 0: chance)"
    if agreement >= SAME_GROUPS:
        return Statement(
            "good",
            "Other starts find the same groups.",
            "The computation started from several points and ended with the same groups.",
            term,
        )
    if agreement >= AGREED:
        return Statement(
            "good",
            "Other starts find mostly the same groups.",
            "A few instruments with low clarity may belong to one group or another.",
            term,
        )
    return Statement(
        "care",
        "Other starts find other groups.",
        "Equally good fits disagree about which instruments belong together: the data do not "
        "decide. Try another number of groups.",
        term,
    )
