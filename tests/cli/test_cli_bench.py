"""``symnmf bench``: a study, run once and then found in its store."""


def test_bench(run, tmp_path):
    words = ("bench", "spectral", "--sizes", 36, "--seeds", 7, "--out", tmp_path / "results")
    assert "2 runs computed" in run(*words)
    assert "0 runs computed" in run(*words)
    assert "r_eff" in (tmp_path / "results" / "spectral.md").read_text()


def test_wrong_sizes_are_one_line(run):
    assert "whole numbers" in run("bench", "spectral", "--sizes", "many", code=2)
