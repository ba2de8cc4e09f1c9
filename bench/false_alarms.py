"""How many right list prices the gates hold: over the shared history of other providers, AWS, Azure and Google Cloud.

    python bench/false_alarms.py --shared ../shared

Every answer of a collector is loaded as a live one, in order of time; at the end of each day a person accepts what
waits for one, unless it is a mistake that `neocloud_known_events.csv` names. The lists of the clouds are loaded as
histories, as their versions are weeks apart, and once more as live answers. A row counts as held where it was not let
in when it came. Left out are rows that their collector doubts, those that contradict another of the same answer, and
interruptible prices; marketplaces, and the least of several prices, are counted apart.
"""

import argparse
import csv
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402
import polars as pl  # noqa: E402

from bench import past_prices  # noqa: E402
from extract.observations import provider_named  # noqa: E402
from warehouse.log import db  # noqa: E402
from warehouse.log.load import decide, load  # noqa: E402
from warehouse.log.parsed import ParsedFetch  # noqa: E402
from warehouse.log.quarantine import Quarantined, listed  # noqa: E402
from warehouse.reference.accelerators import resolve  # noqa: E402
from warehouse.schema.tables import OBSERVATION  # noqa: E402
from warehouse.schema.vocabulary import MARKETPLACES  # noqa: E402

WRONG = ("collector_bug", "unit_change", "flapping", "single_offer_outlier", "transient_price", "cheapest_offer_flip")
"""How kinds of labelled events begin whose price is none: a mistake of a collector, a flap, or an outlier."""

CONTRADICTION = "the same offer is in the answer"


@dataclass
class Part:
    """Rows of one part of the data: how many, how many were held, for which reason, and how many of those are wrong."""

    n_rows: int = 0
    n_held: int = 0
    n_wrong: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def share(self) -> float:
        """Return the share of right rows that were held, in percent."""
        return 100 * (self.n_held - self.n_wrong) / max(1, self.n_rows - self.n_wrong)


def kind_of(reason: str) -> str:
    """Return in a word why a price was held."""
    words = {
        "one factor": "one factor", "number of chips": "own counts", "exchanged": "exchange", "became": "count or unit",
        "moved at once": "several factors", "outside": "out of range", "the name says": "name denies count",
    }  # fmt: skip
    for words_in, kind in words.items():
        if words_in in reason:
            return kind
    return "beyond 3" if "waits for a person" in reason else "outside [0.5, 2]"


class Events:
    """The labelled events: whether a held price is one of the mistakes, and which real moves were seen."""

    def __init__(self, shared: Path) -> None:
        with (shared / "data" / "neocloud_known_events.csv").open(newline="", encoding="utf-8") as file:
            self.rows = list(csv.DictReader(file))

    def is_wrong(self, provider: str, chip: str | None, price: float, at: datetime) -> bool:
        """Return whether a price per chip is a mistake that an event of that day, or later while it lasts, names."""
        return any(
            event["kind"].startswith(WRONG)
            and provider_named(event["provider"]) == provider
            and self._is_of(event, chip)
            and any(
                event[name] and abs(price / float(event[name]) - 1) < 0.01
                for name in ("old_usd_per_gpu_hour", "new_usd_per_gpu_hour")
            )
            for event in self.rows
        ) or any(
            event["kind"].startswith(("collector_bug", "unit_change"))
            and provider_named(event["provider"]) == provider
            and abs(at.date() - datetime.fromisoformat(event["date_utc"]).date()) <= timedelta(days=1)
            for event in self.rows
        )

    @staticmethod
    def _is_of(event: dict[str, str], chip: str | None) -> bool:
        read = resolve(event["gpu"].partition(" x")[0].replace("HGX ", ""))
        return read is not None and read.accelerator_name == chip


def is_market(provider: str, tier: str | None) -> bool:
    """Return whether prices are those of a marketplace."""
    return provider.lower() in MARKETPLACES or "marketplace" in (tier or "").lower()


def fetch_of(frame: pl.DataFrame, source: str, scope: str, at: datetime, *, archived: bool = False) -> ParsedFetch:
    """Return rows of one moment, or of a dated history, as a fetch."""
    document = f"{source} {scope} {at}"
    rows = frame.select(*OBSERVATION, *(("observed_at", "observed_at_utc") if archived else ()))
    return ParsedFetch(
        run_id=document, source=source, scope=scope, observed_at=at.replace(tzinfo=UTC), complete=False,
        archived=archived, document_sha256=document, rows=rows.with_columns(document_sha256=pl.lit(document)),
    )  # fmt: skip


