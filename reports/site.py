"""The static site: all pages of a published file, and the list of them.

`index.html` is the overview, `latest.html` the newest day, `daily/<date>.html` the page of a day, which stays, and
`weekly/<week>.html` that of a week (reports/weekly.py). The others are made anew with each run.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from reports import wording
from reports.files import put


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
    from reports import cost_page

    return cost_page.render(file, draw=draw)


def _sources(file: Path, draw: bool) -> str:
    from reports import sources_page

    return sources_page.render(file)


def _methods(file: Path, draw: bool) -> str:
    from reports import methods_page

    return methods_page.render(file)


def _claims(file: Path, draw: bool) -> str:
    from reports import claims_page

    return claims_page.render(file)


def _tables(file: Path, draw: bool) -> str:
    from reports import methods_page

    return methods_page.render_tables(file)


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
        name="claims",
        path="claims.html",
        title="Claims",
        about="What is written about prices and speed, and what holds.",
        render=_claims,
        needs=("claim_audit", "claim_contradiction"),
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
)
"""The pages made of the file alone, in the order in which the overview lists them."""


def write(
    file: Path,
    folder: Path,
    *,
    local: bool = True,
    draw: bool | None = None,
    shown_in: str = "USD",
    standing: duckdb.DuckDBPyConnection | None = None,
    regions: str = "",
) -> Path:
    """Write all pages and feeds of a published file into a folder and return the path of the overview.

    A day has one page: a later run of that day replaces it. Each page appears whole or not at all; the overview comes
    last, as it leads to all others. Without `local`, pages that are not for publishing are left out, and taken away
    where they were. Charts take two seconds: with `draw` None they are drawn where a price is current.
    `shown_in` is the currency in which prices are shown beside US dollars. `standing` is the file cut to some regions,
    for the tables of where things stand of a day, and `regions` says to which.
    """
    # What these import costs half a second, which a command that writes no page must not pay.
    from reports import archive_page, asking, facts, feed, overview_page, page

    # Held open, the file is opened once for all pages, each of which asks through a connection of its own.
    with duckdb.connect(str(file), read_only=True):
        marts = {row["mart_name"] for row in asking.all_of(file, "mart_name")}
        if draw is None:
            draw = bool(asking.all_of(file, "any_current"))
        drawn = draw and marts.issuperset(DRAWN)
        found = facts.read(file, draw=drawn, shown_in=shown_in, standing=standing, regions=regions)
        places = (f"daily/{wording.day(found.built_at)}.html", "latest.html")
        for place, text in zip(places, page.render(found, places), strict=True):
            put(folder / place, text)
        shown = [each for each in PAGES if marts.issuperset(each.needs) and (local or not each.local_only)]
        for each in PAGES:
            if each in shown:
                put(folder / each.path, each.render(file, drawn))
            else:
                (folder / each.path).unlink(missing_ok=True)
        feed.write(file, folder)
        archive_page.write(folder)
        newest = folder / "index.html"
        put(newest, overview_page.render(found, shown, archive_page.weeks(folder)))
        return newest
