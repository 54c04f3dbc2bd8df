"""Windows on disk: written whole, read back, gone on with, refused when damaged."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

import symnmf as sn
from symnmf.errors import FolderBusy, InvalidFile
from symnmf.grouping import rolling as module
from symnmf.grouping import rolling_folder
from symnmf.storage.kinds import WINDOWS
from symnmf.storage.tensors import pack_json, unpack_json
from symnmf.storage.window_cache import UNFINISHED, unfinished


@pytest.fixture(scope="module")
def panel():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.eye(3), 4, axis=0)
    X = rng.standard_t(4, (500, 3)) @ groups.T + 0.3 * rng.standard_t(4, (500, 12))
    return sn.read_panel(X, kind="returns")


def roll(panel, dependence="correlation", **options):
    return sn.rolling(panel, 200, 100, 3, dependence, draws=0, **options)


def same(ours, theirs):
    assert len(ours.windows) == len(theirs.windows)
    for a, b in zip(ours.windows, theirs.windows, strict=True):
        assert torch.equal(a.result.H, b.result.H)
        assert a.result.certificate == b.result.certificate
        assert (a.first, a.last, a.begin, a.stop) == (b.first, b.last, b.begin, b.stop)
        assert (a.ari_before, a.ari_width, a.moved) == (b.ari_before, b.ari_width, b.moved)
        assert a.broke == b.broke
    assert ours.names == theirs.names


@pytest.fixture
def fits(monkeypatch):
    """Counts the windows that are fitted."""
    count = []

    def counted(*args, **options):
        count.append(1)
        return run(*args, **options)

    run = module.run
    monkeypatch.setattr(module, "run", counted)
    return count


def test_round_trip(panel, tmp_path):
    found = roll(panel)
    back = sn.load_rolling(sn.save_rolling(found, tmp_path / "w"))
    same(back, found)
    assert back.windows[1].result.names == found.names
    assert all((tmp_path / "w" / name).is_file() for name in WINDOWS.files[:3])


def test_windows_are_not_replaced_unless_told_to(panel, tmp_path):
    found = roll(panel)
    sn.save_rolling(found, tmp_path)
    with pytest.raises(InvalidFile, match="already holds a set of windows.*force"):
        sn.save_rolling(found, tmp_path)
    with pytest.raises(InvalidFile, match="already holds a set of windows"):
        roll(panel, folder=tmp_path)  # before the work, not after it
    with pytest.raises(InvalidFile, match=r"already holds a set of windows\. Choose another"):
        sn.save(found.windows[0].result, tmp_path, force=True)
    sn.save_rolling(found, tmp_path, force=True)


class Enough(Exception):
    pass


@pytest.mark.parametrize("dependence", ["correlation", "tail"])
@pytest.mark.parametrize("stop", [1, 3])
def test_a_run_goes_on_to_the_same_bits(panel, tmp_path, fits, dependence, stop):
    options = {"q": 0.2} if dependence == "tail" else {}
    plain = roll(panel, dependence, **options)
    assert len(fits) == len(plain.windows) == 4

    def give_up(window):
        if window.number == stop - 1:
            raise Enough

    with pytest.raises(Enough):
        roll(panel, dependence, folder=tmp_path, on_window=give_up, **options)
    assert unfinished(tmp_path) == stop
    fits.clear()
    seen = []
    again = roll(panel, dependence, folder=tmp_path, on_window=seen.append, **options)
    assert len(fits) == 4 - stop
    assert len(seen) == 4  # those that were kept are told of too
    same(again, plain)
    sn.save_rolling(again, tmp_path)
    assert not (tmp_path / UNFINISHED).exists()


def test_another_question_finds_nothing_kept(panel, tmp_path, fits):
    roll(panel, folder=tmp_path)
    for other in ({"seed": 1}, {"warm": False}, {"n_init": 2}):
        fits.clear()
        roll(panel, folder=tmp_path, **other)
        assert len(fits) == 4, other
    values = panel.values.copy()
    values[0, 0] += 1e-9
    fits.clear()
    roll(panel.with_values(values), folder=tmp_path)
    assert len(fits) == 4
    fits.clear()
    roll(panel, folder=tmp_path)
    assert not fits


def test_a_damaged_window_is_fitted_again(panel, tmp_path, fits):
    plain = roll(panel, folder=tmp_path)
    (path,) = tmp_path.glob(f"{UNFINISHED}/*/000002-*.safetensors")
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    fits.clear()
    same(roll(panel, folder=tmp_path), plain)
    assert len(fits) == 1


def test_two_runs_of_the_same_windows(panel, tmp_path):
    def second(window):
        with pytest.raises(FolderBusy, match="has been locked by process"):
            roll(panel, folder=tmp_path)

    roll(panel, folder=tmp_path, on_window=second)


def test_what_others_put_there_stays(panel, tmp_path):
    found = roll(panel, folder=tmp_path)
    (own,) = (tmp_path / UNFINISHED).iterdir()
    other = tmp_path / UNFINISHED / "thesis"
    other.mkdir()
    for path in (own / "notes.txt", own / "000001-x.safetensors", other / "2024-draft.docx"):
        path.write_text("mine")
    (own / ("000002-" + 64 * "0" + ".safetensors")).mkdir()
    sn.save_rolling(found, tmp_path)
    assert (own / "notes.txt").read_text() == "mine"
    assert (own / "000001-x.safetensors").read_text() == "mine"
    assert (other / "2024-draft.docx").read_text() == "mine"
    assert unfinished(tmp_path) == 0
    with pytest.raises(InvalidFile, match="already holds a set of windows"):
        roll(panel, folder=tmp_path)  # though something is left there


def test_a_save_that_was_killed_is_done_again(panel, tmp_path, monkeypatch):
    """The manifest is there, the tables are not: the same two calls write them."""
    found = roll(panel, folder=tmp_path)

    def full(folder):
        raise Enough

    monkeypatch.setattr(rolling_folder, "discard_windows", full)
    with pytest.raises(Enough):
        sn.save_rolling(found, tmp_path)
    monkeypatch.undo()
    (tmp_path / "labels.csv").unlink()
    sn.save_rolling(roll(panel, folder=tmp_path), tmp_path)
    assert (tmp_path / "labels.csv").is_file()
    assert not (tmp_path / UNFINISHED).exists()


def test_some_of_the_windows(panel, tmp_path):
    found = roll(panel)
    last = replace(found, windows=found.windows[1:])
    same(sn.load_rolling(sn.save_rolling(last, tmp_path)), last)


BAD = {
    "no windows": lambda about: about.pop("windows"),
    "names that are no words": lambda about: about.update(names=[1] * 12),
    "fewer names": lambda about: about.update(names=about["names"][:-1]),
    "an unknown instrument": lambda about: about["windows"][1]["window"].update(moved=["who"]),
    "no number": lambda about: about["windows"][1]["window"].update(ari_before="high"),
    "not a number": lambda about: about["windows"][1]["window"].update(ari_before=float("nan")),
    "products in words": lambda about: about["windows"][1]["result"].update(products="many"),
    "another field": lambda about: about["windows"][0]["window"].update(evil=1),
}


@pytest.mark.parametrize("change", BAD.values(), ids=BAD)
def test_windows_of_others_are_looked_at(panel, tmp_path, change):
    from symnmf import storage

    sn.save_rolling(roll(panel), tmp_path)
    (path,) = tmp_path.glob("model-*")
    tensors = storage.read_tensors(path)
    about = unpack_json(tensors["about"])
    change(about)
    storage.write_tensors(path, {**tensors, "about": pack_json(about)})
    content = json.loads((tmp_path / storage.MANIFEST).read_text())["content"]
    storage.write_manifest(tmp_path, WINDOWS.name, {"model": path.name}, content)
    with pytest.raises(InvalidFile, match="contains incomplete or invalid data for the windows"):
        sn.load_rolling(tmp_path)
