"""The documentation site: pages of docs/ and of the root directory, and the Python reference from docstrings. cmake/docs.sh calls Sphinx with
this file; the extension kasane._core is that of a build where one is given, and otherwise stands for itself."""

import os
import re
import sys
from pathlib import Path

source = Path(os.environ["KASANE_SITE_SOURCE"])
sys.path.insert(0, str(source / "python"))

project = "kasane"
author = copyright = "The kasane developers"  # noqa: A001
version = release = os.environ["KASANE_VERSION"]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["packaging", "python"]

html_theme = "furo"
html_title = "kasane"
html_static_path = [str(source / "static")]
html_css_files = ["site.css"]
html_extra_path = [str(source / "extra")]
html_show_sourcelink = False
html_copy_source = False

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["misc.highlighting_failure"]

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_default_options = {"members": True}
if not (source / "python/kasane/_core.py").exists():
    autodoc_mock_imports = ["kasane._core"]
pygments_style = "tango"
pygments_dark_style = "native"
highlight_language = "none"


def escape(app, what, name, obj, options, lines):
    """Docstrings are plain text: ||A x||, x_i and b* are no markup of reStructuredText. Examples and indented lines stay."""
    for number, line in enumerate(lines):
        if not line.startswith((">>>", "...", "    ", "..")):
            lines[number] = re.sub(r"(?<!\\)([|*]|_(?=\W|$))", r"\\\1", line)


def setup(app):
    app.connect("autodoc-process-docstring", escape)
