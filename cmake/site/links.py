"""Checks every link of a site that leads to a file or an anchor of the site: python3 links.py DIRECTORY. Prints those that lead nowhere or out
of the directory, and exits with 1 where there are some. Links to other hosts are not followed."""

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote


class Page(HTMLParser):
    """Anchors and links of a page."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = {"", "top"}, []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def dead_links(root):
    """(page, link, reason) of every link that does not lead to a file or an anchor below root."""
    pages = {path: Page(path.read_text(encoding="utf-8", errors="replace")) for path in root.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / unquote(file.split("?")[0])).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_relative_to(root) or link.startswith("/"):
                yield path, link, "leads out of the site"
            elif not target.exists():
                yield path, link, "there is no such file"
            elif target in pages and unquote(anchor) not in pages[target].anchors:
                yield path, link, "there is no such anchor"


if __name__ == "__main__":
    root = Path(sys.argv[1]).resolve()
    dead = list(dead_links(root))
    for path, link, reason in dead:
        print(f"{path.relative_to(root)}: {link}: {reason}")
    sys.exit(1 if dead else 0)
