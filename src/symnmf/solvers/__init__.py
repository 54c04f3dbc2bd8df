"""The algorithms, each a frozen dataclass of hyper-parameters; the registry names them.

Calling the package lists the registry:

>>> import symnmf as sn
>>> sn.solvers()["admm"].reference
'Boyd et al. 2011'
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from symnmf.solvers.registry import Row


class _Solvers(ModuleType):
    def __call__(self) -> dict[str, Row]:
        from symnmf.solvers.registry import solvers

        return solvers()


sys.modules[__name__].__class__ = _Solvers
