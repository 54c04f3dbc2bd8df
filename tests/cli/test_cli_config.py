"""``--config`` and config.toml: options from a file, and the options of a run as such a file."""

import tomllib

import pytest
import torch

import symnmf as sn


def test_options_of_a_file(run_streams, strange_matrix, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(
        f'k = 3\nmatrix = "{strange_matrix}"\nseed = 5\nmax_seconds = 60\nreport = false\n'
    )
    # --k of the command line overrides k of the file.
    run_streams("fit", "--config", config, "--k", 2, "--out", tmp_path / "out")
    result = sn.load(tmp_path / "out")
    assert result.H.shape == (6, 2)
    assert result.seed == 5
    assert not (tmp_path / "out" / "report.html").exists()
    written = tomllib.loads((tmp_path / "out" / "config.toml").read_text("utf-8"))
    assert written["k"] == 2
    assert written["seed"] == 5
    assert written["max-seconds"] == 60.0
    assert written["starts"] == 5
    assert written["report"] is False
    assert "force" not in written
    run_streams("fit", "--config", tmp_path / "out" / "config.toml", "--out", tmp_path / "again")
    assert torch.equal(sn.load(tmp_path / "again").H, result.H)
    assert (tmp_path / "again" / "config.toml").read_text("utf-8") != ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kk = 3", "unknown key 'kk'. Did you mean 'k'?"),
        ("config = 'x'", "unknown key 'config'"),
        ("k = [1]", "the value of 'k' in"),
        ("k = ", "is not valid TOML"),
        ("[fit]\nk = 3", "unknown key 'fit'"),
        ("k = 'many'", "Invalid value for '--k'"),
    ],
)
def test_a_wrong_file_is_refused(run_streams, strange_matrix, tmp_path, text, words):
    config = tmp_path / "c.toml"
    config.write_text(text)
    _, err = run_streams(
        "fit", "--config", config, "--matrix", strange_matrix, "--out", tmp_path / "o", code=2
    )
    assert words in err
    assert not (tmp_path / "o").exists()


def test_a_missing_file_is_refused(run_streams, tmp_path):
    assert "does not exist" in run_streams("fit", "--config", tmp_path / "no.toml", code=2)[1]


def test_strange_words_survive_the_file(run_streams, strange_matrix, tmp_path):
    strange = strange_matrix.rename(tmp_path / 'a "b" \\ é.parquet')
    run_streams("fit", "--matrix", strange, "--k", 2, "--no-report", "--out", tmp_path / "o")
    written = tomllib.loads((tmp_path / "o" / "config.toml").read_text("utf-8"))
    assert written["matrix"] == str(strange)
