"""What writers of bench/shared.py collect, and what must hold of it at any moment: prices by a rule, checked by it.

Each writer is a source of its own with some scopes. Which offers a scope has at its look number n, and at what price,
follows from the seed alone: most change their price every few looks, go for one look and come back, some begin late.
So whoever sees a look in the log, or in a published file, knows how many rows and events it must have.
"""

import json
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import duckdb

from extract.base import Context, Parsed, Source
from flows.collect import collector, ingest, publisher
from warehouse.documents import Document, ScopeFetch

CHIPS, COUNTS = ("H100", "A100", "H200", "B200", "L40S", "RTX 4090", "A10", "L4"), (1, 2, 4, 8)
N_SHARED = 2
"""Offers that the first scope of every writer shows alike: each stands in the log once, whoever was first."""
LATEST = 30
"""By this look even the last offer of a scope has begun."""
IN_LOG, IN_FILE = "core.price_known_at(TIMESTAMP '9999-01-01')", "core.sku_price"
"""The intervals: in the log a pure function of it, in a published file a table."""

INVARIANTS = (
    ("an event has no document", "select 1 from core.price_event anti join core.document using (document_sha256)"),
    ("an event has no offer", "select 1 from core.price_event anti join core.offer using (offer_id)"),
    (
        "an offer has two open intervals from one source",
        "select 1 from {intervals} where valid_to is null group by offer_id, source having count(*) > 1",
    ),
    (
        "intervals of one offer and source overlap",
        "select 1 from {intervals} qualify valid_from < lag(coalesce(valid_to, TIMESTAMP '9999-01-01')) over "
        "(partition by offer_id, source order by valid_from)",
    ),
    ("an offer stands twice", "select 1 from core.offer group by offer_id having count(*) > 1"),
    ("a document stands twice", "select 1 from core.document group by document_sha256, url having count(*) > 1"),
    ("a look stands twice", "select 1 from core.scope_run group by source, scope, observed_at having count(*) > 1"),
    (
        "an event stands twice",
        "select 1 from core.price_event group by offer_id, source, valid_from having count(*) > 1",
    ),
)
"""What must hold of the log at each snapshot, and of each file: a name and a SELECT that must give no row."""
LOOKS = """
with moved as (select source, scope, valid_from, count(*) as n_events from core.price_event group by all)

select
    r.source,
    r.scope,
    r.status,
    r.n_rows,
    r.n_refused,
    coalesce(m.n_events, 0) as n_events,
    d.url
from core.scope_run as r
left join core.document as d on r.document_sha256 = d.document_sha256
left join moved as m on r.source = m.source and r.scope = m.scope and r.observed_at = m.valid_from
"""


@dataclass(frozen=True, kw_only=True)
class World:
    """All that writers collect: how many there are, how many scopes each has, and offers each scope."""

    n_writers: int
    n_scopes: int = 3
    n_offers: int = 40
    seed: int = 20261121

    @property
    def scopes(self) -> tuple[str, ...]:
        return tuple(f"scope-{number}" for number in range(self.n_scopes))

    def prices(self, source: str, scope: str, number: int) -> dict[int, str]:
        """Return the price of each offer that a scope has at a look, by the offer's number; none before look 1."""
        found = {}
        for offer in range(self.n_offers if number > 0 else 0):
            least, growth, every, cycle, phase, begins = _rule(self.seed, source, scope, offer)
            if number >= begins and (number + phase) % cycle:
                found[offer] = f"{_count(offer) * least * (1 + growth * (number // every % 3)):.4f}"
        return found

    def expected(self, source: str, scope: str, number: int) -> tuple[int, int]:
        """Return how many rows and how many events a look gives."""
        return _expected(self, source, scope, number)

    def rows(self, source: str, scope: str, number: int) -> list[dict[str, Any]]:
        """Return the rows of a look."""
        is_first = scope == self.scopes[0]
        return [
            {
                "service_provider_name": "Lambda", "capacity_unit": "instance", "purchase_option": "on_demand",
                "region_id": "everywhere" if is_first and offer < N_SHARED else f"{source}-{scope}",
                "statistic": "price", "pricing_currency": "USD", "unit_price_type": "List", "unit_price": price,
                "instance_type": f"vm-{offer}", "accelerator_label": CHIPS[offer % len(CHIPS)],
                "accelerator_count": str(_count(offer)),
            }
            for offer, price in self.prices(source, scope, number).items()
        ]  # fmt: skip

    def source(self, writer: int, number: Callable[[], int] = lambda: 0) -> Source:
        """Return the source of one writer; `number` says which look at its scopes is the next one."""
        name = f"load_{writer}"

        def fetch(ctx: Context, scope: str) -> ScopeFetch:
            url = f"load:{name}/{scope}/{number()}"
            body = json.dumps({"url": url, "rows": self.rows(name, scope, number())}).encode()
            document = Document(source=name, scope=scope, url=url, body=body, fetched_at=ctx.now())
            return ScopeFetch(source=name, scope=scope, observed_at=ctx.now(), complete=True, documents=(document,))

        return Source(
            name=name, provider="Lambda", title=f"Writer {writer}", url="load:", terms_url="load:",
            max_age=timedelta(days=3), scopes=lambda ctx: self.scopes, fetch=fetch, parse=parse,
        )  # fmt: skip

    @contextmanager
    def in_place(self, *own: Source) -> Iterator[None]:
        """Let runs of this process know the sources of all writers, and no others; `own` are those it fetches from."""
        sources = {each.name: each for each in (*map(self.source, range(self.n_writers)), *own)}
        replaced: list[tuple[Any, str, Any]] = [
            (collector, "SOURCES", tuple(sources.values())),
            (publisher, "SOURCES", tuple(sources.values())),
            (collector, "source_named", sources.__getitem__),
            (ingest, "source_named", sources.__getitem__),
        ]
        before = [(place, name, getattr(place, name)) for place, name, _ in replaced]
        try:
            for place, name, value in replaced:
                setattr(place, name, value)
            yield
        finally:
            for place, name, value in before:
                setattr(place, name, value)


