"""The cells of the paper's tables: measured, or with a reason that some cell needs."""

from dataclasses import replace
from pathlib import Path

import pytest

from symnmf.bench.paper_cells import Cell, Reason, paper_cells
from symnmf.bench.results_store import Store
from symnmf.bench.study import load

STORE = Store(Path(__file__).parents[2] / "results")
FOUND = paper_cells()
#: Rows and columns of the paper's tables: methods, kinds of matrix, sizes.
TABLES = {
    "Phase 1": 15 * 2 * 3,
    "Phase 1, text": 7 * 2,
    "Fixed k = 25": 12 * 2,
    "Softplus": 10 * 2 * 3,
    "Spectral": 2 * 5,
    "Phase 2": 6 * 2 + 5 * 2,
    "K-means": 2 * 5,
    "Memory": 2,
}


def test_every_cell_is_measured_or_has_a_reason():
    assert FOUND.unaccounted(STORE) == []
    for table, cells in TABLES.items():
        assert sum(cell.table == table for cell in FOUND.cells) == cells, table
    assert len(FOUND.cells) == sum(TABLES.values())


def test_a_cell_without_a_run_and_a_reason_is_found(tmp_path):
    bare = replace(FOUND, reasons=())
    assert len(bare.unaccounted(Store(tmp_path))) == len(FOUND.cells)
    left = sum(not seeds for seeds in FOUND.seeds(STORE).values())
    assert len(bare.unaccounted(STORE)) == left < len(FOUND.cells)


def test_a_reason_that_no_cell_needs_is_found():
    idle = Reason("Phase 1", ("admm",), ("tpdm",), (100,), "made up")
    left = replace(FOUND, reasons=(*FOUND.reasons, idle)).unaccounted(STORE)
    assert left == ["Phase 1: the reason 'made up' is not needed"]


@pytest.mark.parametrize(("status", "seeds"), [("TIME_OUT", 0), ("MAX_ITER", 1), ("CONVERGED", 1)])
def test_a_run_that_was_cut_measures_nothing(tmp_path, status, seeds):
    about = {"solver": "admm", "kind": "corr4000", "n": 100_000, "seed": 7}
    Store(tmp_path).append("phase2", {**about, "found": {"status": status}})
    assert FOUND.seeds(Store(tmp_path))[Cell("Phase 2", "admm", "corr", 100_000)] == seeds


def test_bench_published_runs_every_method_of_the_tables():
    runs = {run.solver for run in load("published").runs()}
    assert {cell.solver for cell in FOUND.cells if cell.table != "Memory"} - {""} <= runs
