"""``symnmf plan``: what a run needs, before it starts."""


def test_plan(run):
    out = run("plan", "--n", 1_000_000, "--form", "dense")
    assert "4 TB" in out
    assert "does not have enough memory" in out
