"""Groups that move together, or crash together: certified symmetric NMF of dependence matrices.

import symnmf as sn
b = sn.benchmark_matrix("tpdm", n=1000, seed=7)
result = sn.factorize(b.operator, k=b.k)
print(result.certificate)
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0.dev0"

#: Public name → module; each loads when it is first used.
_HOME = {
    "Certificate": "certificate",
    "Checkpoint": "engine",
    "DependenceFactors": "factors",
    "GramOperator": "operators",
    "Monitor": "engine",
    "Result": "contract",
    "Status": "contract",
    "SymNMF": "estimator",
    "SymmetricOperator": "operators",
    "SymnmfError": "errors",
    "abs_correlation": "dependence.correlation",
    "align": "groups.naming",
    "as_operator": "operators",
    "benchmark_matrix": "synthetic",
    "bootstrap": "groups.stability",
    "compare": "groups.naming",
    "factorize": "factorize",
    "generate": "generate",
    "group_of": "groups.naming",
    "group_returns": "groups.risk",
    "load": "results",
    "load_rolling": "groups.windows",
    "loadings_for": "groups.risk",
    "open_matrix": "operators.store",
    "plan": "plan",
    "plot": "plot",
    "read_matrix": "data",
    "read_panel": "data",
    "recommend": "recommend",
    "rolling": "groups.rolling",
    "save": "results",
    "save_rolling": "groups.windows",
    "significance": "groups.stability",
    "silhouette": "groups.silhouette",
    "solvers": "solvers",
    "spherical_kmeans": "groups.spherical_kmeans",
    "suggest_rank": "groups.rank",
    "tail_dependence": "dependence.tail",
    "tail_risk": "groups.risk",
    "tail_scales": "groups.risk",
    "variance_risk": "groups.risk",
    "write_matrix": "operators.writer",
    "write_report": "report",
}

__all__ = ["__version__", *_HOME]

if TYPE_CHECKING:
    from symnmf import plot
    from symnmf.certificate import Certificate
    from symnmf.contract import Result, Status
    from symnmf.data import read_matrix, read_panel
    from symnmf.dependence.correlation import abs_correlation
    from symnmf.dependence.tail import tail_dependence
    from symnmf.engine import Checkpoint, Monitor
    from symnmf.errors import SymnmfError
    from symnmf.estimator import SymNMF
    from symnmf.factorize import factorize
    from symnmf.factors import DependenceFactors
    from symnmf.generate import generate
    from symnmf.groups.naming import align, compare, group_of
    from symnmf.groups.rank import suggest_rank
    from symnmf.groups.risk import (
        group_returns,
        loadings_for,
        tail_risk,
        tail_scales,
        variance_risk,
    )
    from symnmf.groups.rolling import rolling
    from symnmf.groups.silhouette import silhouette
    from symnmf.groups.spherical_kmeans import spherical_kmeans
    from symnmf.groups.stability import bootstrap, significance
    from symnmf.groups.windows import load_rolling, save_rolling
    from symnmf.operators import GramOperator, SymmetricOperator, as_operator
    from symnmf.operators.store import open_matrix
    from symnmf.operators.writer import write_matrix
    from symnmf.plan import plan
    from symnmf.recommend import recommend
    from symnmf.report import write_report
    from symnmf.results import load, save
    from symnmf.solvers.registry import solvers
    from symnmf.synthetic import benchmark_matrix


#: Modules with the name of the function in them.
HIDING = ("factorize", "generate", "plan", "recommend")


class _Package(ModuleType):
    """The package: public names load on first use, and win over modules of the same name."""

    def __getattr__(self, name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'symnmf' has no attribute {name!r}")
        module = import_module(f"symnmf.{_HOME[name]}")
        value = module if name in ("plot", "solvers") else getattr(module, name)
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Importing a module would otherwise hide the function of its name.
        if not (isinstance(value, ModuleType) and name in HIDING):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(__all__)


sys.modules[__name__].__class__ = _Package
