"""A source for tests: its scopes and prices are a dictionary, its documents JSON, and it goes the whole way."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from looks import day, frame, row

from extract.base import Context, Parsed, Source
from flows.collect import collector, ingest, publisher, steps
from flows.collect.publisher import Publisher
from flows.collect.summary import Summary
from flows.config.settings import Settings
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import LayoutChanged, Unavailable

TOY = "toy"
Prices = dict[str, str | None]


def parse(document: Document) -> Parsed:
    told = json.loads(document.body)
    if not isinstance(told["prices"], list):
        raise LayoutChanged("no list of prices", source=TOY, field="prices", value=told["prices"])
    return Parsed(rows=frame([row(**each) for each in told["prices"]]).drop("document_sha256"))


@dataclass
class Toy:
    """A world of prices by scope (None: the scope fails), its clock, and a data directory to run on."""

    data_dir: Path
    world: dict[str, Prices | None] = field(default_factory=dict)
    at: float = 0.0
    mark: str = ""

    def clock(self) -> datetime:
        return day(self.at)

    def fetch(self, ctx: Context, scope: str) -> ScopeFetch:
        told = self.world[scope]
        if told is None:
            raise Unavailable("HTTP 503", source=TOY, field="scope", value=scope)
        prices: object = [{"instance_type": name, "unit_price": price} for name, price in told.items()]
        body = json.dumps({"prices": prices, "mark": self.mark}).encode()
        document = Document(source=TOY, scope=scope, url=f"toy:{scope}", body=body, fetched_at=ctx.now())
        return ScopeFetch(source=TOY, scope=scope, observed_at=ctx.now(), complete=True, documents=(document,))

    def source(self) -> Source:
        return Source(
            name=TOY, provider="AWS", title="A toy", url="toy:", terms_url="toy:", max_age=timedelta(days=3),
            scopes=lambda ctx: tuple(self.world), fetch=self.fetch, parse=parse,
        )  # fmt: skip

    def settings(self) -> Settings:
        return Settings(data_dir=self.data_dir, workers=2)

    def run(self, at: float, **world: Prices | None) -> Summary:
        """Run at a day, after setting the world's scopes."""
        self.at = at
        self.world |= world
        return steps.run(self.settings(), clock=self.clock)

    def learn(self, at: float, **world: Prices | None) -> Summary:
        """Run at a day without publishing, which takes most of a run, where nobody reads the file of that day."""
        self.at = at
        self.world |= world
        with steps.open_run(self.settings(), clock=self.clock) as run:
            run.collect()
            run.load()
            return run.summary

    def decide(self, at: float, quarantine_id: int, decision: str, *, publish: bool = True) -> Summary:
        """Settle a row as a person would, and publish."""
        self.at = at
        with steps.open_run(self.settings(), clock=self.clock) as run:
            run.decide(quarantine_id, decision)
            if publish:
                run.publisher.publish()
            return run.summary

    def rebuild(self, at: float) -> None:
        """Make everything anew from the landing folder."""
        self.at = at
        for name in ("build.duckdb", "prices.duckdb"):
            (self.data_dir / name).unlink(missing_ok=True)
        with steps.open_run(self.settings(), clock=self.clock) as run:
            run.load()
            run.publisher.publish()


def installed(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> Toy:
    """Return a toy that is the only source, in runs that write no report."""
    toy = Toy(data_dir)
    only = {TOY: toy.source()}.__getitem__
    for module in (collector, publisher):
        monkeypatch.setattr(module, "SOURCES", (toy.source(),))
    monkeypatch.setattr(Publisher, "report", lambda run: data_dir)
    monkeypatch.setattr(collector, "source_named", only)
    monkeypatch.setattr(ingest, "source_named", only)
    return toy
