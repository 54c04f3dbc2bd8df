"""Absolute Pearson correlation: who moves together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from symnmf.data.panel import Panel, read_panel
from symnmf.dependence.shrinkage import RATIO, ledoit_wolf, ledoit_wolf_intensity
from symnmf.errors import InvalidFile, InvalidInput
from symnmf.files import MANIFEST, lock
from symnmf.memory import require
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator

#: Side of the square tiles of S, and observations multiplied at a time in float32.
TILE, DEPTH = 1024, 4096
REMOVE = ("market", "noise")


@dataclass(frozen=True)
class Correlation:
    """|R| with unit diagonal, shrunk where asked for.

    Attributes:
        S: (n, n) absolute correlation.
        intensity: Ledoit–Wolf intensity α; off-diagonals are (1 − α)·|R|.
    """

    S: Tensor
    intensity: float


@dataclass(frozen=True)
class CorrelationEstimate:
    """How an absolute correlation was estimated; kept as ``operator.about``.

    Attributes:
        intensity: of the shrinkage.
        scores: (n, T) z-scores, zero where a number is missing.
        below: (n, n) where the correlation is negative, if the scores alone do not tell it:
            for missing numbers, and after noise was taken out; else None.
        negative: how many pairs have a negative correlation.
        steps: sentences for people.
    """

    intensity: float
    scores: Tensor
    negative: int
    steps: tuple[str, ...]
    below: Tensor | None = None

    def signs(self, i: Tensor, j: Tensor) -> Tensor:  # (|i|, |j|)
        """Sign of the correlation of instruments i with instruments j: a hedge shows as −1."""
        if self.below is not None:
            return 1.0 - 2.0 * self.below[i[:, None], j].to(self.scores.dtype)
        return torch.sign(self.scores[i] @ self.scores[j].T)


def abs_correlation(
    returns: Any,
    *,
    shrinkage: str | float = "auto",
    remove: str | tuple[str, ...] = (),
    folder: str | Path | None = None,
    dtype: torch.dtype = torch.float32,
) -> SymmetricOperator:
    """``|R|`` of a table of returns, as an operator with named rows and unit diagonal.

    Off-diagonals are (1 − α)·abs(R), R the correlation and α the Ledoit–Wolf intensity of the
    z-scores. Where no correlation is negative and it is cheaper, S stays the Gram matrix of the
    scores. ``operator.about`` has the signs and says what was done.

    Arguments:
        returns: a :class:`symnmf.data.Panel`, or a table or path that
            :func:`symnmf.data.read_panel` takes as returns. A panel with missing numbers gets
            each correlation from the rows that both instruments have.
        shrinkage: ``"auto"`` (Ledoit–Wolf when n / T > 0.1), ``"ledoit-wolf"``, ``"none"``, or α.
        remove: ``"market"`` takes the leading principal component out of the returns; ``"noise"``
            flattens the eigenvalues below the edge of Marchenko and Pastur, (1 + sqrt(n / T))².
        folder: write S there tile by tile, from float32 scores, and map it: for tables whose S does
            not fit in memory. Killed, it goes on when called again.
        dtype: of the operator; estimates are made in float64.

    Example:
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> X[:, 1] -= 2 * X[:, 0]
        >>> S = abs_correlation(X)
        >>> float(S.about.signs(torch.tensor([0]), torch.tensor([1])))
        -1.0
    """
    panel = returns if isinstance(returns, Panel) else read_panel(returns, kind="returns")
    wanted = (remove,) if isinstance(remove, str) else tuple(remove)
    for word in wanted:
        if word not in REMOVE:
            raise InvalidInput("remove", f"got {word!r}", f"Choose of {', '.join(REMOVE)}")
    X = torch.from_numpy(panel.values.T.copy())  # (n, T)
    n, samples = X.shape
    holes = torch.isnan(X)
    if bool(holes.any()):
        if folder is not None:
            raise InvalidInput(
                "folder",
                "does not go with missing numbers",
                "Read the panel with missing='drop-columns' or 'drop-rows'",
            )
        return _pairwise(panel, X, holes, shrinkage, wanted, dtype)
    scores = standardize(X)
    steps = [f"z-scores of {samples} observations"]
    if "market" in wanted:
        scores, share = without_market(scores)
        steps.append(f"leading component taken out: {100 * share:.3g} % of the variance")
    alpha = _intensity(shrinkage, scores)
    steps.append(_shrunk(alpha))
    if folder is not None:
        return _on_disk(Path(folder), panel, scores, alpha, wanted, steps, dtype)
    require(
        n * n * dtype.itemsize,
        f"the correlation of {n} instruments",
        "Pass folder= to write it to disk in tiles, or take fewer instruments",
    )
    made: SymmetricOperator
    below = None
    narrow = 2 * samples < n and "noise" not in wanted  # a product with the scores is cheaper
    if narrow and not any(bool((tile < 0).any()) for *_, tile in _tiles(scores)):
        B = scores.to(dtype) * ((1 - alpha) / samples) ** 0.5
        made = GramOperator(B, torch.full((n,), float(alpha), dtype=dtype) if alpha else None)
        negative = 0
        steps.append("no correlation is negative: kept as a Gram matrix of the scores")
    else:
        tiles = _tiles(scores)
        if "noise" in wanted:
            R, edge = without_noise(scores)
            below = R < 0
            steps.append(f"eigenvalues below {edge:.3g} flattened to their mean")
            tiles = iter([(slice(0, n), slice(0, n), R)])
        S, _, negative = _absolute(tiles, n, dtype)
        made = DenseOperator(S.mul_(1 - alpha).fill_diagonal_(1.0))
        steps.append(_signs(negative, n))
    made.names = panel.names
    made.about = CorrelationEstimate(alpha, scores, negative, tuple(steps), below)
    return made


def abs_from_product(R: Tensor, X: Tensor, dtype: torch.dtype = torch.float32) -> DenseOperator:
    """|R| with the shrinkage of :func:`abs_correlation`, from a correlation that is known.

    Arguments:
        R: (n, n) correlation of the rows of X; overwritten.
        X: (n, T) observations; overwritten.
        dtype: of the operator.
    """
    n, samples = X.shape
    scores = standardize(X)
    alpha = _intensity("auto", scores)
    S, _, negative = _absolute(iter([(slice(0, n), slice(0, n), R)]), n, dtype)
    made = DenseOperator(S.mul_(1 - alpha).fill_diagonal_(1.0))
    steps = (f"z-scores of {samples} observations", _shrunk(alpha), _signs(negative, n))
    made.about = CorrelationEstimate(alpha, scores, negative, steps)
    return made


def _shrunk(alpha: float) -> str:
    return f"shrunk towards the identity by {alpha:.4g}" if alpha else "not shrunk"


def _signs(negative: int, n: int) -> str:
    return f"{negative} of {n * (n - 1) // 2} correlations are negative: their size counts"


def _on_disk(
    folder: Path,
    panel: Panel,
    scores: Tensor,
    alpha: float,
    remove: tuple[str, ...],
    steps: list[str],
    dtype: torch.dtype,
) -> SymmetricOperator:
    """S in a folder, written if it is not there yet."""
    from symnmf.dependence.tiles import write_abs_correlation
    from symnmf.operators.store import open_matrix, read_stored

    if dtype != torch.float32:
        raise InvalidInput("dtype", f"got {dtype} with folder", "Tiles on disk are float32")
    if "noise" in remove:
        raise InvalidInput(
            "remove", "got 'noise' with folder", "It needs all eigenvalues: leave out one of them"
        )
    narrow = scores.to(torch.float32)
    mark = sha256(narrow.numpy().tobytes()).hexdigest()
    identity = {"scores": mark, "shrunk by": alpha}
    if not (folder / MANIFEST).exists():
        with lock(folder):
            write_abs_correlation(folder, narrow, 0.0, identity, intensity=alpha, names=panel.names)
    elif any(read_stored(folder).about.get(key) != value for key, value in identity.items()):
        raise InvalidFile(str(folder), "holds another matrix", "Choose a new folder")
    made = open_matrix(folder)
    stored = read_stored(folder)
    steps.append(f"{stored.form} matrix on disk, {stored.about['negative']} negative correlations")
    made.about = CorrelationEstimate(alpha, scores, stored.about["negative"], tuple(steps))
    return made


def _intensity(shrinkage: str | float, scores: Tensor) -> float:
    n, samples = scores.shape
    if shrinkage == "none" or (shrinkage == "auto" and n / samples <= RATIO):
        return 0.0
    if shrinkage in ("auto", "ledoit-wolf"):
        return ledoit_wolf(scores)
    if not isinstance(shrinkage, str) and 0 <= shrinkage <= 1:
        return float(shrinkage)
    raise InvalidInput(
        "shrinkage", f"got {shrinkage!r}", "Choose auto, ledoit-wolf, none, or a number up to 1"
    )


def without_market(scores: Tensor) -> tuple[Tensor, float]:
    """Scores without their leading principal component, standardized again; its share."""
    n, samples = scores.shape
    side = scores if n <= samples else scores.T
    values, vectors = torch.linalg.eigh(side @ side.T)
    v = vectors[:, -1:]
    rest = scores - (v @ (v.T @ scores) if n <= samples else (scores @ v) @ v.T)
    return standardize(rest), float(values[-1] / values.sum())


def without_noise(scores: Tensor) -> tuple[Tensor, float]:
    """The correlation with its eigenvalues below the Marchenko–Pastur edge at their mean; the edge.

    Reference: Laloux et al. (1999), doi:10.1103/PhysRevLett.83.1467.
    """
    n, samples = scores.shape
    edge = (1 + (n / samples) ** 0.5) ** 2
    values, vectors = torch.linalg.eigh(scores @ scores.T / samples)
    below = values < edge
    if bool(below.any()):
        values = torch.where(below, values[below].mean(), values)
    R = (vectors * values) @ vectors.T
    size = R.diagonal().sqrt()
    return R / size / size[:, None], edge


def _tiles(scores: Tensor) -> Iterator[tuple[slice, slice, Tensor]]:
    """Upper tiles of the correlation of z-scores, in float64."""
    n, samples = scores.shape
    for a in range(0, n, TILE):
        for b in range(a, n, TILE):
            rows, columns = slice(a, min(a + TILE, n)), slice(b, min(b + TILE, n))
            yield rows, columns, product64(scores[rows], scores[columns]).div_(samples)


def _absolute(
    tiles: Iterator[tuple[slice, slice, Tensor]], n: int, dtype: torch.dtype
) -> tuple[Tensor, float, int]:
    """|R| from the upper tiles of R, with ‖R‖² and the number of negative pairs."""
    S = torch.empty(n, n, dtype=dtype)
    sums = np.zeros(3)
    for rows, columns, tile in tiles:
        sums += tile_sums(tile, rows != columns)
        tile = tile.abs_().to(dtype)
        S[rows, columns] = tile
        S[columns, rows] = tile.T
    return S, float(sums[0]), int(sums[1])


def tile_sums(tile: Tensor, twice: bool) -> np.ndarray:  # (3,)
    """‖·‖² of a tile of R, its number of negative pairs, ‖|R| − R‖²; twice off the diagonal."""
    below = tile.clamp(max=0)
    squares = [float(tile.square().sum()), 4 * float(below.square().sum())]
    count = int((tile < 0).sum()) // (2 - twice)
    return np.array([(1 + twice) * squares[0], count, (1 + twice) * squares[1]])


def _pairwise(
    panel: Panel,
    X: Tensor,
    holes: Tensor,
    shrinkage: str | float,
    remove: tuple[str, ...],
    dtype: torch.dtype,
) -> SymmetricOperator:
    """Each correlation from the rows that both instruments have."""
    if remove or shrinkage not in ("auto", "none"):
        raise InvalidInput(
            "remove" if remove else "shrinkage",
            "does not go with missing numbers",
            "Read the panel with missing='drop-columns' or 'drop-rows'",
        )
    require(64 * len(X) ** 2, f"the correlation of {len(X)} instruments with missing numbers",
            "Take fewer instruments, or drop rows or columns")  # fmt: skip
    mask = (~holes).to(torch.float64)
    filled = torch.where(holes, 0.0, X - torch.nanmean(X, dim=1, keepdim=True))
    count = mask @ mask.T
    sums, squares = filled @ mask.T, filled.square() @ mask.T  # of i over the rows of i and j
    product = filled @ filled.T * count - sums * sums.T
    spread = (squares * count - sums.square()).clamp_(min=0)
    R = product / (spread * spread.T).sqrt()
    few = (count < 3) | ~torch.isfinite(R)
    few.fill_diagonal_(False)
    if bool(few.any()):
        i, j = few.nonzero()[0].tolist()
        raise InvalidInput(
            "returns",
            f"{panel.names[i]!r} and {panel.names[j]!r} share {int(count[i, j])} usable rows",
            "Drop columns with many missing numbers: missing='drop-columns'",
        )
    negative = int((R < 0).sum()) // 2
    S = R.abs().to(dtype)
    S.fill_diagonal_(1.0)
    made = DenseOperator(S)
    least = int(count.min())
    steps = (
        f"each correlation from the rows that both have, at least {least}; not shrunk, and not "
        "always positive semidefinite",
    )
    made.names = panel.names
    scores = filled / (squares.diagonal() / count.diagonal()).sqrt()[:, None]
    made.about = CorrelationEstimate(0.0, scores, negative, steps, R < 0)
    return made


def standardize(X: Tensor) -> Tensor:  # (n, T) -> (n, T)
    """Rows to mean zero and mean square one, in place."""
    X -= X.mean(dim=1, keepdim=True)
    X /= X.square().mean(dim=1, keepdim=True).sqrt_()
    return X


def abs_correlation_of_scores(scores: Tensor, fourth: float, dtype: torch.dtype) -> Correlation:
    """|R| of z-scores, tile by tile, with Ledoit–Wolf shrinkage when n / T > 0.1.

    Partial products are summed in float64, so that the result does not depend on the machine
    beyond 1e-6 even when the scores are float32.

    Arguments:
        scores: (n, T) z-scores; only the upper tiles are multiplied.
        fourth: Σ_t ‖x_t‖⁴ over the observations (columns).
        dtype: of S.
    """
    n, samples = scores.shape
    S, frob_sq, _ = _absolute(_tiles(scores), n, dtype)
    intensity = 0.0
    if n / samples > RATIO:
        intensity = ledoit_wolf_intensity(frob_sq, fourth, n, samples)
        S.mul_(1.0 - intensity)
    S.fill_diagonal_(1.0)
    return Correlation(S, intensity)


def population_correlation(A: np.ndarray, noise: float = 1.0) -> np.ndarray:  # (n, k) -> (n, n)
    """The correlation of A Z + ε with independent Z of variance one and ε of variance ``noise``.

    Example:
        >>> population_correlation(np.array([[1.0], [1.0]]))
        array([[1. , 0.5],
               [0.5, 1. ]])
    """
    covariance = A @ A.T + noise * np.eye(len(A))
    size = np.sqrt(np.diag(covariance))
    out: np.ndarray = covariance / size / size[:, None]
    return out


def product64(X: Tensor, Y: Tensor) -> Tensor:  # (a, T), (b, T) -> (a, b)
    """X Yᵀ, partial products in the precision of X summed in float64."""
    total = torch.zeros(len(X), len(Y), dtype=torch.float64, device=X.device)
    for begin in range(0, X.shape[1], DEPTH):
        part = slice(begin, begin + DEPTH)
        total += X[:, part] @ Y[:, part].T
    return total
