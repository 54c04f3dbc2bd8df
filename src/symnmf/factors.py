"""The scikit-learn estimator that takes a table of returns or prices."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from symnmf.data.panel import read_panel
from symnmf.dependence import estimate
from symnmf.factorize import factorize
from symnmf.groups.naming import ordered


class DependenceFactors(BaseEstimator):  # type: ignore[misc]
    """Groups of instruments from a table: read, estimate the dependence, factorize, certify.

    Parameters:
        n_components: number of groups.
        dependence: ``"tail"`` (who crashes together) or ``"correlation"`` (who moves together).
        kind: what the table holds: ``"returns"`` or ``"prices"``.
        missing, max_missing: policy for missing numbers; see :func:`symnmf.data.read_panel`.
        dependence_options: further arguments of :func:`symnmf.tail_dependence` or
            :func:`symnmf.abs_correlation`.
        solver, random_state, n_init: as in :class:`symnmf.SymNMF`.
        options: hyper-parameters of the solver.

    Attributes:
        loadings_: table of names and loadings, of the type that came in.
        labels_: table of names, groups (−1 for none) and margins.
        certificate_: how good the factor is.
        operator_: the dependence matrix; ``operator_.about`` how it was estimated.
        panel_summary_: what was done to the table.
        exceedance_dates_: dates of the extreme observations (``"tail"`` only, else None).
        result_: everything about the run.

    Example:
        >>> from symnmf.data.samples import sp500_prices
        >>> model = DependenceFactors(4, kind="prices").fit(sp500_prices())
        >>> model.loadings_.shape, model.certificate_.converged
        ((20, 5), True)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        dependence: str = "tail",
        kind: str = "returns",
        missing: str = "error",
        max_missing: float = 0.0,
        dependence_options: dict[str, Any] | None = None,
        solver: str = "auto",
        random_state: int = 0,
        n_init: int = 5,
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
        panel = read_panel(X, kind=self.kind, missing=self.missing, max_missing=self.max_missing)
        self.operator_ = estimate(self.dependence, panel, **(self.dependence_options or {}))
        self.result_ = factorize(
            self.operator_,
            self.n_components,
            self.solver,
            seed=self.random_state,
            n_init=self.n_init,
            **(self.options or {}),
        )
        self.result_ = ordered(self.result_)
        self.panel_summary_ = panel.summary
        self.certificate_ = self.result_.certificate
        H = self.result_.H.cpu().numpy()
        loadings = {f"group_{j}": H[:, j] for j in range(H.shape[1])}
        self.loadings_ = _table(X, {"name": list(panel.names), **loadings})
        self.labels_ = _table(
            X,
            {
                "name": list(panel.names),
                "group": self.result_.labels().cpu().numpy(),
                "margin": self.result_.margins().cpu().numpy(),
            },
        )
        dates = getattr(self.operator_.about, "dates", None)
        self.exceedance_dates_ = None if dates is None else list(dates)
        return self

    def fit_predict(self, X: Any, y: Any = None) -> np.ndarray:
        """Group of each instrument, in the order of the columns that were kept."""
        return np.asarray(self.fit(X).result_.labels().cpu().numpy())


def _table(like: Any, columns: dict[str, Any]) -> Any:
    """A table of the same library as another one; pandas for files and arrays."""
    import narwhals as nw

    backend: Any = "pandas"
    if not isinstance(like, str | np.ndarray) and nw.dependencies.is_into_dataframe(like):
        backend = nw.from_native(like, eager_only=True).implementation
    return nw.from_dict(columns, backend=backend).to_native()
