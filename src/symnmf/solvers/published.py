"""The methods as the founding paper publishes them: options, starts and steps per size.

Only what the paper states is here (its sections 5.1 and 5.3 and appendix C); an option that it
leaves open keeps our default. Where the registry has a variant of our own (an annealed step, a
rescaled start), the published form switches it off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Options = Mapping[str, Any]

#: Start and clamp of the authors' public code, github.com/NVIDIA/SymNMF-factors.
CODE_START, CODE_FLOOR = "uniform", 1e-16

_LITERAL: Options = {"armijo": "literal"}
_ADAGRAD: Options = {"eta": 2.0}
_RMSPROP: Options = {"eta": 0.05, "alpha": 0.99, "momentum": 0.5, "anneal": 1.0}
_ADAM: Options = {"eta": 0.01, "beta1": 0.9, "beta2": 0.999, "anneal": 1.0}
_ADAN: Options = {"beta1": 0.02, "beta2": 0.08, "beta3": 0.01, "anneal": 1.0}
_NEWTON: Options = {"eta": 0.1, "reg": 0.5}
_LBFGS: Options = {"pairs": 100, "free_only": False}
_RESET: Options = {"memory_iters": 10.0, "gate": "margin", "margin": 3.0}
_ROWS: Options = {"eta": 2.0, "phi": 0.5}
_ENTRIES: Options = {"phi": 0.2}
_GROWING: Options = {"eta": 1.0, "phi": 0.25}
_BLOCKS: Options = {"phi": 0.5}
_AS_SEEN: Options = {"rescale": False}
_FRESH: Options = {**_AS_SEEN, "whole_snapshot": False}
_SOFTPLUS: Options = {"unit": 1.0}

#: Row → options of Phase 1, n ≤ 10⁴.
PHASE_1: dict[str, Options] = {
    "mu": {"eps": 1.2e-7},
    "mu-nndsvd": {"eps": 1.2e-7},
    "mu-trace": {"eps": 1.2e-7},
    "exponentiated-gradient": {},
    "pgd": _LITERAL,
    "pgd-momentum": {},
    "fista": _LITERAL,
    "adagrad": _ADAGRAD,
    "rmsprop": _RMSPROP,
    "adam": _ADAM,
    "nadam": _ADAM,
    "adan": _ADAN,
    "piecewise-adagrad": {"eta": 1.0, **_RESET},
    "row-adagrad": _ROWS,
    "row-svrg": {**_ROWS, **_AS_SEEN},
    "row-reset": {**_ROWS, **_RESET, "full_batch_only": False},
    "entry-adagrad": _ENTRIES,
    "entry-svrg": {**_ENTRIES, **_FRESH},
    "entry-reset": {**_ENTRIES, **_RESET, "full_batch_only": False},
    "entry-averaged": _ENTRIES,
    "entry-dual-averaging": _ENTRIES,
    "adaptgrow": _GROWING,
    "adaptgrow-svrg": {**_GROWING, **_FRESH},
    "adaptgrow-reset": {**_GROWING, **_RESET},
    "block-adaptgrow": _BLOCKS,
    "block-svrg-adaptgrow": {**_BLOCKS, **_FRESH},
    "block-reset-adaptgrow": {**_BLOCKS, **_RESET},
    "block-svrg-reset-adaptgrow": {**_BLOCKS, **_RESET, **_FRESH},
    "hals": {"alpha": 100.0, "rescale_start": False},
    "anls": {"alpha": 100.0, "rescale_start": False},
    "newton": _NEWTON,
    "lbfgs": _LBFGS,
    "pgncg": {},
    "admm": {"rho": 500.0},
    "lai": {
        "alpha": 100.0,
        "rescale_start": False,
        "refine": False,
        "sketch": "randomized",
        "oversampling": 10,
        "power_steps": 2,
    },
    "symnmf-net": {"blocks": 5, "rate": 0.1, "one_lambda": True},
    "pgd-log": {**_LITERAL, **_SOFTPLUS},
    "pgd-momentum-log": _SOFTPLUS,
    "fista-log": {**_LITERAL, **_SOFTPLUS},
    "adagrad-log": {**_ADAGRAD, **_SOFTPLUS},
    "rmsprop-log": {**_RMSPROP, **_SOFTPLUS},
    "adam-log": {**_ADAM, **_SOFTPLUS},
    "nadam-log": {**_ADAM, **_SOFTPLUS},
    "adan-log": {**_ADAN, **_SOFTPLUS},
    "newton-log": {**_NEWTON, **_SOFTPLUS},
    "lbfgs-log": {**_LBFGS, **_SOFTPLUS},
    "pgncg-log": _SOFTPLUS,
}

#: (row, "tpdm" or "corr") → options at n = 10⁵ and at n = 10⁶ (its table of configurations).
PHASE_2: dict[tuple[str, str], tuple[Options, Options | None]] = {
    ("adagrad", "corr"): ({"eta": 96.0}, {"eta": 384.0}),
    ("adagrad", "tpdm"): ({"eta": 32.0}, {"eta": 32.0}),
    ("piecewise-adagrad", "corr"): (
        {"eta": 128.0, "memory_iters": 10.0},
        {"eta": 0.75, "memory_iters": 200.0},
    ),
    ("piecewise-adagrad", "tpdm"): (
        {"eta": 32.0, "memory_iters": 10.0},
        {"eta": 0.5, "memory_iters": 20.0},
    ),
    ("row-svrg", "corr"): (
        {"eta": 128.0, "phi": 0.75, "period": 10},
        {"eta": 256.0, "phi": 0.75, "period": 5},
    ),
    ("row-svrg", "tpdm"): (
        {"eta": 64.0, "phi": 0.75, "period": 10},
        {"eta": 16.0, "phi": 0.75, "period": 5},
    ),
    ("block-svrg-adaptgrow", "corr"): (
        {"eta": 64.0, "phi": 0.75, "period": 10},
        {"eta": 256.0, "phi": 0.5, "period": 10},
    ),
    ("block-svrg-adaptgrow", "tpdm"): (
        {"eta": 24.0, "phi": 0.75, "period": 10},
        {"eta": 20.0, "phi": 0.75, "period": 5},
    ),
    ("rmsprop", "corr"): (
        {"eta": 0.4, "momentum": 0.5, "alpha": 0.999},
        {"eta": 32.0, "momentum": 0.25, "alpha": 0.99},
    ),
    ("rmsprop", "tpdm"): (
        {"eta": 0.4, "momentum": 0.25, "alpha": 0.999},
        {"eta": 1.6, "momentum": 0.75, "alpha": 0.999},
    ),
    ("admm", "corr"): ({"rho": 500.0}, None),
    ("admm", "tpdm"): ({"rho": 500.0}, None),
}
