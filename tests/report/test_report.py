"""The report, as text: words, escapes, sizes."""

import base64
import hashlib
import json
import re
import warnings
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest
import torch

import symnmf as sn
from helpers import dense, market
from report_parts import HOSTILE, planted
from symnmf.core.result import Status
from symnmf.data.samples import sp500_prices
from symnmf.errors import InvalidFile
from symnmf.report import gather, render, write_report
from symnmf.report.verdict import overall
from symnmf.report.words import share, statements

SECTIONS = ("verdict", "groups", "matrix", "classes", "events", "both", "how", "data", "words")
PLOTS = (
    "seen",
    "made",
    "network",
    "hierarchy",
    "between",
    "classes",
    "events",
    "threshold",
    "pairs",
    "spectrum",
)


class Page(HTMLParser):
    """Text, scripts, links and ids of a page."""

    def __init__(self, text):
        super().__init__()
        self.inside, self.text, self.scripts, self.ids, self.tags = [], [], [], [], []
        self.attributes = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag in ("script", "style"):
            self.inside.append(tag)
            self.scripts.append([{"tag": tag, **dict(attrs)}, ""])

    def handle_endtag(self, tag):
        if self.inside and self.inside[-1] == tag:
            self.inside.pop()

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1][1] += data
        else:
            self.text.append(data)


@pytest.fixture
def hostile():
    return planted(24, 3, (*HOSTILE, *(f"name {i}" for i in range(24 - len(HOSTILE)))))


@pytest.fixture(scope="module")
def panel():
    return sn.read_panel(sp500_prices(), kind="prices")


@pytest.fixture(scope="module")
def stocks(panel):
    """The page of twenty stocks and its content."""
    S = sn.tail_dependence(panel, estimator="global")
    result = sn.factorize(S, 4, n_init=5)
    classes = {"XOM": "energy", "CVX": "energy", "KO": "food", "PEP": "food"}
    return gather(sn.Analysis.of(result, S, title="twenty stocks", panel=panel, classes=classes))


def test_the_page_is_complete_in_itself(stocks):
    text = render(stocks)
    page = Page(text)
    to_input_scale = ("src", "href", "action", "data", "poster")
    links = [value for name, value in page.attributes if name in to_input_scale]
    pictures = [link for link in links if link.startswith("data:image/png;base64,")]
    links = [link for link in links if link not in pictures]
    assert all(link.startswith("#") for link in links)
    assert {link[1:] for link in links} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert "link" not in page.tags
    policy = next(v for name, v in page.attributes if name == "content" and "default-src" in v)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    runs = [body for attributes, body in page.scripts if attributes == {"tag": "script"}]
    assert len(runs) == 1
    for body in runs:
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy


def test_every_section_is_there(stocks):
    page = Page(render(stocks))
    words = " ".join(" ".join(page.text).split())
    for section in SECTIONS:
        assert section in page.ids
    assert words.index("A sound answer needs four things") < words.index("Group 1:")
    for part in ("optimization", "number of groups", "stability", "beyond chance"):
        assert part in words
    for name in sp500_prices().columns:
        assert name in words
    assert "2020-03-16" in words  # the largest loss
    for name in PLOTS:
        assert f"plot-{name}" in page.ids
    assert page.tags.count("h1") == 1
    assert "main" in page.tags
    data = json.loads(next(b for a, b in page.scripts if a.get("id") == "report-data"))
    assert data["index"]["names"] == list(sp500_prices().columns)


def test_numbers_of_the_page_are_those_of_the_result(stocks, panel):
    S = sn.tail_dependence(panel, estimator="global")
    entries = dense(S).numpy()[np.triu_indices(20, 1)]
    assert stocks.extremes.mean == pytest.approx(entries.mean(), rel=1e-5)
    assert stocks.extremes.baseline.mean() < stocks.extremes.mean
    for card in stocks.cards:
        assert card.members[0].loading == 1
        assert card.members[0].name == card.leader
        assert card.size == len(card.members)
    assert sum(card.size for card in stocks.cards) == 20
    oil = next(c for c in stocks.cards if c.leader in ("XOM", "CVX"))
    assert oil.cohesion == max(c.cohesion for c in stocks.cards)
    event = stocks.extremes.largest[0]
    assert (event.date, event.groups[0][0]) == ("2020-03-16", oil.number)


