"""The report in a browser: no errors, no network, search, themes, phones, accessibility."""

import base64
import json
import re
import shutil
import time

import numpy as np
import pandas as pd
import pytest

import symnmf as sn
from report_parts import HOSTILE, panel_of, planted
from symnmf.data.samples import sp500_prices
from symnmf.report import write_report

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
DRIVER = shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip(
        "no Chromium with its driver found: install Debian's chromium and chromium-driver",
        allow_module_level=True,
    )
selenium = pytest.importorskip("selenium", reason="selenium is not installed")
axe = pytest.importorskip("axe_core_python.selenium", reason="axe-core-python is not installed")
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)
PHONE = 390


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports of 20 stocks (some with hostile names), 500, 2 763 and 100 000 instruments."""
    folder = tmp_path_factory.mktemp("pages")
    prices = sp500_prices()
    prices.columns = [*HOSTILE, *prices.columns[len(HOSTILE) :]]
    panel = sn.read_panel(prices, kind="prices")
    S = sn.tail_dependence(panel, estimator="global")
    classes = {name: name[:1] for name in prices.columns}
    result = sn.factorize(S, 4, n_init=3)
    more = {"title": HOSTILE[0], "panel": panel, "classes": classes}
    made = {20: write_report(folder / "20.html", sn.Analysis.of(result, S, **more))}
    for n, k in ((500, 22), (2763, 25), (100_000, 8)):
        S, result = planted(n, k, tuple(f"T{i:06d}" for i in range(n)))
        made[n] = write_report(
            folder / f"{n}.html", sn.Analysis.of(result, S, title=f"{n} instruments")
        )
    return made


def look(browser, path, width=1200, theme="light", script=True):
    """Open a page; nothing may be wrong with it, and nothing may be asked of a network."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    wish = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", wish)
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(path.as_uri())
    ready = "document.documentElement.dataset.ready == 'yes'" if script else "!!document.body"
    until(lambda: run(browser, ready))
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    sent = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    asked = [params["request"]["url"] for params in sent]
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert any(url.startswith("file:") for url in asked)  # the page itself: the log does see
    assert run(browser, "performance.getEntriesByType('resource').length") == 0


def run(browser, expression):
    return browser.execute_script(f"return {expression}")


def until(good, seconds=20):
    end = time.monotonic() + seconds
    while not good():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)


def type_words(browser, words):
    box = browser.find_element("id", "search")
    box.clear()
    browser.execute_script(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))",
        box,
        words,
    )
    return [e.get_property("textContent") for e in browser.find_elements("css selector", ".found")]


@pytest.mark.parametrize("n", [20, 500, 2763, pytest.param(100_000, marks=pytest.mark.slow)])
def test_it_opens_and_finds(browser, pages, n):
    look(browser, pages[n])
    wanted = "PFE" if n == 20 else f"T{n - 1:06d}"
    assert type_words(browser, wanted.lower()) == [wanted]
    link = browser.find_element("css selector", ".results a")
    browser.execute_script("arguments[0].click()", link)
    card = link.get_attribute("href").rsplit("#", 1)[1]
    until(lambda: browser.find_element("id", card).get_property("open"))
    assert type_words(browser, "no such name") == []
    assert browser.find_element("id", "search-status").text == "0 found"
    assert run(browser, "document.querySelectorAll('div.plot').length") >= 6
    shown = (
        "[...document.querySelectorAll('div.plot')].map(p => [...p.querySelectorAll('svg')]"
        ".filter(s => s.getBoundingClientRect().width > 100).length)"
    )
    assert set(run(browser, shown)) == {1}  # one drawing of each figure
    look(browser, pages[n], PHONE)
    assert run(browser, "document.documentElement.scrollWidth") <= PHONE
    assert set(run(browser, shown)) == {1}
    wide = run(
        browser,
        "[...document.querySelectorAll('main section, .card, figure, form')]"
        f".filter(e => e.getBoundingClientRect().right > {PHONE}).map(e => e.id || e.className)",
    )
    assert wide == []


