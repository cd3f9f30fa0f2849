"""Executes every Python block of the README and of docs/python.md, in the order of the page."""

import re
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def blocks(page):
    """(line, code) of every block that is marked as Python."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [(text[: match.start(1)].count("\n") + 1, match[1]) for match in re.finditer(r"^```python\n(.*?)^```$", text, re.S | re.M)]


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_every_block_of_the_page_runs(page, tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    pytest.importorskip("scipy")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    found = blocks(page)
    assert found
    names = {"__name__": "page"}
    for line, code in found:
        exec(compile("\n" * (line - 1) + code, page, "exec"), names)
    if page == "docs/python.md":
        assert (tmp_path / "collision.png").stat().st_size > 10_000