@pytest.mark.filterwarnings("ignore::symnmf.errors.AmbiguousWarning")
def test_the_tree_over_numbers_of_groups_is_drawn_where_its_names_are_legible():
    S = np.kron(np.eye(3), np.ones((4, 4))) + 0.1
    found = sn.Analysis.of(sn.factorize(S, 3), S)
    assert found.evidence.hierarchy.numbers == (2, 3)
    page = render(gather(found))
    assert "Which groups split into which" in page
    assert "The tree of 12 instruments from 2 to 3 groups" in page
    many = np.kron(np.eye(3), np.ones((21, 21))) + 0.1
    found = sn.Analysis.of(sn.factorize(many, 3), many)
    assert found.evidence.hierarchy is None
    assert "Which groups split" not in render(gather(found))


def test_few_days_and_chance_are_said(panel):
    few = replace(panel, values=panel.values[:900], dates=panel.dates[:900])
    S = sn.tail_dependence(few, estimator="global")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        result = sn.factorize(S, 12, n_init=3)
    assert any("exceedances" in str(w.message) for w in heard)
    content = gather(sn.Analysis.of(result, S, panel=few))
    assert "45 extreme days are few for 12 groups." in [s.short for s in content.statements]
    assert content.level == "bad"
    rng = np.random.default_rng(0)
    noise = replace(panel, values=rng.standard_t(3, size=panel.values.shape))
    S = sn.tail_dependence(noise, estimator="global")
    content = gather(sn.Analysis.of(sn.factorize(S, 2, n_init=3), S, panel=noise))
    assert "Dependence in crashes is hardly above chance." in [s.short for s in content.statements]
    assert content.extremes.above_chance == pytest.approx(0, abs=0.05)


def test_hedges_have_a_sign(panel):
    returns = panel.values.copy()
    returns[:, 3] *= -1
    flipped = replace(panel, values=returns)
    S = sn.abs_correlation(flipped)
    content = gather(sn.Analysis.of(sn.factorize(S, 4), S, panel=flipped))
    signs = {m.name: m.sign for card in content.cards for m in card.members}
    assert signs[panel.names[3]] == -1 or sum(s < 0 for s in signs.values()) > 1
    assert sum(card.opposite for card in content.cards) >= 1
    assert "move against" in render(content)
    assert content.other.kind == "tail"


def test_hostile_names_are_text(hostile, tmp_path):
    S, result = hostile
    classes = {HOSTILE[0]: "</x>"}
    path = write_report(
        tmp_path / "r.html", sn.Analysis.of(result, S, title=HOSTILE[0], classes=classes)
    )
    text = path.read_text("utf-8")
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    page = Page(text)
    assert page.tags.count("script") == 2
    words = " ".join(page.text)
    for name in HOSTILE:
        assert name in words
    data = json.loads(next(b for a, b in page.scripts if a.get("id") == "report-data"))
    assert tuple(data["index"]["names"][: len(HOSTILE)]) == HOSTILE
    assert "\n'=cmd|" in data["downloads"]["labels.csv"]
    assert not re.search(r"^[=+@\t-]", data["downloads"]["labels.csv"], re.MULTILINE)


def test_never_overwrites_unless_told_to(hostile, tmp_path):
    S, result = hostile
    write_report(tmp_path / "r.html", sn.Analysis.of(result, S))
    with pytest.raises(InvalidFile, match="already exists"):
        write_report(tmp_path / "r.html", sn.Analysis.of(result, S))
    write_report(tmp_path / "r.html", sn.Analysis.of(result, S), force=True)


