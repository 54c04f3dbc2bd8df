"""Prototypes of crashes: extreme days grouped by their direction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from symnmf.core.kmeans import MAX_LLOYD_PASSES, ExplicitRows, lloyd, spread
from symnmf.core.labels import group_numbers
from symnmf.core.result import Result
from symnmf.data.panel import Panel
from symnmf.defaults import TAIL
from symnmf.dependence.margins import to_margins
from symnmf.dependence.tail_request import signed_for
from symnmf.dependence.threshold import keep_largest
from symnmf.display import Brief
from symnmf.errors import InvalidInput
from symnmf.grouping.naming import group_names
from symnmf.grouping.portfolio_risk import by_group, check_panel
from symnmf.numerics import one_thread_if_small, torch_stream
from symnmf.options import choice, whole_number

#: Ways to cluster directions, and the default.
METHODS, METHOD = ("k-pc", "k-means"), "k-pc"
#: Share of the days that are extreme, the fewest, and days for each prototype unless the caller
#: chooses a number.
EXTREME_SHARE, LEAST_DAYS, DAYS_A_PROTOTYPE = 0.05, 10, 15
#: Most prototypes unless the caller chooses a number, starts, and products of a centre.
MOST, STARTS, POWER_STEPS = 6, 10, 20


@dataclass(frozen=True, repr=False)
class Prototype(Brief):
    """A kind of crash.

    Attributes:
        number: its number, from 1; the most frequent is 1.
        direction: (n,) its direction: the relative sizes of the losses, of length one.
        groups: (k,) share of each group in it; they sum to one unless an instrument has no group.
        days: number of days.
        dates: their dates, largest first.
        fit: mean squared cosine between the days and the direction, from 0 to 1.
    """

    number: int
    direction: np.ndarray
    groups: np.ndarray
    days: int
    dates: tuple[str, ...]
    fit: float


@dataclass(frozen=True)
class Prototypes:
    """Extreme days and their kinds; see :func:`prototypes`.

    Attributes:
        found: the kinds, most frequent first.
        rows: (events,) rows of the panel that are extreme, in order of time.
        dates: their dates.
        sizes: (events,) radii in multiples of the threshold.
        kinds: (events,) place in ``found`` of each.
        group_names: names of the groups.
        usual: (k,) share of each group in all extreme days.
        method: how directions were clustered.
    """

    found: tuple[Prototype, ...]
    rows: np.ndarray
    dates: tuple[str, ...]
    sizes: np.ndarray
    kinds: np.ndarray
    group_names: tuple[str, ...]
    usual: np.ndarray
    method: str

    def __repr__(self) -> str:
        return f"Prototypes({len(self.found)} kinds of {len(self.rows)} extreme days)"

    def table(self) -> pd.DataFrame:
        """A row for each extreme day: its kind and its size."""
        index = pd.Index(self.dates, name="date")
        return pd.DataFrame({"prototype": self.kinds + 1, "size": self.sizes}, index=index)

    def hit(self, kind: int, most: int = 3) -> list[tuple[int, float]]:
        """Groups that a kind hits harder than extreme days usually do: number and ratio."""
        ratio = np.divide(
            self.found[kind].groups, self.usual, out=np.zeros_like(self.usual),
            where=self.usual > 0,
        )  # fmt: skip
        numbers = group_numbers(np.arange(len(ratio)))
        order = np.argsort(-ratio, kind="stable")[:most]
        return [(int(numbers[g]), float(ratio[g])) for g in order if ratio[g] > 1]


def prototypes(
    result: Result,
    panel: Panel,
    count: int | None = None,
    *,
    tail: str = TAIL,
    q: float = EXTREME_SHARE,
    method: str = METHOD,
    decluster: int = 0,
    seed: int = 0,
) -> Prototypes:
    """Kinds of crashes: the extreme days of a panel, clustered by direction.

    Losses are brought to Fréchet(2) margins; days with a large radius ‖x_t‖ are extreme, and their
    directions x_t / ‖x_t‖ are clustered:

        k-means: max Σ_t max_j ⟨c_j, ω_t⟩,     k-pc: max Σ_t max_j ⟨c_j, ω_t⟩²

    The centre of k-means is the mean direction, that of k-pc the leading principal component.

    Arguments:
        result: a fit, whose groups describe the kinds.
        panel: the returns, without missing numbers.
        count: number of kinds; by default that of the groups, at most 6 and one for 15 days.
        tail: ``"lower"`` (losses) or ``"upper"`` (gains).
        q: share of the days that is extreme.
        method: ``"k-pc"`` or ``"k-means"``.
        decluster: of extreme days with fewer rows between them only the largest is used.
        seed: seed of the starts.

    Raises:
        InvalidInput: the panel is not that of the result, there are fewer than 10 extreme days, or
            more kinds than days.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices").rows(0, 1000)
        >>> result = sn.factorize(sn.tail_dependence(panel), k=3)
        >>> kinds = prototypes(result, panel)
        >>> len(kinds.found), sum(kind.days for kind in kinds.found)
        (3, 50)

    Reference: Janßen and Wan (2020), doi:10.1214/20-EJS1689; Fomichov and Ivanovs (2023),
    arXiv:2010.12372, for k-pc.
    """
    check_panel(panel, result)
    choice("method", method, METHODS)
    heavy = to_margins(signed_for(panel, tail))
    radii = np.sqrt(np.square(heavy).sum(axis=1))
    wanted = int(q * len(radii))
    if not 0 < q <= 1 or wanted < LEAST_DAYS:
        raise InvalidInput(
            "q",
            f"{q:g} leaves {wanted} of {len(radii)} days",
            f"Pass a share that leaves at least {LEAST_DAYS} days",
        )
    chosen = np.sort(np.argsort(-radii, kind="stable")[:wanted])
    rows = keep_largest(chosen, radii, whole_number("decluster", decluster, 0, 10**9))
    angles = heavy[rows] / radii[rows, None]
    k = result.H.shape[1]
    if count is None:
        count = max(1, min(k, MOST, len(rows) // DAYS_A_PROTOTYPE))
    count = whole_number("count", count, 1, len(rows), f"from 1 to the {len(rows)} extreme days")
    labels, centres = cluster_directions(angles, count, method, seed)
    sizes = np.bincount(labels, minlength=len(centres))
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    place = np.full(len(centres), -1)
    place[order] = np.arange(len(order))
    kinds = place[labels]
    dates = tuple(panel.date_words(rows))
    member = result.labels().cpu().numpy()
    least = float(radii[chosen].min())
    found = []
    for number, centre in enumerate(centres[order]):
        mine = np.flatnonzero(kinds == number)
        first = mine[np.argsort(-radii[rows[mine]], kind="stable")]
        mass = np.square(angles[mine]).mean(axis=0)
        found.append(
            Prototype(
                number + 1, centre, by_group(mass, member, k), len(mine),
                tuple(dates[t] for t in first), float(np.square(angles[mine] @ centre).mean()),
            )
        )  # fmt: skip
    usual = by_group(np.square(angles).mean(axis=0), member, k)
    return Prototypes(
        tuple(found), rows, dates, radii[rows] / least, kinds, tuple(group_names(result)), usual,
        method,
    )  # fmt: skip


class PrincipalRows(ExplicitRows):
    """Rows of unit length whose centres are leading principal components: k-pc."""

    def centres(self, labels: Tensor, k: int, fit: Tensor) -> Tensor:  # (k, d)
        """Leading eigenvectors of Σ x xᵀ over the rows of each group, by power iteration."""
        centres = super().centres(labels, k, fit)
        for j in range(k):
            X = self.X[labels == j]
            if len(X) < 2:
                continue
            centre = centres[j]
            for _ in range(POWER_STEPS):
                centre = X.T @ (X @ centre)
                centre = centre / torch.linalg.vector_norm(centre)
            centres[j] = centre
        return centres


def cluster_directions(
    angles: np.ndarray,  # (events, n)
    count: int,
    method: str = METHOD,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:  # (events,), (≤ count, n)
    """Clusters of directions without negative entries, the best of ten starts.

    Arguments:
        angles: rows of length one.
        count: number of clusters; fewer where there are fewer distinct rows.
        method: ``"k-pc"`` or ``"k-means"``.
        seed: seed of the starts.

    Returns:
        The cluster of each row, and the centres.

    Example:
        >>> cluster_directions(np.eye(3)[[0, 0, 1, 2, 2]], 3)[0].shape
        (5,)
    """
    X = torch.from_numpy(np.ascontiguousarray(angles, dtype=np.float64))
    with one_thread_if_small(X.numel() * count):
        return _best_clusters(X, count, method, seed)


def _best_clusters(X: Tensor, count: int, method: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rows = PrincipalRows(X) if method == "k-pc" else ExplicitRows(X)
    best: tuple[float, Tensor, Tensor] | None = None
    for start in range(STARTS):
        rng = torch_stream(seed, "prototypes", start)
        places = spread(rows, count, rng, trials=3)
        made = lloyd(rows, X[places], len(places), 3 * MAX_LLOYD_PASSES, _unchanged)
        fit = made.fit.square() if method == "k-pc" else made.fit
        total = float(fit.sum())
        if best is None or total > best[0]:
            best = (total, made.labels, made.centres)
    assert best is not None
    return best[1].numpy(), best[2].numpy()


def _unchanged(before: Tensor | None, labels: Tensor, fit: Tensor) -> bool:
    return before is not None and bool((before == labels).all())
