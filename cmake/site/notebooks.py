"""The notebooks of a directory as pages of Markdown beside them, for the documentation site: python3 notebooks.py DIRECTORY

Text cells are text, code cells are blocks of Python; outputs are not stored in the notebooks.
"""

import json
import sys
from pathlib import Path


def page(name, cells):
    """The text of the page."""
    parts = []
    for cell in cells:
        text = "".join(cell["source"]).strip("\n")
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    parts.append(f"This page is a notebook: [{name}]({name}).")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    for notebook in sorted(Path(sys.argv[1]).glob("*.ipynb")):
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        notebook.with_suffix(".md").write_text(page(notebook.name, cells), encoding="utf-8")