def judged(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows that a list price could be held of: with a price, on demand or committed, not contradicted."""
    priced = frame.filter(
        pl.col("unit_price").cast(pl.Float64, strict=False) > 0,
        pl.col("purchase_option") != "spot",
        pl.col("statistic").is_in(["price", "floor"]),
    )
    same = [
        "origin",
        "observed_at",
        *(n for n in OBSERVATION if n not in ("unit_price", "upfront_price", "sku_id", "sku_price_id")),
    ]
    return priced.unique([*same, "unit_price"], keep="first", maintain_order=True).filter(pl.len().over(same) == 1)


def days(frame: pl.DataFrame, by: list[str]) -> Iterator[tuple[datetime, list[ParsedFetch]]]:
    """Yield the end of each day with its answers."""
    ordered = frame.sort("observed_at").with_columns(day=pl.col("observed_at").dt.truncate("1d"))
    for (day,), rows in ordered.group_by("day", maintain_order=True):
        answers = [
            fetch_of(group, f"import:{key[0]}", "/".join(map(str, key[1:-1])), key[-1])
            for key, group in rows.group_by([*by, "observed_at"], maintain_order=True)
        ]
        yield day + timedelta(days=1), answers


def live(
    con: duckdb.DuckDBPyConnection, frame: pl.DataFrame, events: Events, by: list[str]
) -> list[tuple[Quarantined, datetime]]:
    """Load answers day by day; a person settles each evening what waits for one. Return what was held, and when."""
    held = []
    for evening, answers in days(frame, by):
        load(con, answers, recorded_at=evening.replace(tzinfo=UTC))
        rows = [row for row in listed(con) if not row.reason.startswith(CONTRADICTION)]
        for row in rows:
            if row.row_json == "{}":
                again = next(
                    each for each in answers if each.source == row.source and each.scope == row.scope
                    and each.observed_at.replace(tzinfo=None) == row.observed_at
                )  # fmt: skip
                held += [(row, evening)] * len(again.rows)
                load(con, [ParsedFetch(**{**vars(again), "trusted": True})], recorded_at=evening.replace(tzinfo=UTC))
                decide(con, row.quarantine_id, "accept", decided_by="a person", recorded_at=evening.replace(tzinfo=UTC))
        for row in listed(con):
            if row.reason.startswith(CONTRADICTION) or row.row_json == "{}":
                continue
            if row.observed_at >= evening - timedelta(days=1):
                held.append((row, evening))
        settled: set[tuple[str, int | None]] = set()
        for row in listed(con):
            if row.reason.startswith(CONTRADICTION) or not row.for_person or (row.source, row.offer_id) in settled:
                continue
            settled.add((row.source, row.offer_id))
            content = json.loads(row.row_json)
            decision = "refuse" if _is_wrong(events, row, content) else "accept"
            decide(con, row.quarantine_id, decision, decided_by="a person", recorded_at=evening.replace(tzinfo=UTC))
    return held


def _is_wrong(events: Events, row: Quarantined, content: dict[str, object]) -> bool:
    label, provider = content.get("accelerator_label"), str(content["service_provider_name"])
    read = resolve(str(label), provider) if label else None
    count = float(str(content.get("accelerator_count") or 1))
    price = float(str(content["unit_price"])) / count
    return events.is_wrong(provider, read.accelerator_name if read else None, price, row.observed_at)


def measure(shared: Path, parts: Iterable[str] = ("tuning", "collector", "last_quarter")) -> dict[str, Part]:
    """Return the counts of each part."""
    events, found = Events(shared), {}
    frame = judged(past_prices.other_providers(shared).filter(pl.col("flag").is_null()))
    for origin_rows in frame.partition_by("origin", maintain_order=True):
        with duckdb.connect() as con:
            db._prepare(con)
            held = live(con, origin_rows, events, ["origin", "service_provider_name"])
        counts(found, origin_rows, held, events, list(parts))
    return found


def counts(
    found: dict[str, Part],
    frame: pl.DataFrame,
    held: list[tuple[Quarantined, datetime]],
    events: Events,
    parts: list[str],
) -> None:
    """Add rows and held rows to their parts, marketplaces apart."""
    for provider, tier, statistic, part, n in (
        frame.group_by("service_provider_name", "tier", "statistic", "part").len().iter_rows()
    ):
        name = named(part, provider, tier, statistic)
        found.setdefault(name, Part()).n_rows += n
    origin = frame["origin"][0]
    for row, _ in held:
        content = json.loads(row.row_json)
        provider = str(content.get("service_provider_name") or row.scope.split("/")[0])
        part = (
            "collector" if origin == past_prices.HELD_OUT_COLLECTOR
            else "last_quarter" if row.observed_at > past_prices.LAST_QUARTER.replace(tzinfo=None) else "tuning"
        )  # fmt: skip
        name = named(part, provider, content.get("tier"), content.get("statistic"))
        each = found.setdefault(name, Part())
        each.n_held += 1
        if content and _is_wrong(events, row, content):
            each.n_wrong += 1
        else:
            each.reasons[kind_of(row.reason)] += 1


def named(part: str, provider: str, tier: str | None, statistic: str | None) -> str:
    """Return the name of a part: marketplaces are apart, and prices that a collector gives as the least of several."""
    if is_market(provider, tier):
        return f"{part}, marketplaces"
    return f"{part}, least of several" if statistic == "floor" else part


def clouds(shared: Path, *, archived: bool) -> dict[str, Part]:
    """Return the counts of the clouds' lists, as dated histories or as live answers of a region each."""
    found, events = {}, Events(shared)
    for rows in past_prices.clouds(shared).partition_by("origin", maintain_order=True):
        rows = judged(rows)
        part = found.setdefault(rows["origin"][0], Part(n_rows=len(rows)))
        with duckdb.connect() as con:
            db._prepare(con)
            if archived:
                last = rows["observed_at"].max()
                load(con, [fetch_of(rows, "clouds", "all", last, archived=True)], recorded_at=datetime.now(UTC))
                held = [(row, last) for row in listed(con, everything=True)]
            else:
                held = live(con, rows, events, ["origin", "region_id"])
        for row, _ in held:
            part.n_held += 1
            part.reasons[kind_of(row.reason)] += 1
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared")
    parser.add_argument("--parts", nargs="*", default=["tuning", "collector", "last_quarter"])
    options = parser.parse_args()
    start = time.process_time()
    for title, found in (
        ("clouds as histories", clouds(options.shared, archived=True)),
        ("clouds as live answers", clouds(options.shared, archived=False)),
        ("other providers", measure(options.shared, options.parts)),
    ):
        print(title)
        for name, part in sorted(found.items()):
            print(
                f"  {name}: {part.n_rows} rows, {part.n_held} held, {part.n_wrong} of them wrong, "
                f"{part.share:.2f} %  {dict(part.reasons)}"
            )
    print(f"{time.process_time() - start:.0f} s")


if __name__ == "__main__":
    main()
