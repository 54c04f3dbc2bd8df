"""What is done with returns that are probably errors."""

from __future__ import annotations

import numpy as np

from symnmf.data.suspects import Suspect, filled_rows, find_jumps, find_stale
from symnmf.data.table_model import Table, day
from symnmf.display import counted
from symnmf.errors import InvalidTable, spelled

#: Rows from which filled holidays are counted, and suspects that a sentence lists.
ENOUGH_ROWS, LISTED = 30, 5


def treat_suspects(
    work: Table, kind: str, returns: str, jumps: str, missing: str
) -> tuple[Suspect, ...]:
    """Find probable errors, say which, and treat the jumps as asked.

    Arguments:
        work: the table of returns; it is changed.
        kind, returns: what the returns were computed from, and how.
        jumps: ``"keep"``, ``"mask"`` or ``"error"``.
        missing: policy for missing numbers.

    Raises:
        InvalidTable: there is a jump and ``jumps`` is ``"error"``.
    """
    if kind == "values":
        return ()
    found = find_jumps(work.values, logs=kind == "prices" and returns == "log")
    still = filled_rows(work.values)
    stale = find_stale(work.values, still)
    filled = int(still.sum()) if len(work.values) >= ENOUGH_ROWS else 0
    suspects = [
        Suspect(work.names[j], t, _when(work, t), count, what, words, float(work.values[t, j]))
        for t, j, count, what, words in found
    ]
    suspects += [
        Suspect(work.names[j], t, _when(work, t), count, "stale", f"{count} rows unchanged", 0.0)
        for t, j, count in stale
    ]
    if found:
        _treat_jumps(work, found, suspects[: len(found)], kind, jumps, missing)
    if stale:
        longest = max(stale, key=lambda s: s[2])
        names = len({j for _, j, _ in stale})
        words = f"{longest[2]} rows of {work.names[longest[1]]} from {_when(work, longest[0])}"
        work.steps.append(
            f"{counted(len(stale), 'stretch', 'stretches')} of {counted(names, 'instrument')} "
            f"without any change, the longest {words}"
        )
    if filled:
        work.steps.append(
            f"{counted(filled, 'row')} in which nearly nothing moves: holidays that were filled?"
        )
    return tuple(suspects)


def _treat_jumps(
    work: Table,
    found: list[tuple[int, int, int, str, str]],
    suspects: list[Suspect],
    kind: str,
    jumps: str,
    missing: str,
) -> None:
    words = _words(suspects)
    if jumps == "error":
        raise InvalidTable(
            "table", words, f"Correct them, or pass {spelled('jumps', 'mask')} or keep"
        )
    if jumps == "keep":
        if kind == "returns":  # logarithms or not is not known: a crash may look like a split
            splits = [s for s in suspects if s.kind == "split"]
            suspects = [s for s in suspects if s.kind != "split"]
            if splits:
                work.steps.append(f"{_words(splits)}; or they are crashes")
        if suspects:
            remedy = f"Correct the data, or pass {spelled('jumps', 'mask')}"
            work.cautions.append(f"{_words(suspects)}. {remedy}")
        return
    with np.errstate(all="ignore"):
        middle = np.nanmedian(work.values, axis=0)
    for t, j, count, *_ in found:
        work.values[t : t + count, j] = np.nan if missing == "pairwise" else middle[j]
    how = "to missing" if missing == "pairwise" else "to the median of the instrument"
    work.steps.append(f"{words}; set {how}")


def _words(suspects: list[Suspect]) -> str:
    listed = ", ".join(f"{s.name} {s.date} ({s.kind} {s.words})" for s in suspects[:LISTED])
    more = f" and {len(suspects) - LISTED} more" if len(suspects) > LISTED else ""
    what = counted(
        len(suspects),
        "jump of a single instrument is probably an error",
        "jumps of single instruments are probably errors",
    )
    return f"{what}: {listed}{more}"


def _when(work: Table, t: int) -> str:
    return str(t) if work.dates is None else day(work.dates[t])
