"""The frame of every page: head, policy, style, the way to the other pages, footer; one HTML text that needs no other.

Links between pages are relative, so the folder works from a disk, in any place of a host, and mailed page by page.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from importlib.resources import files

from markupsafe import Markup

from reports.tables.table import Table
from reports.templating import render

STRICTEST = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
POLICY = STRICTEST + "; script-src 'sha256-{}'"
"""A page asks nobody for anything, and runs our one script alone, even if text from outside should slip through."""

SITE = (
    ("index.html", "Prices"),
    ("cost.html", "Tokens"),
    ("explore.html", "Explorer"),
    ("drift.html", "Drift"),
    ("weeks/index.html", "This week"),
    ("methods.html", "Methods"),
)
"""The pages that are always there, by their path, in the order of the navigation."""

Part = tuple[str, Sequence[str], Sequence[Mapping[str, str]], Sequence[str], bool]

MORE = (
    ("latest.html", "Newest day", "index.html"),
    ("providers.html", "Chips and providers", "index.html"),
    ("evidence.html", "Evidence", "index.html"),
    ("sources.html", "Sources", "methods.html"),
    ("disagreement.html", "Disagreement", "methods.html"),
    ("tables.html", "Tables", "methods.html"),
    ("tables-checks.html", "Tables of checks", "methods.html"),
)
"""Other pages that are always there, which the footer leads to: path, name, the page of the navigation they are of."""


@cache
def style() -> Markup:
    """Return the one style sheet of all pages."""
    return Markup((files("reports") / "page.css").read_text(encoding="utf-8"))  # noqa: S704 (our own file)


@cache
def script() -> Markup:
    """Return the one script of all pages, which sorts and filters tables."""
    return Markup("\n" + (files("reports") / "page.js").read_text(encoding="utf-8"))  # noqa: S704 (our own file)


@cache
def policy(text: Markup) -> Markup:
    """Return the policy of a page: by its hash, this script runs, and no other."""
    return Markup(POLICY).format(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())  # noqa: S704


def root(place: str) -> str:
    """Return the relative way from a page to the folder of the reports: empty, or ../ for each folder it lies in."""
    return "../" * place.count("/")


def frame(
    template: str,
    *,
    place: str,
    build: tuple[datetime | None, str],
    nav: Sequence[tuple[str, str]] = (),
    sections: Sequence[tuple[str, str, Table]] = (),
    **values: object,
) -> str:
    """Return the page of a template, with `values` for its own parts; the same values give the same bytes.

    `title` is of the browser's tab, `headline` the one sentence at the top, `place` the path of the page below the
    folder of reports, `kind` what page it is. `nav` leads to parts of the page: anchor, name;
    `sections` are added at its end: anchor, name, table. What of these is fixed stands in the template. `build` is
    when the published file was made, naive and UTC, the only clock, and by which version.
    """
    known: dict[str, object] = {"style": style(), "script": script(), "policy": policy(script())}
    known |= {"site": SITE, "more": MORE}
    known |= {"title": "", "headline": "", "kind": "", "cited": None, "built_at": build[0], "version": build[1]}
    known |= {"place": place, "root": root(place), "parent": {path: of for path, _, of in MORE}.get(place)}
    known |= {"sections": sections, "nav": [*nav, *((anchor, name) for anchor, name, _ in sections)]}
    return render(template, **known | values)


def answer(title: str, parts: Sequence[Part]) -> str:
    """Return the answer of a command as a page that belongs to no site: no way to other pages, no script.

    Each part is a heading, lines before its table, the table by column, lines after it, and if the table is folded.
    """
    return render("answer.html.j2", title=title, parts=parts, **alone())


def alone() -> dict[str, Markup]:
    """Return what a page needs that belongs to no site."""
    return {"style": style(), "policy": Markup(STRICTEST)}  # noqa: S704
