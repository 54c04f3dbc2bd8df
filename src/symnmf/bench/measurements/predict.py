"""Which estimate of dependence finds groups that crash together later.

Groups are found in one window of returns; in the days after it a crash is a return below the 5 %
quantile of the window. The lift is how much likelier two members of one group crash on the same day
than a random pair. Every candidate is compared with |correlation| on the same windows; intervals
are from windows, and days in blocks within them, drawn again, the same for all candidates.
``--data`` names a folder of panels.
Finished windows are kept in the folder of results, so that a study that was stopped goes on.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

from symnmf import NUMERICS
from symnmf.bench.measurement import Choices, MeasuredRow, MeasuredTable, Measurement
from symnmf.bench.prediction_candidates import (
    CANDIDATES,
    LEFT_OUT,
    REFERENCE,
    Estimate,
    fingerprint,
)
from symnmf.bench.prediction_panels import PredictionPanel, find_panels
from symnmf.bench.prediction_scores import drawn_windows, fitted, halves, window_score
from symnmf.dependence.correlation import abs_correlation
from symnmf.errors import SymnmfError
from symnmf.storage.journal import Journal

#: Splits into halves whose groups are compared. Larger panels have one split, and their matrices
#: of the days ahead are not compared.
SPLITS = 2
#: Rows of groups that do not come from a candidate.
WARD, CLASSES = "Ward on |correlation|", "classes"
ABOVE = f"% above {REFERENCE}"
PREDICT = MeasuredTable(
    "predict",
    "How much likelier two members of a group crash on the same later day than a random pair",
    ("panel", "groups"),
    ("lift", ABOVE, "5 %", "95 %", "ARI classes", "ARI halves", "unexplained ahead", "windows"),
    {"lift": "lower"},
)
CHOSEN = MeasuredTable(
    "predict-chosen",
    "The same with the number of groups that is suggested for each matrix",
    ("panel", "groups"),
    ("lift", "groups found", "windows"),
    {},
)
MEANS = MeasuredTable(
    "predict-means",
    f"Mean over the panels that are not simulated, and panels on which the interval lies below or "
    f"above {REFERENCE}",
    ("groups",),
    (
        *(ABOVE, "5 %", "95 %", "worst panel %", "below", "above"),
        *("ARI classes ratio", "ARI halves", "panels"),
    ),
    {},
)
REPEATS = MeasuredTable(
    "predict-repeats",
    "Whether the order of the candidates repeats itself: candidates are ordered by every second "
    "window, and the best one is judged in the other windows",
    ("panel", "chosen in"),
    ("rank correlation", "best", f"its {ABOVE}", f"there {ABOVE}"),
    {},
)


class Scores:
    """Scores that are kept in a file as they are found.

    Arguments:
        choices: where the file lies; without a folder nothing is kept.
    """

    def __init__(self, choices: Choices):
        self.journal = None
        self.known: dict[str, dict[str, Any]] = {}
        if choices.scratch is not None:
            choices.scratch.mkdir(parents=True, exist_ok=True)
            self.journal = Journal(choices.scratch / "predict-windows.jsonl")
            self.known = {r["key"]: r["found"] for r in self.journal.records()}

    def get(self, about: PredictionPanel, place: str, make: Callable[[], Any]) -> dict[str, Any]:
        """The score of a place, found now or before with the same estimate."""
        digest = sha256(about.panel.values.tobytes()).hexdigest()[:16]
        key = f"{NUMERICS} {digest} {about.k} {about.window} {about.ahead} {place}"
        if key not in self.known:
            try:
                found = make()
            except SymnmfError as wrong:
                found = {"failed": str(wrong)}
            self.known[key] = found
            if self.journal is not None:
                self.journal.append({"key": key, "found": _finite(found)})
        return self.known[key]


def _finite(found: dict[str, Any]) -> dict[str, Any]:
    """NaN is not JSON: such numbers become None."""

    def plain(x: Any) -> Any:
        if isinstance(x, list):
            return [plain(part) for part in x]
        return None if isinstance(x, float) and not np.isfinite(x) else x

    return {name: plain(value) for name, value in found.items()}


def known_by(name: str, estimate: Estimate | None) -> str:
    """Name of a candidate in the file of scores, with the digest of what it estimates."""
    return name if estimate is None else f"{name} {fingerprint(estimate)}"


def windows_of(
    about: PredictionPanel, name: str, estimate: Estimate | None, scores: Scores
) -> list[dict[str, Any]]:
    """Scores of a candidate in every window; empty where one of them failed."""
    found = []
    known = known_by(name, estimate)
    for begin in about.begins:
        train = about.panel.rows(begin, begin + about.window)
        later = about.panel.rows(begin + about.window, begin + about.window + about.ahead)

        def make(begin: int = begin, train: Any = train, later: Any = later) -> dict[str, Any]:
            if estimate is None:
                labels = _labels(about, name, train)
                return asdict(window_score(about, begin, None, None, labels))
            ahead = None if about.large else estimate(later)
            return asdict(window_score(about, begin, estimate(train), ahead))

        found.append(scores.get(about, f"window {begin} {known}", make))
    return [] if any("failed" in score for score in found) else found


def _labels(about: PredictionPanel, name: str, train: Any) -> np.ndarray:
    if name == CLASSES:
        assert about.classes is not None
        return about.classes
    distance = 1 - abs_correlation(train).to_dense().double().numpy()
    labels: np.ndarray = AgglomerativeClustering(about.k, linkage="ward").fit_predict(distance)
    return labels


def halves_agree(about: PredictionPanel, name: str, estimate: Estimate, scores: Scores) -> float:
    """Mean agreement of the groups of disjoint halves of the days."""
    found = []
    known = known_by(name, estimate)
    for split in range(1 if about.large else SPLITS):

        def make(split: int = split) -> dict[str, Any]:
            one, other = (
                fitted(estimate(half), about.k).labels().numpy()
                for half in halves(about.panel, split)
            )
            return {"ari": float(adjusted_rand_score(one, other))}

        found.append(scores.get(about, f"halves {split} {known}", make).get("ari"))
    return _mean(found)


@dataclass(frozen=True)
class Compared:
    """A candidate on a panel, in comparison with the reference.

    Attributes:
        above: % above the reference, then the same of windows and days drawn again.
        classes: agreement with the classes, as a multiple of that of the reference.
        agreed: agreement of the groups of disjoint halves of the days.
    """

    above: np.ndarray
    classes: float
    agreed: float

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of the interval of ``above``."""
        return _ends(self.above)


