"""The frame of every page: head, policy, style, the way to the other pages, footer; one HTML text that needs no other.

Links between pages are relative, so the folder works from a disk, in any place of a host, and mailed page by page.
"""

import base64
import hashlib
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from html import escape
from importlib.resources import files

from reports import wording

STRICTEST = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
POLICY = STRICTEST + "; script-src 'sha256-{}'"
"""A page asks nobody for anything, and runs our one script alone, even if text from outside should slip through."""

SITE = (
    ("index.html", "Prices"),
    ("cost.html", "Tokens"),
    ("drift.html", "Drift"),
    ("weekly/index.html", "This week"),
    ("sources.html", "Sources"),
    ("methods.html", "Methods"),
)
"""The pages that are always there, by their path, in the order of the navigation."""

MORE = (
    ("latest.html", "Newest day", "index.html"),
    ("evidence.html", "Evidence", "index.html"),
    ("archive.html", "Archive", "weekly/index.html"),
    ("tables.html", "Tables", "methods.html"),
    ("tables-checks.html", "Tables of checks", "methods.html"),
)
"""Other pages that are always there, which the footer leads to: path, words, the page of the navigation they are of."""


@cache
def style() -> str:
    """Return the one style sheet of all pages."""
    return (files("reports") / "page.css").read_text(encoding="utf-8")


@cache
def script() -> str:
    """Return the one script of all pages, which sorts and filters tables."""
    return "\n" + (files("reports") / "page.js").read_text(encoding="utf-8")


@cache
def policy() -> str:
    """Return what browsers are told to allow: by its hash, the script and no other."""
    return POLICY.format(base64.b64encode(hashlib.sha256(script().encode()).digest()).decode())


def root(place: str) -> str:
    """Return the relative way from a page to the folder of the reports: empty, or ../ for each folder it lies in."""
    return "../" * place.count("/")


def frame(
    *,
    title: str,
    headline: str,
    place: str,
    built_at: datetime | None,
    version: str,
    header: str = "",
    nav: Sequence[tuple[str, str]] = (),
    main: str,
    described: str = "",
    kind: str = "",
    head: Sequence[str] = (),
    footer: str = "",
) -> str:
    """Return a page; the same values give the same bytes.

    `title` is of the browser's tab, `headline` the one sentence at the top, `place` the path of the page below the
    folder of reports. `kind` says what page it is and `described` what search engines show; where it is empty, the
    headline. These are texts and are escaped here. `header` stands below the headline; it, `main`, `head` (elements
    of <head>) and `footer` are HTML, escaped by whoever makes them. `nav` leads to parts of the page: anchor, words.
    `built_at` is the only clock: when the published file was made, naive and UTC.
    """
    up = root(place)
    made = ""
    if built_at is not None:
        made = f'as of <time datetime="{built_at:%Y-%m-%dT%H:%M:%SZ}">{wording.minute(built_at)}</time>'
    about = ", ".join(filter(None, (escape(kind), made)))
    parts = " ".join(f'<a href="#{escape(anchor)}">{escape(words)}</a>' for anchor, words in nav)
    return "\n".join(
        (
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy()}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="description" content="{escape(described or headline)}">',
            *head,
            f"<title>{escape(title)} \N{MIDDLE DOT} chipledger</title>",
            '<link rel="icon" href="data:,">',
            f'<link rel="alternate" type="application/atom+xml" title="Price changes" href="{up}feed.atom">',
            f"<style>\n{style()}</style>",
            "</head>",
            "<body>",
            '<a class="skip" href="#main">Skip to the content</a>',
            _site(place, made),
            "<header>",
            *([f'<p class="about">{about}</p>'] if about and kind != "front" else []),
            f"<h1>{escape(headline)}</h1>",
            *([header] if header else []),
            *([f'<nav class="parts" aria-label="Parts of this page">{parts}</nav>'] if parts else []),
            "</header>",
            f'<main id="main" tabindex="-1">\n{main}\n</main>',
            _footer(place, version, footer),
            f"<script>{script()}</script>",
            "</body>",
            "</html>",
            "",
        )
    )


def alone(*, title: str, main: str) -> str:
    """Return a page that belongs to no site: the same head and style, no way to other pages, no script.

    `title` is a text and is escaped here; `main` is HTML, escaped by whoever makes it.
    """
    return "\n".join(
        (
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{STRICTEST}">',
            f"<title>{escape(title)} \N{MIDDLE DOT} chipledger</title>",
            f"<style>\n{style()}</style>",
            "</head>",
            "<body>",
            f"<main>\n{main}\n</main>",
            "</body>",
            "</html>",
            "",
        )
    )


def section(anchor: str, title: str, parts: Iterable[str]) -> str:
    """Return a part of a page under its heading; empty parts are left out."""
    body = "\n".join(part for part in parts if part)
    return f'<section aria-labelledby="{anchor}">\n<h2 id="{anchor}">{title}</h2>\n{body}\n</section>'


def _site(place: str, made: str) -> str:
    up = root(place)
    right = f' <span class="as-of">{made}</span>' if made else ""
    parent = next((path for of, _, path in MORE if of == place), None)
    links = " ".join(
        f'<a href="{up}{path}"{_current(path == place, path == parent)}>{words}</a>' for path, words in SITE
    )
    return f'<nav class="site" aria-label="Pages"><span class="title">chipledger</span> {links}{right}</nav>'


def _current(is_page: bool, is_parent: bool = False) -> str:
    """Return the attribute that says where the reader is: this page, or the part of the site it belongs to."""
    return ' aria-current="page"' if is_page else ' aria-current="true"' if is_parent else ""


def _footer(place: str, version: str, words: str) -> str:
    up = root(place)
    more = " \N{MIDDLE DOT} ".join(
        f'<a href="{up}{path}"{_current(path == place)}>{words}</a>' for path, words, _ in MORE
    )
    told = " ".join(filter(None, (f"chipledger {escape(version)}.", "Times are UTC.", words)))
    return (
        f'<footer>{told} Feed: <a href="{up}feed.atom">price changes</a>. Data: '
        f'<a href="{up}latest.json">latest.json</a>. More: {more}</footer>'
    )
