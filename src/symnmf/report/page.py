"""The page: one file that opens anywhere, without a network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files as resources
from pathlib import Path
from typing import Any

from markupsafe import Markup

from symnmf import files
from symnmf.contract import Result
from symnmf.data.panel import Panel
from symnmf.errors import InvalidFile
from symnmf.operators import as_operator
from symnmf.report.content import Content, gather
from symnmf.report.embed import script_json


def write_report(
    path: str | Path,
    result: Result,
    S: Any,
    *,
    title: str = "",
    panel: Panel | None = None,
    classes: Mapping[str, str] | None = None,
    steps: Sequence[str] = (),
    force: bool = False,
) -> Path:
    """Write a page about a factorization: one file that opens in any browser, offline.

    Arguments:
        path: of the file, such as ``report.html``.
        result: what :func:`symnmf.factorize` returned.
        S: what was factorized.
        title: what it is of.
        panel: the returns that S was estimated from: adds events, thresholds and the other kind of
            dependence.
        classes: class of each name, to hold the groups against.
        steps: what was done to the data; by default what panel and S say.
        force: replace a file that is there.

    Example:
        >>> import tempfile, numpy as np, symnmf as sn
        >>> S = np.kron(np.eye(2), np.ones((3, 3)))
        >>> path = Path(tempfile.mkdtemp()) / "report.html"
        >>> write_report(path, sn.factorize(S, k=2), S).stat().st_size < 15e6
        True
    """
    path = Path(path)
    if path.exists() and not force:
        raise InvalidFile(str(path), "is there already", "Choose another name, or pass force")
    content = gather(result, as_operator(S), title=title, panel=panel, classes=classes, steps=steps)
    files.write_text(path, render(content))
    return path


def render(content: Content) -> str:
    """The page as text."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from plotly.offline import get_plotlyjs

    loader = PackageLoader("symnmf.report", "page")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    scripts = [_script(get_plotlyjs()), _script(_read("report.js"))]
    hashes = " ".join(f"'sha256-{_digest(text)}'" for text in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    data = {
        "figures": {shown.id: shown.figure for shown in content.figures.values()},
        "index": vars(content.index),
        "leaders": {card.number: card.leader for card in content.cards},
        "downloads": content.downloads,
    }
    page = environment.get_template("report.html").render(
        c=content,
        policy=policy,
        style=Markup(_read("report.css")),
        scripts=[Markup(text) for text in scripts],
        data=Markup(script_json(data)),
    )
    return page.lstrip().encode("utf-8", "replace").decode("utf-8")


def _read(name: str) -> str:
    return (resources("symnmf.report") / "page" / name).read_text(encoding="utf-8")


def _script(text: str) -> str:
    """Script text as a browser reads it, for its checksum."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
