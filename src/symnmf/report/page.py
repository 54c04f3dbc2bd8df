"""The page: one file that opens in any browser, without a network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from symnmf import storage
from symnmf.analysis import Analysis
from symnmf.errors import InvalidFile, spelled
from symnmf.grouping.windows import Rolling
from symnmf.plot.style import KIND_COLORS
from symnmf.report.content import Content, Shown, gather
from symnmf.report.embed import embedded_size, script_json
from symnmf.report.history_page import render_history
from symnmf.report.svg_figures import drawn
from symnmf.report.words import share

if TYPE_CHECKING:
    from jinja2 import Template

#: Bytes that a page should have at most, and those of a table to save that always stays.
PAGE_BYTES, SMALL_TABLE = 1_000_000, 20_000


def write_report(
    path: str | Path, found: Analysis | Rolling, *, force: bool = False, title: str = ""
) -> Path:
    """Write a page about an analysis or a history: one file that opens in any browser, offline.

    Arguments:
        path: path of the file, such as ``report.html``.
        found: what :func:`symnmf.analyse` returned, or ``symnmf.Analysis.of(result, S)`` for an
            existing factorization, or what :func:`symnmf.rolling` returned.
        force: whether to replace an existing file.
        title: name of the data of a history; an analysis has its own.

    Returns:
        The path.

    Raises:
        InvalidFile: the file exists and ``force`` is False.

    Example:
        >>> import tempfile, numpy as np, symnmf as sn
        >>> S = np.kron(np.eye(2), np.ones((3, 3)))
        >>> path = Path(tempfile.mkdtemp()) / "report.html"
        >>> found = sn.Analysis.of(sn.factorize(S, k=2), S)
        >>> write_report(path, found).stat().st_size < 1e6
        True
    """
    path = Path(path)
    if path.exists() and not force:
        raise InvalidFile(
            str(path), "already exists", f"Choose another name, or pass {spelled('force')}"
        )
    page = render_history(found, title) if isinstance(found, Rolling) else render(gather(found))
    storage.write_text(path, page)
    return path


def render(content: Content) -> str:
    """The page as HTML text; tables to save that make it larger than 1 MB are left out."""
    made: dict[tuple[str, str], Markup] = {}

    def picture(shown: Shown, size: str = "full") -> Markup:
        key = (shown.id, size)
        if key not in made:
            made[key] = drawn(shown.figure, shown.id, shown.alt, size)
        return made[key]

    page = _render(content, picture)
    excess = len(page.encode("utf-8")) - PAGE_BYTES
    if excess <= 0:
        return page
    for name, text in sorted(content.downloads.items(), key=lambda item: -len(item[1])):
        size = embedded_size(text)
        if excess <= 0 or size < SMALL_TABLE:
            break
        del content.downloads[name]
        content.too_large.append(name)
        excess -= size
    return _render(content, picture)


def _render(content: Content, picture: Callable[..., Markup]) -> str:
    scripts = [_script(_read("report.js"))]
    hashes = " ".join(f"'sha256-{_digest(text)}'" for text in scripts)
    policy = (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    data = {
        "index": vars(content.index),
        "leaders": {card.number: card.heading for card in content.cards},
        "downloads": content.downloads,
    }
    page = _template().render(
        c=content,
        picture=picture,
        share=share,
        policy=policy,
        style=Markup(_read("report.css")),
        scripts=[Markup(text) for text in scripts],
        data=script_json(data),
        colors=KIND_COLORS,
    )
    return page.lstrip().encode("utf-8", "replace").decode("utf-8")


@cache
def _template() -> Template:
    """The template of the page, which is compiled once: that takes longer than to fill it in."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("symnmf.report", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("report.html")


def _read(name: str) -> str:
    return (resources("symnmf.report") / "templates" / name).read_text(encoding="utf-8")


def _script(text: str) -> str:
    """Script text as a browser reads it, for its checksum."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")
