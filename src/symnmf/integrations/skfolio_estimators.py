"""Estimators for skfolio's cluster-based optimizers; this module needs skfolio."""

from __future__ import annotations

from typing import Any

import numpy as np
from skfolio.distance import BaseDistance
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from symnmf.defaults import SEED, SOLVER
from symnmf.dependence import estimate
from symnmf.errors import InvalidInput
from symnmf.factorization import factorize
from symnmf.grouping.rank_selection import suggest_rank
from symnmf.operators.devices import computing_on
from symnmf.options import choice

#: How distances were made from similarities.
SIMILARITIES = ("absolute", "signed")


class TailDistance(BaseDistance):  # type: ignore[misc]
    """Distance of returns by their tail dependence, or their absolute correlation.

        d_ij = sqrt(1 − S_ij)

    Use it as ``distance_estimator`` of ``HierarchicalRiskParity``,
    ``HierarchicalEqualRiskContribution`` and ``NestedClustersOptimization``.

    Arguments:
        dependence: ``"tail"`` or ``"correlation"``.
        dependence_options: further arguments of :func:`symnmf.tail_dependence` or
            :func:`symnmf.abs_correlation`.

    Attributes:
        codependence_: (n, n) dependence matrix S.
        distance_: (n, n) distances.

    Example:
        >>> import numpy as np
        >>> X = np.random.default_rng(0).standard_t(3, size=(1000, 4))
        >>> TailDistance().fit(X).distance_.shape
        (4, 4)
    """

    def __init__(
        self, dependence: str = "tail", dependence_options: dict[str, Any] | None = None
    ) -> None:
        self.dependence = dependence
        self.dependence_options = dependence_options

    def fit(self, X: Any, y: Any = None) -> TailDistance:
        """Estimate the distances of the columns of the (T, n) returns X; ``y`` is ignored."""
        X = validate_data(self, X, dtype=np.float64)
        S = estimate(self.dependence, np.asarray(X), **(self.dependence_options or {}))
        dense = S.to_dense().cpu().numpy().astype(np.float64)
        dense = np.clip((dense + dense.T) / 2, 0.0, 1.0)
        np.fill_diagonal(dense, 1.0)
        self.codependence_ = dense
        self.distance_ = np.sqrt(1.0 - dense)
        return self


class SymNMFClustering(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Groups of symmetric NMF from a matrix of distances, as skfolio passes them.

        S = 1 − d²  (absolute),  S = |1 − 2 d²|  (signed)

    Use it as ``clustering_estimator`` of ``NestedClustersOptimization``.

    Arguments:
        n_clusters: number of groups; ``"auto"`` for the number that :func:`symnmf.suggest_rank`
            finds.
        similarity: how the distances were made: ``"absolute"``, by :class:`TailDistance` and
            ``PearsonDistance(absolute=True)``; ``"signed"``, by ``PearsonDistance()``.
        solver, random_state, device: as for :class:`symnmf.SymNMF`.

    Attributes:
        labels_: (n,) group of each instrument, from 0 without gaps.
        n_clusters_: number of groups that have members.
        result_: the factorization.

    Example:
        >>> import numpy as np
        >>> S = np.kron(np.eye(2), np.full((3, 3), 0.8)) + 0.2 * np.eye(6)
        >>> SymNMFClustering(2).fit(np.sqrt(1 - S)).labels_.tolist()
        [0, 0, 0, 1, 1, 1]
    """

    def __init__(
        self,
        n_clusters: int | str = "auto",
        *,
        similarity: str = "absolute",
        solver: str = SOLVER,
        random_state: int = SEED,
        device: str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.similarity = similarity
        self.solver = solver
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: Any = None) -> SymNMFClustering:
        """Find the groups of the (n, n) distances X; ``y`` is ignored.

        Raises:
            InvalidInput: X is not a square matrix of distances.
        """
        choice("similarity", self.similarity, SIMILARITIES)
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if X.shape[0] != X.shape[1] or np.abs(np.diagonal(X)).max() > 1e-6:
            raise InvalidInput(
                "X",
                f"has shape {X.shape} and a diagonal of up to {np.diagonal(X).max():.3g}",
                "Pass a square matrix of distances, with zeros on its diagonal",
            )
        square = X * X
        S = 1 - square if self.similarity == "absolute" else np.abs(1 - 2 * square)
        S = np.clip((S + S.T) / 2, 0.0, 1.0)
        count = self.n_clusters
        with computing_on(self.device):
            k = suggest_rank(S, seed=self.random_state).k if isinstance(count, str) else count
            self.result_ = factorize(S, k, self.solver, seed=self.random_state)
        labels = self.result_.labels().cpu().numpy()
        alone = labels < 0
        if alone.any():  # a group is needed: that of the most similar instrument
            near = np.where(alone, -1.0, S)[alone].argmax(axis=1)
            labels[alone] = labels[near]
        self.labels_ = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self
