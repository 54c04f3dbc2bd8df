"""Sphinx configuration."""

from symnmf import __version__

project = "symnmf"
author = "the symnmf developers"
release = __version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "myst_parser"]
html_theme = "pydata_sphinx_theme"
html_theme_options = {"secondary_sidebar_items": []}
exclude_patterns = ["_build"]
napoleon_custom_sections = [("Arguments", "params_style")]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
suppress_warnings = ["myst.header"]
