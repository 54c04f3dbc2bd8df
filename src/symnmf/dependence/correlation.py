"""Absolute Pearson correlation: which instruments move together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from symnmf.data.panel import Panel, read_panel
from symnmf.dependence.correlation_estimate import CorrelationEstimate
from symnmf.dependence.missing_pairs import correlation_of_pairs
from symnmf.dependence.removal import standardize, without_market, without_noise
from symnmf.dependence.shrinkage import SHRINKAGE_RATIO, ledoit_wolf, ledoit_wolf_intensity
from symnmf.dependence.tiles import absolute, upper_tiles
from symnmf.errors import InvalidFile, InvalidInput, spelled
from symnmf.operators import DenseOperator, GramOperator, SymmetricOperator
from symnmf.options import choice
from symnmf.resources import require_memory
from symnmf.storage import MANIFEST, lock

#: Components that can be removed.
REMOVE = ("market", "noise")
#: What may become of negative correlations.
NEGATIVES = ("absolute", "zero")


def abs_correlation(
    returns: Any,
    *,
    shrinkage: str | float = "auto",
    remove: str | tuple[str, ...] = (),
    negative: str = "absolute",
    folder: str | Path | None = None,
    dtype: torch.dtype = torch.float32,
) -> SymmetricOperator:
    """``|R|`` of a table of returns, as an operator with named rows and unit diagonal.

    Off-diagonal entries are (1 − α)·abs(R), or (1 − α)·max(R, 0), where R is the correlation and α
    the Ledoit–Wolf intensity of the z-scores. If no correlation is negative and it is cheaper, S is
    stored as the Gram matrix of the scores. ``operator.provenance`` records the signs and the
    steps.

    Arguments:
        returns: a :class:`symnmf.data.Panel`, or a table or path that
            :func:`symnmf.data.read_panel` accepts as returns. In a panel with missing numbers
            each correlation is estimated from the rows that both instruments have.
        shrinkage: ``"auto"`` (Ledoit–Wolf if n / T > 0.1), ``"ledoit-wolf"``, ``"none"``, or α.
        remove: ``"market"`` removes the leading principal component from the returns; ``"noise"``
            sets the eigenvalues below the Marchenko–Pastur edge, (1 + sqrt(n / T))², to their
            mean.
        negative: what becomes of a negative correlation: ``"absolute"`` counts a hedge as
            dependence, ``"zero"`` as none: stocks that fall when others rise do not crash with
            them.
        folder: folder to which S is written tile by tile, from float32 scores, and from which it
            is mapped: for tables whose S does not fit in memory. A call that is killed resumes
            when it is repeated.
        dtype: type of the operator; estimates are computed in float64.

    Raises:
        InvalidInput: an option is invalid, or cannot be combined with another or with missing
            numbers.
        NotEnough: S does not fit in memory.

    Example:
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(500, 3))
        >>> X[:, 1] -= 2 * X[:, 0]
        >>> S = abs_correlation(X)
        >>> float(S.provenance.signs(torch.tensor([0]), torch.tensor([1])))
        -1.0
    """
    panel = returns if isinstance(returns, Panel) else read_panel(returns, kind="returns")
    wanted = (remove,) if isinstance(remove, str) else tuple(remove)
    for word in wanted:
        if word not in REMOVE:
            raise InvalidInput("remove", f"got {word!r}", f"Choose from {', '.join(REMOVE)}")
    positive = choice("negative", negative, NEGATIVES) == "zero"
    if positive and folder is not None:
        raise InvalidInput("negative", "got 'zero' with folder", "Omit one of the two")
    X = torch.from_numpy(panel.values.T.copy())  # (n, T)
    n, samples = X.shape
    holes = torch.isnan(X)
    if bool(holes.any()):
        if folder is not None:
            raise InvalidInput(
                "folder",
                "cannot be combined with missing numbers",
                f"Pass {spelled('missing', 'drop-columns')} or {spelled('missing', 'drop-rows')}",
            )
        return correlation_of_pairs(panel, X, holes, shrinkage, wanted, dtype, positive)
    scores = standardize(X)
    steps = [f"z-scores of {samples} observations"]
    if "market" in wanted:
        scores, share = without_market(scores)
        steps.append(f"leading component removed: {100 * share:.3g} % of the variance")
    alpha = _intensity(shrinkage, scores)
    steps.append(shrunk_words(alpha))
    if folder is not None:
        return _on_disk(Path(folder), panel, scores, alpha, wanted, steps, dtype)
    require_memory(
        n * n * dtype.itemsize,
        f"the correlation of {n} instruments",
        "Pass folder= to write it to disk in tiles, or use fewer instruments",
    )
    below = None
    narrow = 2 * samples < n and "noise" not in wanted  # a product with the scores is cheaper
    if narrow and not any(bool((tile < 0).any()) for *_, tile in upper_tiles(scores)):
        B = scores.to(dtype) * ((1 - alpha) / samples) ** 0.5
        d = torch.full((n,), float(alpha), dtype=dtype) if alpha else None
        steps.append("no correlation is negative: stored as a Gram matrix of the scores")
        provenance = CorrelationEstimate(alpha, scores, 0, tuple(steps))
        return GramOperator(B, d, panel.names, provenance)
    tiles = upper_tiles(scores)
    if "noise" in wanted:
        R, edge = without_noise(scores)
        below = R < 0
        steps.append(f"eigenvalues below {edge:.3g} set to their mean")
        tiles = iter([(slice(0, n), slice(0, n), R)])
    S, _, hedges = absolute(tiles, n, dtype, positive)
    steps.append(signs_words(hedges, n, positive))
    provenance = CorrelationEstimate(alpha, scores, hedges, tuple(steps), below)
    return DenseOperator(S.mul_(1 - alpha).fill_diagonal_(1.0), panel.names, provenance=provenance)


def abs_from_tiles(
    tiles: Iterator[tuple[slice, slice, Tensor]],
    X: Tensor,
    names: Sequence[str],
    dtype: torch.dtype = torch.float32,
) -> DenseOperator:
    """|R| with the shrinkage of :func:`abs_correlation`, from a correlation that is made otherwise.

    Arguments:
        tiles: rows, columns and values of the correlation of the rows of X in its upper triangle;
            overwritten.
        X: (n, T) observations; overwritten.
        names: names of the rows.
        dtype: type of the operator.
    """
    n, samples = X.shape
    scores = standardize(X)
    S, frob_sq, negative = absolute(tiles, n, dtype)
    alpha = given_intensity("auto", n, samples)
    if alpha is None:
        fourth = float(scores.square().sum(dim=0).square().sum())
        alpha = ledoit_wolf_intensity(frob_sq, fourth, n, samples)
    steps = (f"z-scores of {samples} observations", shrunk_words(alpha), signs_words(negative, n))
    provenance = CorrelationEstimate(alpha, scores, negative, steps)
    return DenseOperator(S.mul_(1 - alpha).fill_diagonal_(1.0), names, provenance=provenance)


def shrunk_words(alpha: float) -> str:
    """A sentence about the shrinkage."""
    return f"shrunk towards the identity by {alpha:.4g}" if alpha else "not shrunk"


def signs_words(negative: int, n: int, positive: bool = False) -> str:
    """A sentence about the negative correlations."""
    pairs = n * (n - 1) // 2
    done = "they count as zero" if positive else "their absolute values are used"
    return f"{negative} of {pairs} correlations are negative; {done}"


def _on_disk(
    folder: Path,
    panel: Panel,
    scores: Tensor,
    alpha: float,
    remove: tuple[str, ...],
    steps: list[str],
    dtype: torch.dtype,
) -> SymmetricOperator:
    """The matrix S in a folder, written if the folder does not hold it yet."""
    from symnmf.dependence.correlation_on_disk import write_abs_correlation
    from symnmf.operators.stored import open_matrix
    from symnmf.storage.matrix_format import read_stored_matrix

    if dtype != torch.float32:
        raise InvalidInput(
            "dtype", f"got {dtype} with folder", "Pass torch.float32, the type of tiles on disk"
        )
    if "noise" in remove:
        raise InvalidInput(
            "remove", "got 'noise' with folder", "Removing noise needs all eigenvalues: omit one"
        )
    narrow = scores.to(torch.float32)
    mark = sha256(narrow.numpy().tobytes()).hexdigest()
    identity = {"scores": mark, "shrunk by": alpha}
    if not (folder / MANIFEST).exists():
        with lock(folder):
            write_abs_correlation(folder, narrow, 0.0, identity, intensity=alpha, names=panel.names)
    elif any(
        read_stored_matrix(folder).description.get(key) != value for key, value in identity.items()
    ):
        raise InvalidFile(str(folder), "holds another matrix", "Choose a new folder")
    stored = read_stored_matrix(folder)
    steps.append(
        f"{stored.form} matrix on disk, {stored.description['negative']} negative correlations"
    )
    provenance = CorrelationEstimate(alpha, scores, stored.description["negative"], tuple(steps))
    return open_matrix(folder, provenance=provenance)


def _intensity(shrinkage: str | float, scores: Tensor) -> float:
    n, samples = scores.shape
    given = given_intensity(shrinkage, n, samples)
    return ledoit_wolf(scores) if given is None else given


def given_intensity(shrinkage: str | float, n: int, samples: int) -> float | None:
    """The intensity of the shrinkage where it is known without the scores; otherwise None.

    Example:
        >>> given_intensity("auto", 10, 1000), given_intensity(0.2, 10, 1000)
        (0.0, 0.2)
    """
    if shrinkage == "none" or (shrinkage == "auto" and n / samples <= SHRINKAGE_RATIO):
        return 0.0
    if shrinkage in ("auto", "ledoit-wolf"):
        return None
    if not isinstance(shrinkage, str) and 0 <= shrinkage <= 1:
        return float(shrinkage)
    raise InvalidInput(
        "shrinkage", f"got {shrinkage!r}", "Choose auto, ledoit-wolf, none, or a number from 0 to 1"
    )


def abs_correlation_of_scores(
    scores: Tensor, fourth: float, dtype: torch.dtype
) -> Tensor:  # (n, n)
    """|R| of z-scores, tile by tile, with Ledoit–Wolf shrinkage if n / T > 0.1.

    Partial products are summed in float64, so that results of different machines differ by less
    than 1e-6 even if the scores are float32.

    Arguments:
        scores: (n, T) z-scores; only the upper tiles are multiplied.
        fourth: Σ_t ‖x_t‖⁴ over the observations (columns).
        dtype: type of S.
    """
    n, samples = scores.shape
    S, frob_sq, _ = absolute(upper_tiles(scores), n, dtype)
    if n / samples > SHRINKAGE_RATIO:
        S.mul_(1.0 - ledoit_wolf_intensity(frob_sq, fourth, n, samples))
    return S.fill_diagonal_(1.0)