def overlaps(browser):
    """Words of the visible drawings that lie on each other, and how many words there are."""
    return browser.execute_script("""
      const found = []; let count = 0;
      for (const svg of document.querySelectorAll('.plot svg')) {
        if (svg.getBoundingClientRect().width < 100) continue;
        const words = [...svg.querySelectorAll('.tick, .key, text[class=halo]')];
        const boxes = words.map(e => e.getBoundingClientRect());
        count += words.length;
        for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
          const a = boxes[i], b = boxes[j];
          const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
          const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
          const least = 0.34 * Math.min(a.height, b.height, a.width, b.width);
          if (across > 1 && down > least)
            found.push([svg.parentNode.id, words[i].textContent, words[j].textContent]);
        }
      }
      return [found, count];
    """)


@pytest.mark.parametrize("width", [PHONE, 1300])
@pytest.mark.parametrize("n", [20, 310])
def test_labels_never_overlap(browser, pages, tmp_path, n, width):
    if n == 310:
        S, result = planted(310, 31, tuple(f"instrument {i}" for i in range(310)))
        path = write_report(tmp_path / "31.html", sn.Analysis.of(result, S))
    look(browser, pages[n] if n == 20 else path, width)
    found, count = overlaps(browser)
    assert found == []
    assert count > 60
    if n == 310:  # every group has its name beside its row
        names = run(
            browser,
            "[...document.querySelectorAll('#plot-between svg')].filter(s => "
            "s.getBoundingClientRect().width > 100).map(s => "
            "[...s.querySelectorAll('.tick[text-anchor=end]:not([transform])')].length)",
        )
        assert names == [31]


@pytest.mark.parametrize("n", [20, 500])
def test_print_is_short(browser, pages, n):
    look(browser, pages[n], theme="dark")
    assert 1 < printed_pages(browser) <= 8


@pytest.fixture(scope="module")
def fullest(tmp_path_factory):
    """The page of an analysis with everything, and with long names that begin alike."""
    table, labels = panel_of(600, 4, 6, 0.8, 0)
    table.columns = [f"International Holdings Number {i:02d} Class A" for i in range(24)]
    found = sn.analyse(
        table, 4, kind="returns", resamples=3, weights=dict.fromkeys(table.columns, 0.04),
        classes={n: f"A sector {g}" for n, g in zip(table.columns, labels, strict=True)},
    )  # fmt: skip
    return write_report(tmp_path_factory.mktemp("fullest") / "report.html", found)


def test_the_fullest_page_prints_on_eight_sheets(browser, fullest):
    look(browser, fullest)
    assert 1 < printed_pages(browser) <= 8


@pytest.mark.parametrize("width", [PHONE, 1300])
def test_long_names_are_legible_in_cards(browser, fullest, width):
    look(browser, fullest, width)
    cut = run(
        browser,
        "[...document.querySelectorAll('.members .name')].filter(n => n.clientHeight > 0 && "
        "n.scrollHeight > n.clientHeight + 2).map(n => n.title)",
    )
    assert cut == []
    outside = run(
        browser,
        "[...document.querySelectorAll('.members th')].filter(h => { const r = "
        "document.createRange(); r.selectNodeContents(h); return r.getBoundingClientRect().right >"
        " h.closest('.card').getBoundingClientRect().right - 4 }).map(h => h.innerText)",
    )
    assert outside == []
    assert overlaps(browser)[0] == []


def printed_pages(browser):
    """Number of pages of paper."""
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    paper = {"printBackground": True, "preferCSSPageSize": True}
    data = browser.execute_cdp_cmd("Page.printToPDF", paper)["data"]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    return len(re.findall(rb"/Type\s*/Page[^s]", base64.b64decode(data)))


def test_strange_names_are_words(browser, pages):
    look(browser, pages[20])
    shown = run(browser, "[...document.querySelectorAll('.members bdi')].map(e => e.textContent)")
    for name in HOSTILE:
        assert name in shown
        assert name in type_words(browser, name)
    assert run(browser, "document.querySelectorAll('img, b, main script').length") == 0
    assert HOSTILE[0] in browser.title
    ticks = run(browser, "[...document.querySelectorAll('.tick')].map(e => e.textContent)")
    assert "<img src=x onerror=aler…" in ticks
    browser.execute_script(  # even what should never get in cannot run
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hit=1\">')"
    )
    until(lambda: any("Content Security" in e["message"] for e in browser.get_log("browser")))
    assert run(browser, "window.hit") is None


