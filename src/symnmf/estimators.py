"""scikit-learn estimators for a precomputed matrix and for a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from symnmf.analysis import analyse
from symnmf.analysis.loading import load_data
from symnmf.defaults import DEPENDENCE, MAX_MISSING, MISSING, SEED, SOLVER
from symnmf.factorization import factorize
from symnmf.grouping.held_out import score_on
from symnmf.grouping.result_tables import labels_columns, loadings_columns


class SymNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Symmetric non-negative matrix factorization of a precomputed dependence matrix.

    Arguments:
        n_components: number of columns of H.
        solver: name of a solver (``symnmf solvers`` lists them), or ``"auto"``.
        random_state: seed of the start and of every draw.
        start: ``"random"`` or ``"nndsvd"``; by default the start that the solver asks for.
        n_init: number of starts on a surrogate; more than one start measures their agreement. By
            default as for :func:`symnmf.factorize`.
        max_iter: maximum number of iterations; by default as for :func:`symnmf.factorize`.
        options: hyper-parameters of the solver.

    Attributes:
        embedding_: (n, n_components) factor H with its columns in group order.
        labels_: (n,) group of each row as a column of H; −1 for a zero row.
        certificate_: certificate of the factor: error, floor, excess, gradient, agreement.
        result_: the complete result of the run.
        n_iter_: number of iterations.

    Example:
        >>> import numpy as np
        >>> SymNMF(n_components=2).fit(np.kron(np.eye(2), np.ones((3, 3)))).labels_.shape
        (6,)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        solver: str = SOLVER,
        random_state: int = SEED,
        start: str | None = None,
        n_init: int | None = None,
        max_iter: int | None = None,
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


class DependenceFactors(BaseEstimator):  # type: ignore[misc]
    """Groups of instruments from a table: read, estimate the dependence, factorize, certify.

    Arguments:
        n_components: number of groups; None for the number that :func:`symnmf.suggest_rank` finds.
        dependence: ``"tail"`` (who crashes together) or ``"correlation"`` (who moves together).
        kind: contents of the table: ``"returns"`` or ``"prices"``.
        missing, max_missing: policy for missing numbers; see :func:`symnmf.read_panel`.
        dependence_options: further arguments of :func:`symnmf.tail_dependence` or
            :func:`symnmf.abs_correlation`.
        solver, random_state, n_init: as for :class:`symnmf.SymNMF`.
        options: hyper-parameters of the solver.

    Attributes:
        loadings_: table of names and loadings, of the same type as the input table.
        labels_: table of names, groups (numbered from 1; 0 for no group) and margins.
        certificate_: certificate of the factor: error, floor, excess, gradient, agreement.
        operator_: dependence matrix; ``operator_.provenance`` states how it was estimated.
        panel_summary_: summary of what was done to the table.
        exceedance_dates_: dates of the extreme observations (``"tail"`` only, else None).
        analysis_: the analysis, without the evidence of a report.
        result_: the complete result of the run.

    Example:
        >>> from symnmf.data.samples import sp500_prices
        >>> model = DependenceFactors(4, kind="prices").fit(sp500_prices())
        >>> model.loadings_.shape, model.certificate_.converged
        ((20, 5), True)
    """

    def __init__(
        self,
        n_components: int | None = 2,
        *,
        dependence: str = DEPENDENCE,
        kind: str = "returns",
        missing: str = MISSING,
        max_missing: float = MAX_MISSING,
        dependence_options: dict[str, Any] | None = None,
        solver: str = SOLVER,
        random_state: int = SEED,
        n_init: int | None = None,
        options: dict[str, Any] | None = None,
    ):
        self.n_components = n_components
        self.dependence = dependence
        self.kind = kind
        self.missing = missing
        self.max_missing = max_missing
        self.dependence_options = dependence_options
        self.solver = solver
        self.random_state = random_state
        self.n_init = n_init
        self.options = options

    def fit(self, X: Any, y: Any = None) -> DependenceFactors:
        """Find the groups of a table; ``y`` is ignored."""
        self.analysis_ = analyse(
            X,
            self.n_components,
            kind=self.kind,
            dependence=self.dependence,
            dependence_options=self.dependence_options,
            missing=self.missing,
            max_missing=self.max_missing,
            solver=self.solver,
            seed=self.random_state,
            n_init=self.n_init,
            options=self.options,
            evidence=False,
        )
        self.result_, self.operator_ = self.analysis_.result, self.analysis_.operator
        panel = self.analysis_.panel
        self.panel_summary_ = None if panel is None else panel.summary
        self.certificate_ = self.result_.certificate
        self.loadings_ = _table(X, loadings_columns(self.result_))
        self.labels_ = _table(X, labels_columns(self.result_))
        dates = getattr(self.operator_.provenance, "dates", None)
        self.exceedance_dates_ = None if dates is None else list(dates)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the groups of a table and return the label of each instrument.

        Labels are columns of H from 0, in the order of the columns of the table that remain.
        """
        return np.asarray(self.fit(X).result_.labels().cpu().numpy())

    def score(self, X: Any, y: Any = None) -> float:
        """How well the groups explain the dependence of other days; ``y`` is ignored.

            1 − (1 − R²(H Hᵀ, S')) / (1 − R²(one factor, S')),   over the off-diagonal entries

        S' is the dependence matrix of the table X, and R² the squared correlation of its entries
        with those of the fit. The score is 0 for groups that predict no better than the leading
        factor of the fit, and 1 for a perfect prediction. It makes ``cross_val_score`` and
        ``GridSearchCV`` work over the number of groups and the options of the dependence; pass
        them ``KFold(shuffle=False)`` or a split by time, and returns instead of prices.

        Arguments:
            X: table with the instruments of the fit.
            y: ignored.

        Raises:
            InvalidInput: the table has not the instruments of the fit.
        """
        check_is_fitted(self, "result_")
        other = load_data(
            X,
            self.kind,
            self.dependence,
            self.dependence_options or {},
            self.missing,
            self.max_missing,
            {},
        ).operator
        return score_on(self.result_, self.operator_, other)


def _table(like: Any, columns: dict[str, Any]) -> Any:
    """A table of the same library as another one; pandas for files and arrays."""
    import narwhals as nw

    backend: Any = "pandas"
    if not isinstance(like, str | np.ndarray) and nw.dependencies.is_into_dataframe(like):
        backend = nw.from_native(like, eager_only=True).implementation
    return nw.from_dict(columns, backend=backend).to_native()
