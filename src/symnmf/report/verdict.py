"""The four things that a sound answer needs: optimization, number, stability, beyond chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from symnmf.analysis import Analysis
from symnmf.grouping.rank_selection import RankSuggestion
from symnmf.grouping.stability import SURE_SHARE
from symnmf.report.word_limits import HALVES_AGREE
from symnmf.report.words import Statement, share

#: How to have the stability examined.
RESAMPLE = "Use --resamples 20 (command line) or resamples=20 (Python)."
#: Order of the levels, the worst first.
LEVELS = ("bad", "care", "open", "good")
#: Names of the four parts.
OPTIMIZATION, NUMBER, STABILITY, CHANCE = PARTS = (
    "optimization",
    "number of groups",
    "stability",
    "beyond chance",
)
#: Sentences about stability.
STABLE, UNSTABLE = "The groups are stable.", "The groups change with the days."
#: First words of the verdict about data without groups.
NO_GROUPS = "No groups in these data"


@dataclass(frozen=True)
class SoundnessPart:
    """One of the four things: its name and its level."""

    name: str
    level: str


def sound_statements(found: Analysis) -> list[Statement]:
    """Statements about the number of groups, their stability, and chance.

    Arguments:
        found: an analysis with its evidence.
    """
    rank = None if found.evidence is None else found.evidence.rank
    return [_number(found, rank), _stability(found, rank), _beyond(found, rank)]


def parts(found: list[Statement]) -> list[SoundnessPart]:
    """The four things with their levels: the worst of the statements about each.

    Arguments:
        found: all statements of a verdict.
    """
    return [
        SoundnessPart(
            name, min((s.level for s in found if s.part == name), key=LEVELS.index, default="open")
        )
        for name in PARTS
    ]


def overall(found: list[Statement]) -> tuple[str, str]:
    """The level of the whole verdict, and a sentence.

    "A sound answer" needs all four parts, examined and good, and nothing else to take care of.

    Arguments:
        found: all statements of a verdict, those of :func:`symnmf.report.words.statements` first.
    """
    none = next((s for s in found if s.short.startswith(NO_GROUPS)), None)
    if none is not None:
        return "bad", none.short
    levels = {s.level for s in found}
    if "bad" in levels:
        return "bad", "Do not use these groups."
    if "care" in levels:
        first = next(s for s in found if s.level == "care")
        return "care", f"Usable with care: {first.short[0].lower()}{first.short[1:]}"
    unknown = [part.name for part in parts(found) if part.level == "open"]
    if unknown and "open" in levels:
        missing = " and ".join([", ".join(unknown[:-1]), unknown[-1]] if unknown[1:] else unknown)
        return "open", f"Good as far as examined: {found[2].short[:-1]}. Not examined: {missing}."
    return "good", f"A sound answer: {found[2].short[:-1]}."


def _number(found: Analysis, rank: RankSuggestion | None) -> Statement:
    k = found.result.H.shape[1]
    if rank is None:
        how = (
            "Only a matrix is known."
            if found.panel is None
            else "The table is large, so that the number that you chose was taken as it is."
        )
        return Statement(
            "open",
            "Whether the number of groups is right was not examined.",
            f"{how} `symnmf rank` and symnmf.suggest_rank suggest a number.",
            f"k = {k}",
            NUMBER,
        )
    why = f"{rank.reasons[0][0].upper()}{rank.reasons[0][1:]}."
    term = f"suggested {rank.k}, range {rank.low} to {rank.high}; k = {k}"
    if rank.k == 1 and (rank.prediction is not None or k == 1):
        short = f"{NO_GROUPS}."
        why = why.removeprefix("No groups: ")
        why = f"{why[0].upper()}{why[1:]}"
        if k > 1:
            why += f" The {k} groups below are what chance and a common factor leave."
        return Statement("bad", short, why, term, NUMBER)
    if k > rank.considered:
        short = f"Whether {k} is the right number of groups was not examined."
        most = f"No more than {rank.considered} were considered"
        return Statement("open", short, f"{most}: {rank.reasons[0]}.", term, NUMBER)
    if k == rank.considered and rank.clear is not None and rank.clear >= k:
        short = f"There may be more than {k} groups: no more were considered."
        return Statement("care", short, f"{why} Try a larger number.", term, NUMBER)
    if rank.low <= k <= rank.high:
        near = "" if rank.low == rank.high else f" {rank.low} to {rank.high} do nearly as well."
        return Statement(
            "good", "The data support this number of groups.", why + near, term, NUMBER
        )
    return Statement("care", f"The data suggest {rank.words}, not {k}.", why, term, NUMBER)


def _stability(found: Analysis, rank: RankSuggestion | None) -> Statement:
    k = found.result.H.shape[1]
    held = found.stability
    if held is not None and np.isfinite(held.members).any():
        mean = float(np.nanmean(held.members))
        term = f"{held.draws} histories of resampled days; adjusted Rand index {held.agreement:.2f}"
        long = (
            f"Two members of a group are in one group again in {share(mean)} of the histories that "
            "were drawn from the days."
        )
        if mean >= SURE_SHARE:
            return Statement("good", STABLE, long, term, STABILITY)
        long += f" From {share(SURE_SHARE)} on, members are sure of their group."
        return Statement("care", UNSTABLE, long, term, STABILITY)
    if rank is not None and rank.subsamples is not None and rank.k == k and k > 1:
        agreed = rank.subsamples
        whose = "days" if rank.prediction is not None else "instruments"
        long = (
            f"The groups of two halves of the {whose} agree to {agreed:.2f} on a scale where 1 is "
            f"the same and 0 is chance. {RESAMPLE[:-1]} for the confidence of each member."
        )
        term = f"adjusted Rand index {agreed:.2f} of two halves"
        if agreed >= HALVES_AGREE:
            return Statement("good", STABLE, long, term, STABILITY)
        return Statement("care", UNSTABLE, long, term, STABILITY)
    how = RESAMPLE if found.panel is not None else "It needs the table behind the matrix."
    return Statement(
        "open", "Whether the groups are stable was not examined.", how, "no resampling", STABILITY
    )


def _beyond(found: Analysis, rank: RankSuggestion | None) -> Statement:
    """Against data that keep the common factor, everything else being rotated in time."""
    k = found.result.H.shape[1]
    if rank is None or rank.by_noise is None:
        how = (
            "It needs the table behind the matrix."
            if found.panel is None
            else "symnmf.significance compares each group with groups that arise by chance."
        )
        return Statement(
            "open", "Whether the groups are beyond chance was not examined.", how, "", CHANCE
        )
    above = rank.by_noise - 1
    term = f"eigenvalues above those of rotated data: {rank.by_noise}"
    if rank.k == 1:
        return Statement(
            "bad",
            "The groups are not beyond chance.",
            "Data without groups, which keep the common factor of these data and have everything "
            "else rotated in time, look the same.",
            term,
            CHANCE,
        )
    long = (
        f"Beside the common factor {above} more {'factor is' if above == 1 else 'factors are'} "
        "stronger than in the same data with everything but the common factor rotated in time."
    )
    if k > rank.considered <= rank.by_noise:
        short = f"Whether all of the {k} groups are beyond chance was not examined."
        long = f"All {rank.considered} factors that were considered are beyond chance."
        return Statement("open", short, long, term, CHANCE)
    if rank.by_noise >= k:
        return Statement("good", "The groups are beyond chance.", long, term, CHANCE)
    return Statement("care", f"Not all of the {k} groups are beyond chance.", long, term, CHANCE)
