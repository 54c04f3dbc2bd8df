"""scikit-learn's face of the factorization."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from symnmf.factorize import factorize


class SymNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Symmetric non-negative matrix factorization of a precomputed dependence matrix.

    Parameters:
        n_components: number of columns of H.
        solver: a name of ``symnmf solvers``, or ``"auto"``.
        random_state: seed of the start and of every draw.
        start: ``"random"`` or ``"nndsvd"``; by default what the solver asks for.
        n_init: number of starts on a surrogate; more than one measures their agreement.
        max_iter: most iterations.
        options: hyper-parameters of the solver.

    Attributes:
        embedding_: (n, n_components) factor H.
        labels_: (n,) group of each row, −1 for a zero row.
        certificate_: how good the factor is.
        result_: everything about the run.
        n_iter_: iterations.

    Example:
        >>> import numpy as np
        >>> SymNMF(n_components=2).fit(np.kron(np.eye(2), np.ones((3, 3)))).labels_.shape
        (6,)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        solver: str = "auto",
        random_state: int = 0,
        start: str | None = None,
        n_init: int = 1,
        max_iter: int = 10_000,
        options: dict[str, Any] | None = None,
    ):
        self.n_components = n_components
        self.solver = solver
        self.random_state = random_state
        self.start = start
        self.n_init = n_init
        self.max_iter = max_iter
        self.options = options

    def fit(self, X: Any, y: Any = None) -> SymNMF:
        """Factorize the (n, n) matrix X; ``y`` is ignored."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Factorize the (n, n) matrix X and return H."""
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        self.result_ = factorize(
            X,
            self.n_components,
            self.solver,
            seed=self.random_state,
            start=self.start,
            n_init=self.n_init,
            max_iter=self.max_iter,
            **(self.options or {}),
        )
        self.embedding_ = self.result_.H.numpy()
        self.labels_ = self.result_.labels().numpy()
        self.certificate_ = self.result_.certificate
        self.n_iter_ = self.result_.iterations
        return self.embedding_

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Factorize the (n, n) matrix X and return the labels."""
        return self.fit(X).labels_

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