def test_themes(browser, pages):
    look(browser, pages[500], theme="dark")
    state = (
        "[document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('#plot-spectrum .tick')).fill]"
    )
    dark = run(browser, state)
    assert dark[0] == "dark"
    button = browser.find_element("id", "theme")
    assert button.text == "Light theme"
    button.click()
    light = run(browser, state)
    assert light[0] == "light"
    assert light[1] != dark[1]
    assert light[2] != dark[2]
    assert button.text == "Dark theme"
    button.click()
    assert run(browser, state) == dark


def test_keyboard(browser, pages):
    from selenium.webdriver import ActionChains, Keys

    look(browser, pages[500])
    ActionChains(browser).send_keys(Keys.TAB).perform()
    assert browser.switch_to.active_element.text == "Skip to the verdict"
    assert run(browser, "getComputedStyle(document.activeElement).outlineStyle") == "solid"
    ActionChains(browser).send_keys(Keys.TAB, Keys.ENTER).perform()
    assert run(browser, "document.documentElement.dataset.theme") == "dark"


def test_downloads(browser, pages, tmp_path):
    where = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", where)
    look(browser, pages[20])
    for name in ("labels.csv", "certificate.json"):
        button = browser.find_element("css selector", f"button[data-file='{name}']")
        browser.execute_script("arguments[0].click()", button)
        until((tmp_path / name).exists)
    text = (tmp_path / "labels.csv").read_text("utf-8")
    assert "\n'=cmd|" in text
    assert "PFE" in text
    assert json.loads((tmp_path / "certificate.json").read_text())["converged"] is True


@pytest.mark.parametrize(
    ("n", "theme"),
    [
        (20, "light"),
        (20, "dark"),
        pytest.param(500, "dark", marks=pytest.mark.slow),
        pytest.param(500, "light", marks=pytest.mark.slow),
    ],
)
def test_accessibility(browser, pages, n, theme):
    look(browser, pages[n], theme=theme)
    some = "document.querySelectorAll('details:not(.card), .card:nth-child(-n+4)')"
    browser.execute_script(f"{some}.forEach(d => d.open = true)")
    type_words(browser, "T" if n == 500 else "PFE")
    no_serious_findings(browser)


def no_serious_findings(browser):
    few = {"resultTypes": ["violations"]}
    found = axe.Axe().run(browser, None, few)
    serious = [v for v in found["violations"] if v["impact"] in ("serious", "critical")]
    assert [(v["id"], v["nodes"][0]["html"][:200]) for v in serious] == []
    assert len(found["passes"]) > 20


@pytest.fixture(scope="module")
def history(tmp_path_factory):
    """The report of groups through time: 8 groups of 32 instruments, four of which change."""
    rng = np.random.default_rng(0)
    early = np.arange(32) % 8
    late = early.copy()
    late[:4] = (late[:4] + 1) % 8
    factors = rng.normal(size=(600, 8))
    half = (np.arange(600) < 300)[:, None]
    X = np.where(half, factors[:, early], factors[:, late]) + 0.6 * rng.normal(size=(600, 32))
    names = [*HOSTILE, *(f"NASDAQ:LONG{i}" for i in range(32 - len(HOSTILE)))]
    table = pd.DataFrame(X, pd.date_range("2020-01-01", periods=600), names)
    found = sn.rolling(table, 150, 50, 8, "correlation", draws=39, n_init=1)
    return write_report(tmp_path_factory.mktemp("history") / "h.html", found, title=HOSTILE[0])


@pytest.mark.filterwarnings("ignore:in . of . windows")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_history_opens_on_every_screen(browser, history, theme):
    shown = (
        "[...document.querySelectorAll('.drawing')].filter(s => s.getBoundingClientRect().width)"
        ".map(s => s.classList.contains('narrow'))"
    )
    outside = (
        "[...document.querySelectorAll('.drawing text')].filter(t => {"
        "const s = t.ownerSVGElement.getBoundingClientRect(), b = t.getBoundingClientRect();"
        "return s.width && (b.left < s.left - 1 || b.right > s.right + 1 || "
        "b.bottom > s.bottom + 1)"
        "}).map(t => t.textContent)"
    )
    for width in (1300, PHONE):
        look(browser, history, width, theme, script=False)
        assert run(browser, "document.documentElement.scrollWidth") <= width
        assert run(browser, shown) == [width == PHONE] * 4  # one drawing of each picture
        assert run(browser, outside) == []  # no word is cut
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    no_serious_findings(browser)
    look(browser, history, 1300, theme, script=False)
    assert 1 < printed_pages(browser) <= 8
