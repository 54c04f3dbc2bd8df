"""Sphinx configuration."""

import json
import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from myst_parser.parsers.sphinx_ import MystParser

from symnmf import __version__

project = "symnmf"
author = "the symnmf developers"
release = __version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "myst_parser"]
html_math_renderer = "mathml"  # drawn by the browser: no script, no network
source_suffix = {".md": "markdown", ".ipynb": "notebook"}
myst_enable_extensions = ["amsmath", "attrs_block", "dollarmath"]
myst_heading_anchors = 3
html_theme = "pydata_sphinx_theme"
html_title = "symnmf"
html_theme_options = {
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "navigation_with_keys": False,
    "show_prev_next": False,
}
html_sidebars = {"results": []}  # wide tables
html_static_path = ["_static"]
html_css_files = ["cards.css"]
html_js_files = ["sortable.js"]
exclude_patterns = ["_build"]
napoleon_use_ivar = True
autodoc_typehints = "description"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True}
python_use_unqualified_type_names = True
suppress_warnings = ["myst.header"]


class NotebookParser(MystParser):
    """A notebook as a page: its words as markdown, its code as blocks, without running it."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: nodes.document) -> None:
        """Turn the cells into one page of markdown."""
        parts = []
        for cell in json.loads(inputstring)["cells"]:
            text = "".join(cell["source"])
            parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        super().parse("\n\n".join(parts), document)


def show_formulas(app, what, name, obj, options, lines):
    """Formulas of docstrings, indented paragraphs, as they stand; |x| is no substitution."""
    shown, literal = [], False
    for line in lines:
        indented = line.startswith("    ")
        if line.strip() and not indented:
            literal = False
        elif indented and shown and not shown[-1] and not literal:
            last = next((text for text in reversed(shown) if text), "")
            if not last.startswith(" "):  # after a paragraph, not within a section
                shown += ["::", ""]
                literal = True
        if not literal and not line.strip().startswith((">>>", "...")):
            parts = line.split("``")  # every other one is code
            parts[::2] = [part.replace("|", "\\|") for part in parts[::2]]
            line = "``".join(parts)
        shown.append(line)
    lines[:] = shown


#: The attributes of a docstring; and an entry for several names, with its further lines.
ATTRIBUTES = re.compile(r"^Attributes:\n(?:(?: .*)?(?:\n|\Z))*", re.MULTILINE)
SHARED = re.compile(r"^( +)(\w+(?:, \w+)+): (.*(?:\n\1 +.*)*)$", re.MULTILINE)


def split_attributes(app, what, name, obj, options, lines):
    """One entry for each attribute: of several, napoleon takes all but the last for a type."""

    def one_each(entry):
        return "\n".join(f"{entry[1]}{word}: {entry[3]}" for word in entry[2].split(", "))

    text = "\n".join(lines)
    lines[:] = ATTRIBUTES.sub(lambda part: SHARED.sub(one_each, part[0]), text).split("\n")


def inline_formula(writer, node):
    """A formula in a line, as MathML."""
    writer.body.append(mathml(node, as_block=False))
    raise nodes.SkipNode


def displayed_formula(writer, node):
    """A formula in a paragraph of its own, as MathML."""
    writer.body.append(f'<div class="math">{mathml(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def mathml(node, as_block):
    """The MathML of a formula; a formula that docutils cannot read stops the build."""
    try:
        formula = tex2mathml(node.astext(), as_block=as_block)
    except MathError as wrong:
        raise ValueError(f"{node.source}: {node.astext()!r}: {wrong}") from wrong
    # A bar of a norm that stretches is drawn below the line where it carries an exponent.
    return formula.replace("<mo>‖</mo>", '<mo stretchy="false">‖</mo>')


def setup(app):
    """Register the formulas, the parser of notebooks, and the readers of docstrings."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
    app.add_source_parser(NotebookParser)
    app.connect("autodoc-process-docstring", split_attributes, priority=90)
    app.connect("autodoc-process-docstring", show_formulas, priority=100)
