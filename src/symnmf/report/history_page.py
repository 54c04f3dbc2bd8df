"""The page of a history: one file without scripts."""

from __future__ import annotations

from importlib.resources import files as resources

from markupsafe import Markup

from symnmf.grouping.windows import Rolling
from symnmf.report.history import history


def render_history(found: Rolling, title: str = "") -> str:
    """The page about groups through time as HTML text.

    Arguments:
        found: what :func:`symnmf.rolling` or :func:`symnmf.load_rolling` returned.
        title: name of the data.

    Example:
        >>> import symnmf as sn
        >>> from symnmf.data.samples import sp500_prices
        >>> panel = sn.read_panel(sp500_prices(), kind="prices")
        >>> page = render_history(sn.rolling(panel, 4000, 4000, 3, "correlation"), "stocks")
        >>> "<svg" in page, "<script" in page
        (True, False)
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("symnmf.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    folder = resources("symnmf.report") / "templates"
    style = "".join((folder / name).read_text("utf-8") for name in ("report.css", "history.css"))
    page = environment.get_template("history.html").render(
        c=history(found, title),
        policy="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
        style=Markup(style),
    )
    return page.lstrip().encode("utf-8", "replace").decode("utf-8")
