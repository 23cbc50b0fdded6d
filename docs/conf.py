"""Sphinx builds the documentation site from this folder: `python docs/make.py site FOLDER`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))

import attncalc

project = "attncalc"
version = release = attncalc.__version__
copyright = "the authors of attncalc"  # noqa: A001 - Sphinx's name

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "tools.site"]
exclude_patterns = ["tools", "gallery/pages", "gallery/work", "notebooks/.ipynb_checkpoints"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
smartquotes = False  # --out stays --out
default_role = "code"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False

html_theme = "furo"
html_title = "attncalc"
html_show_sphinx = False
html_copy_source = False
html_search_scorer = str(Path(__file__).parent / "tools" / "search_ranking.js")
html_static_path = ["static"]
html_css_files = ["attncalc.css"]
html_math_renderer = "mathml"
