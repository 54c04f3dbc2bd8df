"""A report about gains does not speak of crashes."""

import re

import pytest

import symnmf as sn
from symnmf.data.samples import sp500_prices
from symnmf.report import gather, render


@pytest.fixture(scope="module")
def page():
    found = sn.analyse(
        sp500_prices(), 3, kind="prices", dependence_options={"tail": "upper"}, n_init=1
    )
    assert found.dependence == "gains"
    text = re.sub(r"<script.*?</script>|<style.*?</style>", " ", render(gather(found)), flags=re.S)
    return text, gather(found)


def test_the_words_are_those_of_gains(page):
    text, content = page
    assert "Groups that surge together" in text
    assert not re.search(r"crash", text, re.IGNORECASE)
    words = " ".join(f"{s.short} {s.long}" for s in content.statements)
    assert "surge together" in words
    assert "crash" not in words.lower()


def test_the_figures_are_those_of_gains(page):
    _, content = page
    for shown in content.figures.values():
        assert "crash" not in (shown.alt + str(shown.figure)).lower(), shown.id