@pytest.mark.parametrize(
    ("n", "k", "sign"),
    [
        (2763, 25, "é"),
        pytest.param(100_000, 50, "<", marks=pytest.mark.slow),
        pytest.param(150_001, 2, "", marks=pytest.mark.slow),
    ],
)
def test_large_reports_stay_small(n, k, sign):
    S, result = planted(n, k, tuple(f"instrument {i} {sign * 9}" for i in range(n)))
    content = gather(sn.Analysis.of(result, S))
    assert ("loadings.csv" in content.downloads) == (n == 2763)
    text = render(content)
    assert len(text.encode()) < (1e6 if n == 2763 else 4e6)  # names to search: up to 3 MB
    assert ("too many to search" in text) == (n > 150_000)
    if n > 2763:
        assert len(content.cards[0].members) == 40
        assert "more; search for a name" in text


def test_endless_names_are_cut_in_the_search():
    S, result = planted(2000, 3, tuple(f"{i}" + "y" * 5000 for i in range(2000)))
    content = gather(sn.Analysis.of(result, S))
    assert 1000 < content.index.cut < 2000
    assert "The search shortens names" in render(content)
    assert content.too_large[0] == "labels.csv"


def test_a_single_group_and_lonely_instruments():
    S = np.eye(6)
    S[:3, :3] = 1
    result = sn.factorize(S, 1)
    assert "1 group of 6 instruments" in render(gather(sn.Analysis.of(result, sn.as_operator(S))))
    many = sn.factorize(S, 4)
    assert "Group 4:" in render(gather(sn.Analysis.of(many, sn.as_operator(S))))


def test_a_factor_without_groups():
    b = market("corr", 100)
    good = sn.factorize(b.operator, b.k)
    content = gather(sn.Analysis.of(replace(good, H=torch.zeros(100, 3)), b.operator))
    assert content.level == "bad"
    assert content.cards == []
    assert "Do not use these groups." in render(content)


@pytest.mark.filterwarnings("ignore:the fit is good, but starts")
def test_every_day_is_extreme(panel):
    few = replace(panel, values=panel.values[:100], dates=panel.dates[:100])
    S = sn.tail_dependence(few, count=100, estimator="global")
    content = gather(sn.Analysis.of(sn.factorize(S, 3), S, panel=few))
    assert S.provenance.threshold == 0
    assert content.extremes.sizes.max() == S.provenance.radii.max()
    assert "plot-events" in render(content)


@pytest.mark.parametrize("status", list(Status))
def test_how_it_ended_in_words(status):
    b = market("corr", 100)
    good = sn.factorize(b.operator, b.k, n_init=3)
    bad = replace(
        good,
        status=status,
        certificate=replace(good.certificate, converged=status.good, agreement=0.9),
    )
    found = statements(bad)
    level, sentence = overall(found)
    expected = (
        "good" if status.good else "bad" if status.name in ("COLLAPSED", "DIVERGED") else "care"
    )
    assert (found[0].level, level) == (expected, expected)
    assert sentence.endswith(".")


def test_the_verdict_says_what_is_weak():
    b = market("corr", 100)
    result = sn.factorize(b.operator, b.k, n_init=1)
    assert statements(result)[4].short == "Other starts were not tried."
    several = replace(result, certificate=replace(result.certificate, starts=3))
    assert statements(several)[4].short == "No other start fits as well."
    assert statements(several)[4].level == "good"

    def with_certificate(**values):
        return statements(replace(result, certificate=replace(result.certificate, **values)))

    assert with_certificate(agreement=0.3)[4].level == "care"
    assert with_certificate(agreement=0.99)[4].short == "Other starts find the same groups."
    poor = with_certificate(excess=0.04, error=result.certificate.error + 0.04)
    assert poor[1].level == "care"
    lost = with_certificate(excess=0.9, error=result.certificate.error + 0.5, collapsed=True)
    assert lost[1].level == "bad"
    assert "10 %" in lost[1].long  # of the way
    blurred = statements(replace(result, H=torch.ones(6, 2) + 0.01 * torch.eye(6, 2)))
    assert blurred[3].level == "care"
    assert statements(replace(result, H=torch.zeros(6, 2)))[3].level == "bad"
    assert share(0) == "0 %"


