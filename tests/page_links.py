"""The links of pages, and which of them lead nowhere."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit


class Links(HTMLParser):
    """The links and ids of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [values["href"] or ""] if values.get("href") and tag in ("a", "link") else []
        self.ids |= {values["id"] or ""} if values.get("id") else set()


def dead(reports: Path) -> list[tuple[str, str]]:
    """Return page and link of each link that leads to no page or part below a folder, nor to an address."""
    root = reports.resolve()
    pages = {path: Links(path) for path in root.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in page.links:
            to = urlsplit(link)
            target = (path.parent / to.path).resolve() if to.path else path
            is_there = target.is_relative_to(root) and target.is_file()
            is_good = is_there and (not to.fragment or to.fragment in pages[target].ids)
            if not (to.scheme in ("https", "http", "data") if to.scheme else is_good):
                found.append((path.name, link))
    return found