def measure(choices: Choices) -> Iterator[MeasuredRow]:
    """Rows of every candidate on every panel; ``--sizes`` chooses how many US stocks."""
    scores = Scores(choices)
    summary: dict[str, list[Compared]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for about in find_panels(choices):
            yield from _panel_rows(about, scores, {} if about.simulated else summary, choices)
    for name, parts in summary.items():
        above = np.mean([part.above for part in parts], axis=0)
        yield MEANS.row(
            name,
            above[0],
            *_ends(above),
            min(part.above[0] for part in parts),
            sum(part.ends[1] < 0 for part in parts),
            sum(part.ends[0] > 0 for part in parts),
            _mean([part.classes for part in parts]),
            _mean([part.agreed for part in parts]),
            len(parts),
        )


def _panel_rows(
    about: PredictionPanel, scores: Scores, summary: dict[str, list[Compared]], choices: Choices
) -> Iterator[MeasuredRow]:
    title = f"{about.name}, k = {about.k}"
    tried = (name for name in CANDIDATES if not (about.large and name in LEFT_OUT))
    every: dict[str, Estimate | None] = {**{name: CANDIDATES[name] for name in tried}, WARD: None}
    if about.classes is not None:
        every[CLASSES] = None
    drawn = drawn_windows(about)
    each: dict[str, np.ndarray] = {}  # lift of every window
    before, usual = np.empty(0), float("nan")
    for name, estimate in every.items():
        found = windows_of(about, name, estimate, scores)
        if not found:
            choices.note(f"{title}: {name} has no score")
            continue
        lifts = np.array([score["lifts"] for score in found], dtype=float)  # (windows, draws + 1)
        means = np.nanmean(np.take_along_axis(lifts, drawn, axis=0), axis=0)
        classes = _mean([score["classes"] for score in found])
        if name == REFERENCE:
            before, usual = means, classes
        if estimate is not None:
            each[name] = lifts[:, 0]
        agreed = float("nan") if estimate is None else halves_agree(about, name, estimate, scores)
        here = Compared(100 * (means / before - 1), classes / usual, agreed)
        summary.setdefault(name, []).append(here)
        unexplained = _mean([score["unexplained"] for score in found])
        yield PREDICT.row(
            *(title, name, means[0], here.above[0], *here.ends),
            *(classes, agreed, unexplained, len(found)),
        )
        if estimate is not None:
            some = [score for score in found if score["chosen_k"]]
            lift, k = (
                _mean([score[part] for score in some]) for part in ("chosen_lift", "chosen_k")
            )
            yield CHOSEN.row(title, name, lift, k, len(some))
    yield from _repeats(title, each)


def _repeats(title: str, each: dict[str, np.ndarray]) -> Iterator[MeasuredRow]:
    """Order of the candidates in every second window, against that in the others."""
    if len(each) < 3 or len(each[REFERENCE]) < 2:
        return
    names = [name for name in each if name != REFERENCE]
    above = np.array(
        [
            [100 * (np.nanmean(each[name][s::2]) / np.nanmean(each[REFERENCE][s::2]) - 1)
             for name in names]
            for s in (0, 1)
        ]
    )  # fmt: skip
    r = float(spearmanr(above[0], above[1])[0])
    for s, words in ((0, "odd windows"), (1, "even windows")):
        best = int(above[s].argmax())
        yield REPEATS.row(title, words, r, names[best], above[s, best], above[1 - s, best])


def _ends(above: np.ndarray) -> tuple[float, float]:
    """Ends of the interval from what was drawn; the first number was not."""
    low, high = np.nanquantile(above[1:], [0.05, 0.95])
    return float(low), float(high)


def _mean(numbers: Any) -> float:
    """Mean of the numbers that are known; nan if none is."""
    known = [x for x in numbers if x is not None and np.isfinite(x)]
    return float(np.mean(known)) if known else float("nan")


MEASUREMENT = Measurement(
    "predict",
    "Which estimate of dependence finds groups that crash together later",
    (PREDICT, CHOSEN, MEANS, REPEATS),
    ("sizes", "data"),
    measure,
)
