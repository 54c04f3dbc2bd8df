"""Commands import torch without the parts that they do not use."""

import subprocess
import sys
from pathlib import Path

from symnmf.cli.deferred_modules import Deferred, deferring
from symnmf.cli.quick_start import TESTED

ROOT = Path(__file__).parents[2]


def package(folder: Path) -> None:
    (folder / "larder").mkdir()
    (folder / "larder" / "__init__.py").write_text("from larder import jam\n")
    (folder / "larder" / "jam.py").write_text("kind = 'plum'\nopened = []\n")


def test_a_deferred_module_is_read_at_the_first_use_of_a_name(tmp_path, monkeypatch):
    package(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = list(sys.meta_path)
    with deferring({"larder.jam", "larder.nothing"}):
        import larder
    assert sys.meta_path == before
    jam = sys.modules["larder.jam"]
    assert type(jam) is Deferred
    assert jam.__file__ == str(tmp_path / "larder" / "jam.py")
    assert not hasattr(jam, "__wrapped__")
    assert type(jam) is Deferred
    assert larder.jam.kind == "plum"
    assert type(jam) is not Deferred
    assert not hasattr(jam, "honey")


def test_the_version_of_torch_that_tests_use_is_tested_without_its_unused_parts():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = next(line.partition("==")[2] for line in lines if line.startswith("torch=="))
    assert ".".join(pinned.split(".")[:2]) in TESTED


def test_parts_of_torch_that_were_left_out_can_be_used():
    code = (
        "from symnmf.cli.quick_start import load_libraries; load_libraries(); import sys, torch; "
        "late = type(sys.modules['torch.export']).__name__; x = torch.ones(2, 2, device='meta'); "
        "print(late, callable(torch.export.export), torch.optim.SGD.__name__, "
        "torch.rand(2, generator=torch.Generator().manual_seed(0)).shape, (x @ x).shape)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    late = "Deferred" if done.stdout.startswith("Deferred") else "module"
    shape = "torch.Size([2]) torch.Size([2, 2])"
    assert done.stdout.strip() == f"{late} True SGD {shape}", done.stderr
