"""From the shell to report.html: one analysis, one order, one comparison, one lock, one set."""

import ast
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import faults
import symnmf as sn
from package_graph import ROOT
from symnmf.analysis.folder import ResultFolder
from symnmf.cli import main
from symnmf.data.samples import sp500_prices
from symnmf.errors import FolderBusy, InvalidFile
from symnmf.report import gather, render

#: The command line shows warnings as lines; here they would end it.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@pytest.fixture
def prices(tmp_path):
    path = tmp_path / "prices.parquet"
    sp500_prices().iloc[:3000].to_parquet(path)
    return path


def call(*arguments):
    """Run the command line; its exit code."""
    before, sys.argv = sys.argv, ["symnmf", *map(str, arguments)]
    try:
        main()
        return 0
    except SystemExit as end:
        return end.code or 0
    finally:
        sys.argv = before


class Counter:
    """Replaces a function in every module that has it, and counts its calls."""

    def __init__(self, monkeypatch, home, name):
        self.calls, self.inner = [], getattr(home, name)

        def counted(*args, **kwargs):
            self.calls.append(args)
            return self.inner(*args, **kwargs)

        for module in list(sys.modules.values()):
            ours = getattr(module, "__name__", "").startswith("symnmf")
            if ours and getattr(module, name, None) is self.inner:
                monkeypatch.setattr(module, name, counted)


def test_fit_passes_the_pipeline_once(prices, tmp_path, monkeypatch):
    import symnmf.analysis.folder
    import symnmf.analysis.pipeline
    import symnmf.core.labels
    import symnmf.engine.driver
    import symnmf.engine.exact_result
    import symnmf.grouping.comparison
    import symnmf.report.content
    import symnmf.storage.locking
    import symnmf.storage.manifest

    sectors = tmp_path / "sectors.csv"
    pd.DataFrame({"name": ["XOM", "CVX", "KO", "PEP"], "class": list("oofo")}).to_csv(
        sectors, index=False
    )
    homes = {
        "analyse": symnmf.analysis.pipeline,
        "load_data": symnmf.analysis.loading,
        "in_group_order": symnmf.core.labels,
        "solve": symnmf.engine.driver,
        "compare": symnmf.grouping.comparison,
        "gather": symnmf.report.content,
        "lock": symnmf.storage.locking,
        "write_set": symnmf.storage.manifest,
    }
    count = {name: Counter(monkeypatch, home, name) for name, home in homes.items()}
    out = tmp_path / "out"
    arguments = ["fit", "--prices", prices, "--k", 3, "--compare", sectors, "--out", out]
    assert call(*arguments) == 0
    made = {name: len(counter.calls) for name, counter in count.items()}
    assert made["analyse"] == made["load_data"] == made["gather"] == 1
    assert made["lock"] == made["write_set"] == 1
    # The other kind of dependence is a second fit, and one of two groups begins the tree; each is
    # ordered once, never again.
    assert made["solve"] == made["in_group_order"] == 2 + 1
    # With the user's classes once; the other comparison is that of the two kinds of dependence.
    assert made["compare"] == 2
    assert sum("XOM" in args[1] and args[1]["XOM"] == "o" for args in count["compare"].calls) == 1
    assert (out / "report.html").is_file()


def test_a_folder_is_held_from_the_beginning_of_a_run(tmp_path):
    with ResultFolder.held(tmp_path), pytest.raises(FolderBusy):
        sn.save(sn.factorize([[1.0, 0.5], [0.5, 1.0]], 1), tmp_path)


SLOW_REPORT = """
import sys, time
import symnmf.report.content as content
from symnmf.cli import main
gather = content.gather
def slow(*args):
    print("waiting", flush=True)
    time.sleep(30)
    return gather(*args)
import symnmf.report
content.gather = symnmf.report.gather = slow
sys.argv = ["symnmf", "fit", "--prices", {prices!r}, "--k", "3", "--out", {out!r}]
main()
"""


def test_a_report_never_lies_beside_another_model(prices, tmp_path):
    """While one run makes its report, another cannot put its model into the folder."""
    out = tmp_path / "out"
    code = SLOW_REPORT.format(prices=str(prices), out=str(out))
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=faults.ENVIRONMENT, stdout=subprocess.PIPE, text=True
    )
    try:
        # The whole line: the path that the run prints first has the name of this test in it.
        while (line := child.stdout.readline()) != "waiting\n":
            assert line, "the run ended before its report"
        assert not (out / "manifest.json").exists()  # nothing is there before everything is
        assert call("fit", "--prices", prices, "--k", 2, "--out", out, "--force") == 2
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    # The run died during its report: nothing refuses the next one, which has all it needs.
    assert call("fit", "--prices", prices, "--k", 3, "--out", out, "--resume") == 0
    assert (out / "report.html").is_file()
    assert sn.load(out).H.shape[1] == 3


