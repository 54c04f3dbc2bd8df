"""scikit-learn estimators for a precomputed matrix and for a table."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from symnmf.analysis import analyse
from symnmf.analysis.loading import load_data
from symnmf.core.objective import off_diagonal_fit
from symnmf.data import Panel
from symnmf.data.plausibility import around_a_level
from symnmf.defaults import DEPENDENCE, MAX_MISSING, MISSING, SEED, SOLVER
from symnmf.dependence.tail_request import TooFewExtremes
from symnmf.errors import DataWarning
from symnmf.factorization import factorize
from symnmf.grouping.held_out import score_on
from symnmf.grouping.rank_selection import suggest_rank
from symnmf.grouping.result_tables import labels_columns, labels_table, loadings_columns
from symnmf.operators import SymmetricOperator, as_operator
from symnmf.operators.devices import computing_on


class SymNMF(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Symmetric non-negative matrix factorization of a precomputed dependence matrix.

    Arguments:
        n_components: number of columns of H; ``"auto"`` for the number that
            :func:`symnmf.suggest_rank` finds.
        solver: name of a solver (``symnmf solvers`` lists them), or ``"auto"``.
        random_state: seed of the start and of every draw; a generator of numpy or None draws one.
        start: ``"random"`` or ``"nndsvd"``; by default the start that the solver asks for.
        n_init: number of starts on a surrogate; more than one start measures their agreement. By
            default as for :func:`symnmf.factorize`.
        max_iter: maximum number of iterations; by default as for :func:`symnmf.factorize`.
        options: hyper-parameters of the solver.
        device: device of the fit: ``"auto"``, ``"cpu"`` or ``"cuda"``; by default that of the data.

    Attributes:
        embedding_: (n, n_components) factor H with its columns in group order.
        labels_: (n,) group of each row as a column of H; −1 for a zero row.
        groups_: table of groups (numbered from 1; 0 for no group) and margins, indexed by name.
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
        n_components: int | str = 2,
        *,
        solver: str = SOLVER,
        random_state: Any = SEED,
        start: str | None = None,
        n_init: int | None = None,
        max_iter: int | None = None,
        options: dict[str, Any] | None = None,
        device: str | None = None,
    ):
        self.n_components = n_components
        self.solver = solver
        self.random_state = random_state
        self.start = start
        self.n_init = n_init
        self.max_iter = max_iter
        self.options = options
        self.device = device

    def fit(self, X: Any, y: Any = None) -> SymNMF:
        """Factorize the (n, n) matrix or operator X; ``y`` is ignored."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Factorize the (n, n) matrix or operator X and return H."""
        S = self._operator(X, reset=True)
        seed = seed_of(self.random_state)
        k = self.n_components
        with computing_on(self.device):
            self.result_ = factorize(
                S,
                suggest_rank(S, seed=seed).k if k == "auto" else k,  # type: ignore[arg-type]
                self.solver,
                seed=seed,
                start=self.start,
                n_init=self.n_init,
                max_iter=self.max_iter,
                **(self.options or {}),
            )
        self.embedding_ = self.result_.H.cpu().numpy()
        self.labels_ = self.result_.labels().cpu().numpy()
        self.groups_ = labels_table(self.result_)
        self.certificate_ = self.result_.certificate
        self.n_iter_ = self.result_.iterations
        return self.embedding_

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Factorize the (n, n) matrix X and return the labels."""
        return self.fit(X).labels_

    def score(self, X: Any, y: Any = None) -> float:
        """Share of the entries of another (n, n) matrix that H explains, without the diagonal.

            1 − Σ_{i≠j} (X − H Hᵀ)²_ij / Σ_{i≠j} X²_ij

        Arguments:
            X: matrix of the same instruments, such as that of other days; ``y`` is ignored.
        """
        check_is_fitted(self)
        return off_diagonal_fit(self._operator(X, reset=False), self.result_.H)

    def _operator(self, X: Any, *, reset: bool) -> SymmetricOperator:
        """The matrix as an operator, with the names of its columns."""
        if isinstance(X, SymmetricOperator):
            if reset:
                self.n_features_in_ = X.n
            return X
        names = None if not hasattr(X, "columns") else [str(c) for c in X.columns]
        X = validate_data(
            self, X, dtype=[np.float64, np.float32], ensure_min_samples=2, reset=reset
        )
        if X.shape[0] != X.shape[1]:
            names = None  # the error of as_operator says more
        return as_operator(X, names=names, argument="X" if reset else "S")

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def seed_of(random_state: Any) -> int:
    """A seed, from a number, a generator of numpy, or None for one that is drawn.

    Example:
        >>> seed_of(5), seed_of(np.random.RandomState(0)) == seed_of(np.random.RandomState(0))
        (5, True)
    """
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


class DependenceFactors(BaseEstimator):  # type: ignore[misc]
    """Groups of instruments from a table: read, estimate the dependence, factorize, certify.

    A table with fewer than 25 extreme rows, and levels in place of returns, are errors. In an array
    without names, which is what scikit-learn passes, few extreme rows and noise around a level are
    warnings; prices in place of returns remain an error.

    Arguments:
        n_components: number of groups; ``"auto"`` or None for the number that
            :func:`symnmf.suggest_rank` finds.
        dependence: ``"tail"`` (who crashes together) or ``"correlation"`` (who moves together).
        kind: contents of the table: ``"returns"``, ``"prices"``, ``"values"`` or ``"auto"``.
        missing, max_missing: policy for missing numbers; see :func:`symnmf.read_panel`.
        dependence_options: further arguments of :func:`symnmf.tail_dependence` or
            :func:`symnmf.abs_correlation`.
        solver, random_state, n_init: as for :class:`symnmf.SymNMF`.
        options: hyper-parameters of the solver.
        device: device of the fit: ``"auto"``, ``"cpu"`` or ``"cuda"``; by default that of the data.

    Attributes:
        loadings_: table of names and loadings, of the same type as the input table.
        labels_: (n,) group of each instrument as a column of H; −1 for no group.
        groups_: table of names, groups (numbered from 1; 0 for no group) and margins, of the same
            type as the input table; a pandas table is indexed by name.
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
        n_components: int | str | None = 2,
        *,
        dependence: str = DEPENDENCE,
        kind: str = "returns",
        missing: str = MISSING,
        max_missing: float = MAX_MISSING,
        dependence_options: dict[str, Any] | None = None,
        solver: str = SOLVER,
        random_state: Any = SEED,
        n_init: int | None = None,
        options: dict[str, Any] | None = None,
        device: str | None = None,
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
        self.device = device

    def fit(self, X: Any, y: Any = None) -> DependenceFactors:
        """Find the groups of a table; ``y`` is ignored."""
        X = self._checked(X, reset=True)
        arguments: dict[str, Any] = {
            "dependence": self.dependence,
            "missing": self.missing,
            "max_missing": self.max_missing,
            "solver": self.solver,
            "seed": seed_of(self.random_state),
            "n_init": self.n_init,
            "options": self.options,
            "device": self.device,
            "evidence": False,
        }
        k = self.n_components
        self.analysis_ = self._lenient(
            X,
            lambda kind, chosen: analyse(X, k, kind=kind, dependence_options=chosen, **arguments),
        )
        self.result_, self.operator_ = self.analysis_.result, self.analysis_.operator
        panel = self.analysis_.panel
        self.panel_summary_ = None if panel is None else panel.summary
        self.certificate_ = self.result_.certificate
        self.loadings_ = _table(X, loadings_columns(self.result_))
        self.labels_ = self.result_.labels().cpu().numpy()
        self.groups_ = _table(X, labels_columns(self.result_))
        if hasattr(self.groups_, "set_index"):
            self.groups_ = self.groups_.set_index("name")
        dates = getattr(self.operator_.provenance, "dates", None)
        self.exceedance_dates_ = None if dates is None else list(dates)
        return self

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """An array or a list as scikit-learn checks them; tables and files are read later."""
        if isinstance(X, str | Path | Panel) or hasattr(X, "columns"):
            return X
        finite: Any = True if self.missing == "error" else "allow-nan"
        return validate_data(
            self, X, dtype=np.float64, ensure_min_samples=3, ensure_min_features=2 if reset else 1,
            ensure_all_finite=finite, reset=reset,
        )  # fmt: skip

    def _lenient(self, X: Any, work: Callable[[str, dict[str, Any]], Any]) -> Any:
        """What work finds with a kind of numbers and options of the dependence.

        An array without names is what scikit-learn passes, in its folds too: few extreme rows, and
        numbers around a level that no dependence is changed by, are warnings there and no errors.
        Prices in place of returns are an error everywhere.
        """
        kind, options = self.kind, dict(self.dependence_options or {})
        if not isinstance(X, np.ndarray):
            return work(kind, options)
        if kind == "returns" and around_a_level(X):
            kind = "values"
            warnings.warn(
                "no number is negative: taken as values around a level, not as returns",
                DataWarning,
                stacklevel=3,
            )
        try:
            return work(kind, options)
        except TooFewExtremes as error:
            few = error.problem
        warnings.warn(f"{few}: groups of so few are uncertain", DataWarning, stacklevel=3)
        return work(kind, {**options, "allow_few": True})

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Find the groups of a table and return the label of each instrument.

        Labels are columns of H from 0, in the order of the columns of the table that remain.
        """
        return np.asarray(self.fit(X).labels_)

    def score(self, X: Any, y: Any = None) -> float:
        """Fit of the groups to other days, relative to one factor alone.

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
        check_is_fitted(self)
        X = self._checked(X, reset=False)
        other = self._lenient(
            X,
            lambda kind, chosen: load_data(
                X, kind, self.dependence, chosen, self.missing, self.max_missing, {}
            ),
        ).operator
        return score_on(self.result_, self.operator_, other)


def _table(like: Any, columns: dict[str, Any]) -> Any:
    """A table of the same library as another one; pandas for files and arrays."""
    import narwhals as nw

    backend: Any = "pandas"
    if not isinstance(like, str | np.ndarray) and nw.dependencies.is_into_dataframe(like):
        backend = nw.from_native(like, eager_only=True).implementation
    return nw.from_dict(columns, backend=backend).to_native()
