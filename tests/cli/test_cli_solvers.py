"""``symnmf solvers``: the registry as a table."""

import json

import symnmf as sn


def test_solvers(run):
    out = run("solvers")
    for name in sn.solvers.available():
        assert name in out


def test_options_are_shown_with_what_they_may_be(run):
    out = run("solvers")
    assert "pairs=10                a whole number of at least 1" in out
    assert "as published: eta=2.0; Duchi et al. 2011" in out
    assert "as published: nothing stated" in out  # of sketched


def test_solvers_as_json(run):
    (lai,) = (row for row in json.loads(run("solvers", "--json")) if row["name"] == "lai")
    assert lai["arrays"] == sn.solvers.available()["lai"].arrays
    assert lai["tier"] == "standard"
    assert lai["options"]["refine"] is True
    assert lai["allowed"]["refine"] == "True or False"
    assert lai["allowed"].keys() == lai["options"].keys()
