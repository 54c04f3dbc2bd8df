"""Supply and safety: no network, licences, lowest versions."""

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import faults
from trust.oldest import pins
from trust.tally import trial

ROOT = Path(__file__).parents[2]

#: Whoever asks for an address, or calls one that is not this machine, is noted.
OFFLINE = """
import sys
asked = []
def watch(event, args):
    if event == "socket.getaddrinfo" and str(args[0]) not in ("localhost", "127.0.0.1", "::1"):
        asked.append((event, str(args[0])))
        raise OSError("no network here")
    if event in ("socket.connect", "socket.sendto", "socket.bind"):
        address = args[1]
        inside = isinstance(address, str | bytes) or address[0] in ("127.0.0.1", "::1", "localhost")
        if not inside:
            asked.append((event, str(address)))
            raise OSError("no network here")
    if event in ("urllib.Request", "http.client.connect", "ftplib.connect", "smtplib.connect"):
        asked.append((event, str(args)))
        raise OSError("no network here")
sys.addaudithook(watch)
"""
JOB = """
import warnings
warnings.simplefilter("ignore")
from symnmf.data.samples import sp500_prices
sp500_prices().to_parquet({place!r} + "/prices.parquet")
from symnmf.cli import main
words = "fit --prices {place}/prices.parquet --k 4 --dependence correlation --starts 2"
sys.argv = ["symnmf", *words.split(), "--out", {place!r} + "/out"]
try:
    main()
except SystemExit as end:
    assert end.code in (0, 1), end.code
assert not asked, asked
print("offline")
"""


def run(code):
    return subprocess.run(
        [sys.executable, "-c", code], env=faults.ENVIRONMENT, capture_output=True, text=True
    )


@pytest.mark.slow
def test_the_main_job_uses_no_network(tmp_path):
    with trial("no network"):
        done = run(OFFLINE + JOB.format(place=str(tmp_path)))
        assert done.stdout.splitlines()[-1:] == ["offline"], done.stderr
        assert (tmp_path / "out" / "manifest.json").is_file()


@pytest.mark.slow
def test_the_watch_sees_a_call():
    call = "import urllib.request\nurllib.request.urlopen('http://192.0.2.1/', timeout=1)"
    assert "no network here" in run(OFFLINE + call).stderr


def page():
    spec = importlib.util.spec_from_file_location("licences", ROOT / "docs" / "licences_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


#: Licences that ask for no more than to be named, and one that asks for its own files only.
FREE = {
    "MIT", "BSD", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "Apache-2.0", "ISC", "PSF-2.0", "Zlib",
    "CC0-1.0", "BSL-1.0", "MPL-2.0", "Apache-2.0 WITH LLVM-exception",
}  # fmt: skip


def test_licences_are_listed_and_free():
    """Every package that is installed for us stands on the page with a licence that we know."""
    module = page()
    written = dict(re.findall(r"^\| ([\w-]+) \| (.+) \|$", module.PAGE.read_text(), re.MULTILINE))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    direct = {re.split(r"[><=]", name)[0] for name in project["dependencies"]}
    assert direct <= set(written)
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    tested = {line.split("==")[0].replace("_", "-").lower() for line in lines}
    here = [name for name in module.needed() if name in tested]  # lowest versions need others
    assert set(here) >= direct - {"torch"}
    for name in here:
        with trial("licences"):
            assert name in written, f"run: make numbers ({name} is new)"
            assert set(re.split(r" AND | OR ", written[name])) <= FREE, (name, written[name])


def test_lowest_versions_are_pinned_from_the_project():
    found = pins()
    assert any(pin.startswith("torch==") for pin in found)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert len(found) == len(project["dependencies"])
    assert "tomli-w==1.0" in found
    assert all(re.fullmatch(r"[\w-]+==[\d.]+", pin) for pin in found)
