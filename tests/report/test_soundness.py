"""The verdict: a sound answer needs four things."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import symnmf as sn
from report_parts import panel_of, planted
from symnmf.report import gather
from symnmf.report.verdict import PARTS, overall, parts
from symnmf.report.word_limits import HALVES_AGREE, TABLE


@pytest.fixture(scope="module")
def good():
    table, _ = panel_of(1000, 3, 7, 1.2, 0)
    return sn.analyse(table, kind="returns", dependence="correlation", resamples=5)


def levels(content):
    return {part.name: part.level for part in content.parts}


def test_groups_that_are_there_are_sound(good):
    content = gather(good)
    assert levels(content) == dict.fromkeys(PARTS, "good")
    assert content.sentence == "A sound answer: 3 groups of 21 instruments."
    words = " ".join(f"{s.short} {s.long}" for s in content.statements)
    assert "one factor alone explains" in words
    assert "of the histories that were drawn" in words


@pytest.mark.filterwarnings("ignore::symnmf.errors.AmbiguousWarning")
def test_noise_has_no_groups():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.standard_t(4, (600, 15)), pd.bdate_range("2015", periods=600))
    for k in (None, 3):
        found = sn.analyse(table, k, kind="returns", dependence="correlation")
        content = gather(found)
        assert (content.level, content.sentence) == ("bad", "No groups in these data.")
        said = {s.short for s in content.statements}
        assert ("The groups are sharp." in said) <= (k == 3)  # of one group nothing can be sharp
        assert "No other 1 groups could fit better." not in said


def test_each_part_can_fail(good):
    def with_rank(**values):
        rank = replace(good.evidence.rank, **values)
        return gather(replace(good, evidence=replace(good.evidence, rank=rank)))

    other = with_rank(k=8, low=7, high=9)
    assert levels(other)["number of groups"] == "care"
    assert other.sentence.startswith("Usable with care: the data suggest 8 groups")
    assert levels(with_rank(by_noise=2))["beyond chance"] == "care"
    shaky = replace(good.stability, members=np.full(21, 0.4))
    content = gather(replace(good, stability=shaky))
    assert levels(content)["stability"] == "care"
    assert "40 %" in " ".join(s.long for s in content.statements)
    halves = gather(replace(good, stability=None))
    assert good.evidence.rank.subsamples >= HALVES_AGREE
    assert levels(halves)["stability"] == "good"
    slow = replace(good.result.certificate, agreement=0.2)
    content = gather(replace(good, result=replace(good.result, certificate=slow)))
    assert levels(content)["optimization"] == "care"


@pytest.mark.filterwarnings("ignore::symnmf.errors.AmbiguousWarning")
def test_numbers_beyond_those_considered_are_not_judged(good):
    def with_rank(k, **values):
        rank = replace(good.evidence.rank, k=4, low=4, high=4, **values)
        found = sn.Analysis.of(sn.factorize(good.operator, k), good.operator)
        return gather(replace(found, evidence=replace(found.evidence, rank=rank)))

    some = {"ratios": np.ones(4), "by_noise": 5, "clear": 5}
    beyond = with_rank(6, **some)
    assert levels(beyond)["number of groups"] == levels(beyond)["beyond chance"] == "open"
    words = " ".join(s.short for s in beyond.statements)
    assert "Whether 6 is the right number of groups was not examined." in words
    assert "Not all of the 6" not in words
    at_the_end = with_rank(4, **some)
    assert levels(at_the_end)["number of groups"] == "care"
    assert "There may be more than 4 groups" in " ".join(s.short for s in at_the_end.statements)


def test_a_chosen_number_is_considered_however_large():
    table, _ = panel_of(800, 15, 3, 0.7, 0)
    found = sn.analyse(table, 15, kind="returns", dependence="correlation")
    assert found.evidence.rank.considered >= 15
    assert levels(gather(found))["number of groups"] == "good"


def test_what_was_not_examined_is_said(good):
    content = gather(replace(good, stability=None, evidence=replace(good.evidence, rank=None)))
    assert levels(content)["stability"] == "open"
    assert content.level == "open"
    assert content.sentence.endswith("Not examined: number of groups, stability and beyond chance.")
    S, result = planted(60, 3)
    content = gather(sn.Analysis.of(result, S))
    assert levels(content)["beyond chance"] == "open"


def test_a_list_without_the_other_parts_is_judged_by_what_it_has(good):
    found = [replace(s, level="good") for s in gather(good).statements[:5]]
    assert [p.level for p in parts(found)] == ["good", "open", "open", "open"]
    assert overall(found)[0] == "good"


def test_every_threshold_stands_in_the_table():
    assert len({word for word, *_ in TABLE}) == len(TABLE) >= 9
    assert all(0 < value <= 1 for *_, value in TABLE)


def test_the_page_about_the_report_has_the_table():
    page = (Path(__file__).parents[2] / "docs/guide/report.md").read_text("utf-8")
    for word, quantity, value in TABLE:
        assert f"| {word} | {quantity} | {value:.3g} |" in page