def _count(offer: int) -> int:
    return COUNTS[offer // len(CHIPS) % len(COUNTS)]


@cache
def _rule(seed: int, source: str, scope: str, offer: int) -> tuple[float, float, int, int, int, int]:
    """Return a chip's least price, growth, looks to a change, looks between absences, their phase, first look.

    No gate holds the prices: they are in the range of every chip.
    """
    dice = random.Random(f"{seed} {source} {scope} {offer}")  # noqa: S311 - no secret
    begins = 1 if dice.random() < 0.8 else dice.randint(2, LATEST)
    cycle = dice.randint(9, 17)
    return dice.uniform(1, 2), dice.uniform(0.01, 0.04), dice.randint(2, 9), cycle, dice.randrange(cycle), begins


@cache
def _expected(world: World, source: str, scope: str, number: int) -> tuple[int, int]:
    before, now = world.prices(source, scope, number - 1), world.prices(source, scope, number)
    return len(now), sum(before.get(offer) != now.get(offer) for offer in before.keys() | now.keys())


def parse(document: Document) -> Parsed:
    """Return the rows of a document of this world."""
    import polars as pl

    from warehouse.schema.tables import observation_schema

    schema = observation_schema()
    rows = [{name: row.get(name) for name in schema} for row in json.loads(document.body)["rows"]]
    return Parsed(rows=pl.DataFrame(rows, schema=schema))


def number_of(url: str) -> int:
    """Return which look at its scope a document is of."""
    return int(url.rsplit("/", 1)[1])


def breaches(con: duckdb.DuckDBPyConnection, world: World, intervals: str) -> Iterator[str]:
    """Yield what does not hold of a log at its snapshot, or of a file: first what always must, then look by look."""
    for words, query in INVARIANTS:
        if con.execute(f"{query.format(intervals=intervals)} limit 1").fetchone():
            yield words
    last: dict[tuple[str, str], list[int]] = {}
    for source, scope, status, n_rows, n_refused, n_events, url in con.execute(LOOKS).fetchall():
        if url is None:
            yield f"a look has no document: {source} {scope}, status {status}"
            continue
        number = number_of(url)
        last.setdefault((source, scope), []).append(number)
        want = world.expected(source, scope, number)
        if (status, n_refused, n_rows, n_events) != ("ok", 0, *want):
            yield (
                f"a look is not whole: {source} {scope} {number}, {status}, {n_rows} rows of {want[0]}, "
                f"{n_events} events of {want[1]}, {n_refused} refused"
            )
    for (source, scope), numbers in sorted(last.items()):
        if sorted(set(numbers)) != list(range(1, max(numbers) + 1)):
            yield f"a look is missing: {source} {scope} has {len(set(numbers))} of {max(numbers)}"


def counts(con: duckdb.DuckDBPyConnection, at: str = "") -> dict[str, int]:
    """Return the number of rows of the log's tables, in a file or in a lake (`at`: at a snapshot of it)."""
    names = ("document", "offer", "price_event", "scope_run", "sighting", "quarantine")
    asked = ", ".join(f"(select count(*) from core.{name}{at})" for name in names)
    return dict(zip(names, con.execute(f"select {asked}").fetchall()[0], strict=True))
