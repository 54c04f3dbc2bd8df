"""Exchanges over shaped links: the model of a gather, bytes, and links that are as stated."""

import numpy as np
import pytest

from symnmf.bench.measurement import Choices
from symnmf.bench.measurements import links
from symnmf.bench.shaped_links import shaping_possible

TABLES = links.MEASUREMENT.tables


def test_the_model_of_gathers_finds_its_coefficients():
    true = np.array([2e-4, 2.0, 1e-6, 1e-9, 1.0])
    settings = [
        (p, rate, delay / 1e3) for p in (2, 4) for rate, delay in links.FAST + links.DELAYED
    ]
    given = np.array([
        links.terms(p, (p - 1) * size, rate, delay)
        for p, rate, delay in settings for size in links.SENT
    ])  # fmt: skip
    assert links.fit(given, given @ true) == pytest.approx(true, rel=1e-3)


def test_received_bytes_by_the_formula():
    assert links.received("dense", 6400, 10, 4) == [4 * 10 * 4800]
    # Each of four processes has sixteen chunks, which are one node of the tree.
    assert links.received("gram", 6400, 10, 4) == [4 * links.M * 10 * 3, 4 * 10 * 4800]


@pytest.mark.slow
@pytest.mark.skipif(not shaping_possible(), reason="needs root, ip, tc and a tun")
def test_links(monkeypatch):
    monkeypatch.setattr(links, "PROCESSES", (2,))
    rows = list(links.measure(Choices(sizes=(640,))))
    found = {table.name: [r for r in rows if r.table == table.name] for table in TABLES}
    assert len(found["links"]) == len(links.FAST + links.DELAYED)
    slow = {row.labels["delay, ms"]: row.found["40 kB"] for row in found["links"]}
    assert slow[10.0] > 10  # no message arrives before its delay
    for row in found["links-bytes"][:2]:
        assert row.found["MB at the device"] >= row.found["MB by the formula"] > 0
