"""``symnmf generate``: a matrix in a folder, to be fitted from there."""


def test_generate_and_fit_from_the_folder(run, tmp_path):
    folder = tmp_path / "tpdm"
    words = ("generate", "tpdm", "--n", 64, "--samples", 2000, "--out", folder)
    assert "gram, float32 (64, 20)" in run(*words)
    assert "gram, float32 (64, 20)" in run(*words)  # found
    assert "CONVERGED" in run("fit", "--matrix", folder, "--k", 8, "--out", tmp_path / "fit")
    (folder / "data.npy").write_bytes(b"x" * 5248)
    out = run("fit", "--matrix", folder, "--k", 8, "--out", tmp_path / "no", code=2)
    assert "data.npy: is not a .npy file" in out


def test_an_unknown_kind_is_one_line(run, tmp_path):
    words = ("generate", "copula", "--n", 64, "--out", tmp_path / "c")
    assert "unknown matrix 'copula'" in run(*words, code=2)
