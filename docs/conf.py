"""Sphinx configuration; `make docs` builds the pages into build/docs and treats warnings as errors."""

from __future__ import annotations

import sys
from pathlib import Path

from sojourn import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_sphinx"))

project = "Sojourn"
author = "The Sojourn developers"
copyright = author  # noqa: A001 - Sphinx requires this name
release = version = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "commands",
    "docstrings",
    "formulas",
    "guides",
    "links",
    "order",
    "phones",
]
exclude_patterns = ["_sphinx", "_static", "README.md"]
nitpicky = False

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

autodoc_mock_imports = ["sb3_contrib", "stable_baselines3", "torch"]  # not in the locked environment
autodoc_default_options = {"members": True}
autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False  # inherited methods are documented in the base class only
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_type_aliases = {
    name: name for name in ("ArrayLike", "BoolArray", "FloatArray", "IntArray", "PolicyArray")
}
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 88
napoleon_use_ivar = True
napoleon_attr_annotations = False
napoleon_use_rtype = False
add_module_names = False
default_role = "literal"
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"Sojourn {version}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_js_files = ["copy.js"]
html_copy_source = False
html_show_sphinx = False
html_last_updated_fmt = None
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072B2", "color-brand-content": "#0072B2"},
    "dark_css_variables": {"color-brand-primary": "#56B4E9", "color-brand-content": "#56B4E9"},
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