def test_resume_does_not_replace_a_finished_result(tmp_path, capsys):
    """An exact result leaves no checkpoint: only --force replaces it."""
    pd.DataFrame(
        [[1.0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]], list("abcd"), list("abcd")
    ).to_csv(tmp_path / "S.csv")
    out = tmp_path / "out"
    arguments = ["fit", "--matrix", tmp_path / "S.csv", "--out", out]
    assert call(*arguments, "--k", 2) == 0
    assert sn.load(out).status is sn.Status.EXACT
    capsys.readouterr()
    assert call(*arguments, "--k", 3, "--resume") == 2
    said = capsys.readouterr().err
    assert "ended EXACT" in said
    assert "--force" in said
    assert sn.load(out).H.shape[1] == 2
    assert call(*arguments, "--k", 3, "--force") == 0
    assert sn.load(out).H.shape[1] == 3


def test_resume_continues_a_run_that_was_cut_off(prices, tmp_path):
    out = tmp_path / "out"
    arguments = ["fit", "--prices", prices, "--k", 3, "--solver", "admm", "--out", out]
    assert call(*arguments, "--max-iter", 5, "--no-report") == 1
    assert sn.load(out).status is sn.Status.MAX_ITER
    assert call(*arguments, "--no-report") == 2
    assert call(*arguments, "--resume", "--no-report") == 0
    assert sn.load(out).status is sn.Status.CONVERGED
    assert any("resumed at iteration 5" in note for note in sn.load(out).notes)


@pytest.mark.slow
def test_a_restart_replaces_what_the_same_run_wrote(prices, tmp_path, monkeypatch):
    """A process that dies after the result was written is started again with the same command."""
    out = tmp_path / "out"
    arguments = ["fit", "--prices", prices, "--k", 3, "--out", out]
    assert call(*arguments) == 0
    (out / "report.html").unlink()
    monkeypatch.setitem(os.environ, "SYMNMF_ATTEMPT", "1")
    assert call(*arguments) == 0
    assert (out / "report.html").is_file()
    assert call(*arguments[:-1], out, "--seed", 3) == 2  # another run is not this one's to replace


def test_wrong_input_leaves_no_folder(tmp_path):
    out = tmp_path / "out"
    assert call("fit", "--prices", tmp_path / "no.csv", "--out", out) == 2
    assert not out.exists()


def test_a_refused_folder_stays_as_it_is(tmp_path):
    (tmp_path / "labels.csv").write_text("mine")
    with pytest.raises(InvalidFile, match="already exists"):
        sn.save(sn.factorize([[1.0, 0.5], [0.5, 1.0]], 1), tmp_path)
    assert (tmp_path / "labels.csv").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir() if not p.name.startswith(".")] == ["labels.csv"]


#: What the report may know: answers and how to show them.
SHOWS = {
    "analysis",
    "core",
    "defaults",
    "display",
    "errors",
    "grouping",
    "plot",
    "report",
    "storage",
}


@pytest.mark.parametrize("path", sorted((ROOT / "report").glob("*.py")), ids=lambda p: p.stem)
def test_the_report_imports_no_estimator_and_no_solver(path):
    for node in ast.walk(ast.parse(Path(path).read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("symnmf."):
            assert node.module.split(".")[1] in SHOWS, node.module
            names = {alias.name for alias in node.names}
            assert not names & {"factorize", "run", "solve", "estimate", "Problem"}, names


def test_a_report_needs_the_evidence():
    found = sn.analyse([[1.0, 0.5], [0.5, 1.0]], 1, kind="matrix", evidence=False)
    with pytest.raises(sn.SymnmfError, match="no evidence"):
        sn.write_report("nowhere.html", found)


def test_a_table_without_groups_is_said_to_have_none():
    values = np.random.default_rng(0).normal(size=(400, 30))
    found = sn.analyse(values, kind="returns", dependence="correlation")
    assert found.result.H.shape[1] == found.rank.k == 1
    assert "no groups" in found.result.notes[0]
    assert "no groups" in render(gather(found))


def test_the_confidence_of_members_is_written_and_shown(tmp_path):
    rng = np.random.default_rng(0)
    values = np.repeat(rng.normal(size=(300, 2)), 6, axis=1) + rng.normal(size=(300, 12))
    found = sn.analyse(values, 2, kind="returns", dependence="correlation", resamples=3)
    assert found.stability.draws == 3
    sn.save(found, tmp_path / "out")
    table = pd.read_csv(tmp_path / "out" / "labels.csv")
    np.testing.assert_allclose(table["confidence"], found.stability.members, atol=1e-6)
    assert "confidence" in render(gather(found))
