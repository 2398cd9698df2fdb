"""Sphinx's configuration of the documentation site: ``make docs-site``.

The pages are plain Markdown that also reads well without Sphinx; ``scripts/site_pages.py`` prepares them for the site.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts.site_pages import prepare  # noqa: E402 - after the path to it
from scripts.write_reference import write_api_page  # noqa: E402 - likewise

project = "rankgauge"
author = "The rankgauge developers"
project_copyright = author
release = re.findall(r'__version__ = "(.+)"', (ROOT / "src/rankgauge/_version.py").read_text(encoding="utf-8"))[0]
language = "en"

extensions = ["myst_parser"]
exclude_patterns = ["_search", "_static", "reference/schemas"]
myst_heading_anchors = 4
nitpicky = True
highlight_language = "none"

html_theme = "furo"
html_title = f"rankgauge {release}"
html_theme_options = {"navigation_with_keys": True}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/icon.svg"
html_search_scorer = str(ROOT / "docs/_search/scorer.js")
html_copy_source = False
html_show_sourcelink = False
pygments_style = "tango"
pygments_dark_style = "native"


def setup(app):
    """Write the page that is made from the code, and connect what prepares a page."""
    write_api_page()
    app.connect("source-read", lambda app, name, source: source.__setitem__(0, prepare(name, source[0])))
