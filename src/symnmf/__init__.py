"""Groups that move together, or crash together: certified symmetric NMF of dependence matrices.

Example:
    >>> import symnmf as sn
    >>> b = sn.benchmark_matrix("tpdm", n=100, seed=7)
    >>> result = sn.factorize(b.operator, k=b.k)
    >>> result.certificate.converged
    True
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

#: Version of the numerical results of the solvers. Benchmark results are stored under it; a change
#: that alters the digits of a result raises it, and the published results are measured again.
NUMERICS = 1

#: Public name → the module that defines it; the module is imported when the name is first used.
_HOME = {
    "Analysis": "analysis",
    "Certificate": "core.certificate",
    "Checkpoint": "storage.checkpoint",
    "DependenceFactors": "estimators",
    "GramOperator": "operators",
    "Group": "grouping.naming",
    "Monitor": "engine",
    "Result": "core.result",
    "Status": "core.result",
    "SymNMF": "estimators",
    "SymmetricOperator": "operators",
    "SymnmfError": "errors",
    "abs_correlation": "dependence.correlation",
    "align": "grouping.comparison",
    "analyse": "analysis",
    "as_operator": "operators",
    "benchmark_matrix": "dependence.synthetic",
    "bootstrap": "grouping.stability",
    "compare": "grouping.comparison",
    "compare_periods": "grouping.two_periods",
    "crash_model": "grouping.crash_model",
    "factorize": "factorization",
    "factorize_many": "many_problems",
    "generate": "dependence.synthetic",
    "group_for": "grouping.new_instruments",
    "group_of": "grouping.naming",
    "group_returns": "grouping.group_series",
    "groups": "grouping.naming",
    "hierarchy": "grouping.hierarchy",
    "load": "analysis.folder",
    "load_rolling": "grouping.rolling_folder",
    "loadings_for": "grouping.new_instruments",
    "open_matrix": "operators.stored",
    "plan": "planning.requirements",
    "portfolio_risk": "grouping.position_risk",
    "prototypes": "grouping.prototypes",
    "read_matrix": "data",
    "read_panel": "data",
    "recommend": "planning.recommendation",
    "rolling": "grouping.rolling",
    "save": "analysis.folder",
    "save_rolling": "grouping.rolling_folder",
    "significance": "grouping.significance",
    "silhouette": "grouping.silhouette",
    "simulate": "grouping.simulated_crashes",
    "spherical_kmeans": "grouping.spherical_kmeans",
    "suggest_rank": "grouping.rank_selection",
    "tail_dependence": "dependence.tail",
    "tail_risk": "grouping.portfolio_risk",
    "tail_scales": "grouping.portfolio_risk",
    "variance_risk": "grouping.portfolio_risk",
    "write_matrix": "operators.stored",
    "write_report": "report",
}
#: Packages whose ``__all__`` is also public.
_PACKAGES = ("operators", "plot", "solvers", "testing")

__all__ = ["__version__", *_HOME, *_PACKAGES]

if TYPE_CHECKING:
    from symnmf import operators, plot, solvers, testing
    from symnmf.analysis import Analysis, analyse
    from symnmf.analysis.folder import load, save
    from symnmf.core.certificate import Certificate
    from symnmf.core.result import Result, Status
    from symnmf.data import read_matrix, read_panel
    from symnmf.dependence.correlation import abs_correlation
    from symnmf.dependence.synthetic import benchmark_matrix, generate
    from symnmf.dependence.tail import tail_dependence
    from symnmf.engine import Monitor
    from symnmf.errors import SymnmfError
    from symnmf.estimators import DependenceFactors, SymNMF
    from symnmf.factorization import factorize
    from symnmf.grouping.comparison import align, compare
    from symnmf.grouping.crash_model import crash_model
    from symnmf.grouping.group_series import group_returns
    from symnmf.grouping.hierarchy import hierarchy
    from symnmf.grouping.naming import Group, group_of, groups
    from symnmf.grouping.new_instruments import group_for, loadings_for
    from symnmf.grouping.portfolio_risk import tail_risk, tail_scales, variance_risk
    from symnmf.grouping.position_risk import portfolio_risk
    from symnmf.grouping.prototypes import prototypes
    from symnmf.grouping.rank_selection import suggest_rank
    from symnmf.grouping.rolling import rolling
    from symnmf.grouping.rolling_folder import load_rolling, save_rolling
    from symnmf.grouping.significance import significance
    from symnmf.grouping.silhouette import silhouette
    from symnmf.grouping.spherical_kmeans import spherical_kmeans
    from symnmf.grouping.stability import bootstrap
    from symnmf.grouping.two_periods import compare_periods
    from symnmf.many_problems import factorize_many
    from symnmf.operators import GramOperator, SymmetricOperator, as_operator
    from symnmf.operators.stored import open_matrix, write_matrix
    from symnmf.planning.recommendation import recommend
    from symnmf.planning.requirements import plan
    from symnmf.report import write_report
    from symnmf.storage.checkpoint import Checkpoint


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"symnmf.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'symnmf' has no attribute {name!r}")
    value = getattr(import_module(f"symnmf.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
