"""The static site: all pages of a published file, and the list of them.

`index.html` is the front page, `latest.html` the newest day, `daily/<date>.html` the page of a day, which stays, and
`weekly/<week>.html` that of a week (reports/weekly/pages.py). The others are made anew with each run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import duckdb

from reports import wording
from reports.files import put
from reports.pages import guard
from reports.pages.frame import frame


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page that is made of a published file alone: name, path below the reports, title, what it is, how.

    `render` takes the file, and whether charts are drawn. `needs` are the marts that it is made of: a file without one
    of them has no such page. `local_only` pages are written only where the site is not published (`local` of `write`).
    """

    name: str
    path: str
    title: str
    about: str
    render: Callable[[Path, bool], str]
    needs: tuple[str, ...] = ()
    local_only: bool = False


def _cost(file: Path, draw: bool) -> str:
    from reports.pages import cost_page

    return cost_page.render(file, draw=draw)


def _drift(file: Path, draw: bool) -> str:
    from reports.pages import drift_page

    return drift_page.render(file)


def _sources(file: Path, draw: bool) -> str:
    from reports.pages import sources_page

    return sources_page.render(file)


def _methods(file: Path, draw: bool) -> str:
    from reports.pages import methods_page

    return methods_page.render(file)


def _claims(file: Path, draw: bool) -> str:
    from reports.pages import claims_page

    return claims_page.render(file)


def _tables(file: Path, draw: bool) -> str:
    from reports.pages import methods_page

    return methods_page.render_tables(file)


def _tables_of_checks(file: Path, draw: bool) -> str:
    from reports.pages import methods_page

    return methods_page.render_tables(file, of_checks=True)


DRAWN = ("price_index", "token_cost")
"""The marts that charts are drawn of, beside those of prices."""

PAGES = (
    Page(
        name="cost",
        path="cost.html",
        title="Cost per token",
        about="What a million tokens costs, chip beside chip at equal operating points, with grade and bound.",
        render=_cost,
        needs=("token_cost", "training_cost", "throughput", "cost_left_out"),
    ),
    Page(
        name="drift",
        path="drift.html",
        title="Drift",
        about="What prices did over 7, 30, 90 and 365 days, like for like.",
        render=_drift,
    ),
    Page(
        name="claims",
        path="claims.html",
        title="Claims",
        about="What is written about prices and speed, and what holds.",
        render=_claims,
        needs=("claim_audit", "claim_contradiction", "option_saving"),
        local_only=True,
    ),
    Page(
        name="sources",
        path="sources.html",
        title="Sources",
        about="What was read when, what failed, what was refused, and where sources disagree.",
        render=_sources,
    ),
    Page(
        name="methods",
        path="methods.html",
        title="Methods",
        about="Every formula, and the tables that take numbers of one's own.",
        render=_methods,
    ),
    Page(
        name="tables",
        path="tables.html",
        title="Tables",
        about="The SQL of every table, as it stands in the file.",
        render=_tables,
    ),
    Page(
        name="checks",
        path="tables-checks.html",
        title="Tables of checks",
        about="The SQL of every truth check, as it stands in the file.",
        render=_tables_of_checks,
    ),
)
"""The pages made of the file alone, in the order in which the overview lists them."""


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
    where they were. Charts take two seconds: with `draw` None they are drawn where a price is current.
    `shown_in` is the currency in which prices are shown beside US dollars, `chips` are those of the front page.
    `standing` is the file cut to some regions, for the tables of where things stand of a day, and `regions` says to
    which. A part that fails says so in its place, inside `guard.noted` (reports/pages/guard.py).
    """
    # What these import costs half a second, which a command that writes no page must not pay.
    from reports import queries
    from reports.pages import archive_page, evidence_page, facts, feed, front_facts, front_page, news, page
    from reports.tables import saving_table
    from reports.weekly import archive

    # Held open, the file is opened once for all pages, each of which asks through a connection of its own.
    with duckdb.connect(str(file), read_only=True):
        marts = {row["mart_name"] for row in queries.all_of(file, "mart_name")}
        if draw is None:
            draw = bool(queries.all_of(file, "any_current"))
        drawn = draw and marts.issuperset(DRAWN)
        (built_at,) = queries.all_of(file, "built_at")
        trouble = ""
        places = (f"daily/{wording.day(built_at['built_at'])}.html", "latest.html")

        def of_day() -> list[str]:
            nonlocal trouble
            found = facts.read(file, draw=drawn, shown_in=shown_in, standing=standing, regions=regions)
            trouble = news.trouble(found.scopes)
            return page.render(found, places)

        texts = guard.page("The day", of_day, lambda error: [_instead("The day", each, error) for each in places])
        for place, text in zip(places, texts, strict=True):
            put(folder / place, text)
        shown = [each for each in PAGES if marts.issuperset(each.needs) and (local or not each.local_only)]
        for each in PAGES:
            if each in shown:
                put(folder / each.path, _whole(each, file, drawn))
            else:
                (folder / each.path).unlink(missing_ok=True)
        guard.page("The feed", lambda: feed.write(file, folder), lambda error: None)
        put(folder / "weekly" / "index.html", archive.index(folder / "weekly"))
        archive_page.write(folder)
        links = [
            ("sources.html#checked", "What was checked"),
            *((told.path, f"Week {told.name}") for told in archive_page.weeks(folder)[:1]),
            *((each.path, each.title) for each in shown if each.name == "claims"),
        ]

        def of_front() -> tuple[str, str]:
            front = front_facts.read(file, chips or front_facts.CHIPS)
            linked = saving_table.offers(file) if any(each.name == "claims" for each in shown) else []
            offers = sorted({*front.offers, *linked})
            evidence = evidence_page.render(file, offers, built_at=front.built_at, version=front.version)
            return evidence, front_page.render(front, trouble=trouble, links=links)

        ends = (evidence_page.PLACE, front_page.PLACE)
        made = guard.page(
            "The front page",
            of_front,
            lambda error: (_instead("Evidence", ends[0], error), _instead("The front page", ends[1], error)),
        )
        for place, text in zip(ends, made, strict=True):
            put(folder / place, text)
        return folder / front_page.PLACE


def _whole(each: Page, file: Path, draw: bool) -> str:
    """Return a page; where it cannot be made at all, one that says so."""
    return guard.page(each.title, lambda: each.render(file, draw), partial(_instead, each.title, each.path))


def _instead(title: str, place: str, error: Exception) -> str:
    return frame(
        title=title,
        headline=f"{title}: this page could not be made",
        place=place,
        built_at=None,
        version="",
        main=guard.sorry(title, error),
    )
