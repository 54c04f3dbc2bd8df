"""The verdict in plain words, the most important first."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from symnmf.certificate import AGREED, GOOD_FIT
from symnmf.contract import Result, Status

#: What the groups have in common, by dependence.
TOGETHER = {
    "tail": "crash together",
    "gains": "surge together",
    "correlation": "move together",
    "matrix": "belong together",
}
#: A typical lead of the first group over the second that is called clear, and one that is not.
CLEAR, BLURRED = 0.5, 0.25
#: Agreement of starts that is called the same groups.
SAME = 0.95
#: How a run ended: how bad that is, in short, and what to do.
ENDS = {
    Status.EXACT: (
        "good",
        "The answer is exact.",
        "This matrix is of a kind whose best answer is known: no other has a smaller error.",
    ),
    Status.CONVERGED: (
        "good",
        "The computation finished.",
        "It met every part of its stopping rule: nothing near by is better.",
    ),
    Status.COLLAPSED: (
        "bad",
        "No groups were found.",
        "All groups came out nearly the same, which says nothing about who belongs together. Try "
        "another seed, another number of groups, or another solver.",
    ),
    Status.STAGNATED: (
        "care",
        "The computation got stuck.",
        "It no longer improved before it met its stopping rule. Try another solver.",
    ),
    Status.MAX_ITER: (
        "care",
        "The computation was cut off by its number of iterations.",
        "Run it again with --resume to go on.",
    ),
    Status.TIME_OUT: (
        "care",
        "The computation was cut off by its time limit.",
        "Run it again with --resume to go on.",
    ),
    Status.STOPPED: (
        "care",
        "The computation was stopped on request.",
        "Run it again with --resume to go on.",
    ),
    Status.DIVERGED: (
        "bad",
        "The computation failed.",
        "Its numbers grew without bound. Use the default options of the solver.",
    ),
}


@dataclass(frozen=True)
class Statement:
    """One line of the verdict.

    Attributes:
        level: ``"good"``, ``"care"`` or ``"bad"``.
        short: the answer.
        long: what it means.
        term: the formal name, with its number.
    """

    level: str
    short: str
    long: str
    term: str


def statements(result: Result) -> list[Statement]:
    """What a person should know first: five answers."""
    return [_ended(result), _fit(result), _count(result), _sharpness(result), _agreement(result)]


def overall(found: list[Statement]) -> tuple[str, str]:
    """The level of the whole, and a sentence."""
    levels = {s.level for s in found}
    if "bad" in levels:
        return "bad", "Do not use these groups."
    if "care" in levels:
        first = next(s for s in found if s.level == "care")
        return "care", f"Usable with care: {first.short[0].lower()}{first.short[1:]}"
    return "good", f"A sound answer: {found[2].short[:-1]}."


def share(part: float) -> str:
    """A fraction as per cent, never rounded to all or nothing when it is not.

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
    proof = "" if c.floor_exact else " (numerical, not proven)"
    term = f"error {c.error:.4g}, least possible {c.floor_low:.4g}{proof}"
    if c.exact or abs(c.error - c.floor_low) < c.resolution:
        return Statement("good", f"No other {k} groups could fit better.", explained, term)
    if c.excess is None:
        return Statement("good" if c.converged else "care", "The fit is done.", explained, term)
    excess = max(0.0, c.excess)
    way = f"It went {share(max(0.0, 1 - excess))} of the way from no groups at all to that limit."
    term = f"excess {excess:.4f}; {term}; worth {c.worth} of {c.possible} factors"
    if excess <= GOOD_FIT:
        return Statement(
            "good",
            f"The fit is next to the best that {k} groups allow.",
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
    long = f"They have {range_} members each."
    if len(sizes) < k:
        long += f" {k} were asked for; {k - len(sizes)} came out without members."
    if outside:
        long += f" {outside:,} instruments are in none: nothing is known to go with them."
    level = "good" if 2 * len(sizes) > k and len(sizes) > 0 else "care"
    noun = "group" if len(sizes) == 1 else "groups"
    return Statement(
        level, f"{len(sizes)} {noun} of {len(labels):,} instruments.", long, f"k = {k}"
    )


def _sharpness(result: Result) -> Statement:
    labels, margins = result.labels(), result.margins()
    known = margins[labels >= 0]
    if not len(known):
        return Statement("bad", "Nothing has a group.", "Every loading is zero.", "margin 0")
    middle = float(known.median())
    sure = float((known >= CLEAR).to(torch.float64).mean())
    long = (
        f"For a typical instrument the second-best group fits {share(1 - middle)} as well as its "
        f"own; {share(sure)} of the instruments belong clearly to one group."
    )
    term = f"median margin {middle:.2f}"
    if middle >= CLEAR:
        return Statement("good", "The groups are sharp.", long, term)
    if middle >= BLURRED:
        return Statement("good", "The groups overlap somewhat.", long, term)
    return Statement("care", "The groups are blurred.", long, term)


def _agreement(result: Result) -> Statement:
    agreement = result.certificate.agreement
    if result.status is Status.EXACT:
        return Statement(
            "good", "There is nothing to draw lots about.", "The answer is in closed form.", "exact"
        )
    if agreement is None:
        return Statement(
            "care",
            "Other starts were not tried.",
            "Whether they would find the same groups is not known: pass --starts 5.",
            "agreement not measured",
        )
    term = f"adjusted Rand index {agreement:.2f} (1 the same, 0 chance)"
    if agreement >= SAME:
        return Statement(
            "good",
            "Other starts find the same groups.",
            "The computation was begun from several places and ended with the same groups.",
            term,
        )
    if agreement >= AGREED:
        return Statement(
            "good",
            "Other starts find mostly the same groups.",
            "A few instruments, those with low clarity, may go with one group or another.",
            term,
        )
    return Statement(
        "care",
        "Other starts find other groups.",
        "Equally good fits disagree about who belongs together: the data do not decide. Try "
        "another number of groups, and look at what they have in common.",
        term,
    )