def test_too_little_for_the_other_kind(panel):
    few = replace(panel, values=panel.values[-40:], dates=panel.dates[-40:])
    S = sn.abs_correlation(few)
    content = gather(sn.Analysis.of(sn.factorize(S, 3), S, panel=few))
    assert content.other is None
    assert "exceedances" in content.why_no_other
    assert "are not compared" in render(content)


def test_the_page_of_twenty_stocks_is_small():
    """The bar is 1 MB; the tables to save are nearly half of it."""
    found = sn.analyse(sp500_prices(), 4, kind="prices")
    content = gather(found)
    text = render(content)
    assert len(text.encode()) < 1_000_000
    assert "plotly" not in text.lower()
    assert not content.too_large
    content.offer("returns.csv", "0.0123\n" * 150_000)  # a table of a long history
    smaller = render(content)
    assert len(smaller.encode()) < 1_000_000
    assert content.too_large == ["returns.csv"]
    assert "Too large for this page: returns.csv. The folder" in smaller
    assert "events.csv" in content.downloads


def test_cards_unfold_after_twelve_members():
    S, result = planted(60, 2, tuple(f"name {i}" for i in range(60)))
    content = gather(sn.Analysis.of(result, S))
    text = render(content)
    size = content.cards[0].size
    assert size > 12
    first = text[text.index('id="group-1"') : text.index('class="more"')]
    assert first.count("<tr>") == 13  # and the row of the titles
    assert f"All {size} members" in text


def test_classes_name_the_groups_they_fit():
    S, result = planted(60, 3, tuple(f"name {i}" for i in range(60)))
    labels = result.labels().tolist()
    words = ("Energy", "n/a", "Banks")
    classes = {f"name {i}": words[g] for i, g in enumerate(labels)}
    one = next(i for i, g in enumerate(labels) if g == 0)
    classes[f"name {one}"] = "Banks"
    content = gather(sn.Analysis.of(result, S, classes=classes))
    first, second, third = content.cards
    assert first.named == f"Energy, {first.size - 1} of {first.size}"
    assert second.named == ""  # an unknown class is no name
    assert third.heading == f"Banks, {third.size} of {third.size}"
    assert content.group_names[0] == "1 Energy"
    assert content.group_names[1] == f"2 {second.leader}"
    assert f'Group 1: <bdi class="name">{first.named}</bdi>' in render(content)
    everyone = gather(sn.Analysis.of(result, S, classes=dict.fromkeys(classes, "stocks")))
    assert [card.named for card in everyone.cards] == [""] * 3  # it says nothing about a group


def test_every_picture_calls_the_groups_as_the_cards_do(panel):
    S = sn.tail_dependence(panel)
    result = sn.factorize(S, 3)
    words = ("Energy", "Food", "Banks")
    names = zip(result.names, result.labels().tolist(), strict=True)
    classes = {name: words[g] for name, g in names}
    held = sn.portfolio_risk(result, panel, draws=0)
    found = sn.Analysis.of(result, S, panel=panel, classes=classes)
    content = gather(replace(found, portfolio=held))
    assert content.group_names == ["1 Energy", "2 Food", "3 Banks"]
    for name in ("classes", "portfolio"):
        assert sorted(content.figures[name].figure["data"][0]["y"]) == content.group_names, name


def test_no_group_is_missing_without_a_word():
    S, result = planted(340, 34, tuple(f"name {i}" for i in range(340)))
    content = gather(sn.Analysis.of(result, S))
    assert len(content.figures["between"].figure["data"][0]["x"]) == 34
    S, result = planted(1300, 160)
    text = render(gather(sn.Analysis.of(result, S)))
    assert "The 150 largest of 160 groups." in text
    assert "160 groups are too many for lines between them" in text
