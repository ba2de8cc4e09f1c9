"""The static site: all pages of a published file, and the list of them.

`index.html` is the front page, `latest.html` the newest day, `daily/<date>.html` the page of a day, which stays, and
`weeks/<week>.html` that of a week (reports/weekly/). The others are made anew with each run.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path

import duckdb

from reports import wording
from reports.files import put
from reports.pages import archive, claims_page, daily_page, evidence_page, feed, front_page, guard, market_pages
from reports.queries import Published, marts, opened

DRAWN = ("price_index", "token_cost")
"""The marts that charts are drawn of, beside those of prices."""
RELEASES = "release.html"
"""The page of releases, where the folder has any."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page that is made of a published file alone: path below the reports, title, and the module that makes it.

    `make` is a function of the module, which takes the file. `needs` are the marts that the page is made of: a file
    without one of them has no such page. `local_only` pages are written only where the site is not published.
    """

    path: str
    title: str
    module: str
    make: str = "render"
    needs: tuple[str, ...] = ()
    is_drawn: bool = False
    local_only: bool = False

    def render(self, published: Published, draw: bool) -> str:
        """Return the page; where it cannot be made at all, one that says so. `draw` is whether it has its charts."""
        make: Callable[..., str] = getattr(import_module(f"reports.pages.{self.module}"), self.make)
        options = {"draw": draw} if self.is_drawn else {}
        return guard.page(self.title, lambda: make(published, **options), partial(guard.instead, self.title, self.path))


PAGES = (
    Page(
        path="cost.html",
        title="Cost per token",
        module="cost_page",
        needs=("token_cost", "training_cost", "throughput", "cost_left_out"),
        is_drawn=True,
    ),
    Page(path="drift.html", title="Drift", module="drift_page"),
    Page(path="explore.html", title="Explorer", module="explorer"),
    Page(
        path="claims.html",
        title="Claims",
        module="claims_page",
        needs=("claim_audit", "claim_contradiction", "option_saving"),
        local_only=True,
    ),
    Page(path="sources.html", title="Sources", module="sources_page"),
    Page(path="disagreement.html", title="Disagreement", module="disagreement_page", needs=("disagreement",)),
    Page(path="methods.html", title="Methods", module="methods_page"),
    Page(path="tables.html", title="Tables", module="methods_page", make="render_tables"),
    Page(path="tables-checks.html", title="Tables of checks", module="methods_page", make="render_check_tables"),
)
"""The pages made of the file alone."""


def write(
    file: Path,
    folder: Path,
    *,
    local: bool = True,
    draw: bool | None = None,
    shown_in: str = "USD",
    chips: Sequence[str] = (),
    standing: duckdb.DuckDBPyConnection | None = None,
    regions: str = "",
) -> Path:
    """Write all pages and feeds of a published file into a folder and return the path of the front page.

    A day has one page: a later run of that day replaces it. Each page appears whole or not at all; the front page comes
    last, as it leads to all others. Without `local`, pages that are not for publishing are left out, and taken away
    where they were. With `draw` None charts are drawn where a price is current.
    `shown_in` is the currency in which prices are shown beside US dollars, `chips` are those of the front page.
    `standing` is the file cut to some regions, for the prices of chips and providers, and `regions` says to which. A
    part that fails says so in its place, inside `guard.noted` (reports/pages/guard.py).
    """
    with opened(file) as published:
        built_at, _ = published.build
        known = marts(published.con)
        if draw is None:
            draw = bool(published.query("select 1 from int.accelerator_hour_price where is_current limit 1"))
        drawn = draw and known.issuperset(DRAWN)
        trouble = ""
        places = (f"daily/{wording.day(built_at)}.html", "latest.html")

        def of_day() -> list[str]:
            nonlocal trouble
            found = daily_page.read(published)
            trouble = daily_page.trouble(found["scope"])
            return daily_page.render(found, places)

        texts = guard.page("The day", of_day, lambda error: [guard.instead("The day", each, error) for each in places])
        for place, text in zip(places, texts, strict=True):
            put(folder / place, text)
        has_claims = False
        for each in PAGES:
            if known.issuperset(each.needs) and (local or not each.local_only):
                put(folder / each.path, each.render(published, drawn))
                has_claims = has_claims or each.path == claims_page.PLACE
            else:
                (folder / each.path).unlink(missing_ok=True)
        paths = market_pages.write(
            published, folder, data_sha256=sha256_of(file), shown_in=shown_in, standing=standing, regions=regions
        )
        guard.page("The feed", lambda: feed.write(published, folder), lambda error: None)
        archive.write(folder)
        links = [
            ("sources.html#checked", "What was checked"),
            *((page.path, f"Week {page.name}") for page in archive.weeks(folder)[:1]),
            *([(claims_page.PLACE, "Claims")] if has_claims else []),
            *([(RELEASES, "Data")] if (folder / RELEASES).is_file() else []),
        ]

        def of_front() -> tuple[str, str, str]:
            front = front_page.read(published, chips or front_page.CHIPS)
            offers = front.offers | (claims_page.offers(published) if has_claims else set())
            evidence = evidence_page.render(published, offers)
            return (
                evidence,
                front_page.render_providers(front, paths),
                front_page.render(front, trouble=trouble, links=links, paths=paths),
            )

        ends = {evidence_page.PLACE: "Evidence", front_page.PROVIDERS: "Providers", front_page.PLACE: "The front page"}
        made = guard.page(
            "The front page",
            of_front,
            lambda error: tuple(guard.instead(title, place, error) for place, title in ends.items()),
        )
        for place, text in zip(ends, made, strict=True):
            put(folder / place, text)
        return folder / front_page.PLACE


def sha256_of(file: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with file.open("rb") as body:
        return hashlib.file_digest(body, "sha256").hexdigest()
