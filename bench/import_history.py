"""Import of the neoclouds' history: time, sizes, what was refused, and what became of its labelled events.

    python bench/import_history.py --shared ../shared

The CSV is imported into a temporary folder and published. Each event that people labelled by hand is then looked up in
what stands there: a change of that provider's price of that chip, at that time, between those amounts; else rows that
their collector flagged; else a price that waits in quarantine; else a series that ends while its source goes on.
Nothing here decides what a change is: int.price_change does, which knows no event.
"""

import argparse
import csv
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import duckdb  # noqa: E402
import polars as pl  # noqa: E402

from bench.result import Result  # noqa: E402
from extract import observations  # noqa: E402
from flows.collect import importer, steps  # noqa: E402
from flows.config.settings import Settings  # noqa: E402
from warehouse.documents import Document  # noqa: E402
from warehouse.reference.accelerators import resolve  # noqa: E402

HISTORY, EVENTS = "neocloud_history.csv", "neocloud_known_events.csv"
TELLING = (
    "suspected_error", "correction", "list_change", "spot_move", "market_move", "returned_offer", "gone_offer",
    "new_offer",
)  # fmt: skip
"""Where several collectors saw an event, the first of these that any of their series shows is what was found."""
TOLERANCE = 0.01
"""How near the amounts of a label and of a change must be, as a share: labels are rounded to cents."""

IN_CHANGES = """
select distinct c.change_kind
from int.price_change as c
inner join core.offer as o using (offer_id)
inner join core.offer_unit as u using (offer_id)
where
    o.service_provider_name = $provider
    and o.purchase_option = $pricing
    and u.accelerator_name = $chip
    and ($form is null or coalesce(u.form_factor, $form) = $form)
    and ($count is null or u.accelerator_count = $count)
    and ($before is not null or $after is not null)
    and ($before is null or abs(c.unit_price_before / u.accelerator_count / $before::DOUBLE - 1) < $tolerance)
    and ($after is null or abs(c.unit_price_after / u.accelerator_count / $after::DOUBLE - 1) < $tolerance)
    and ($before is null) <= (c.unit_price_before is null or $any_before)
    and ($after is null) <= (c.unit_price_after is null)
    and $day::DATE between coalesce(c.last_observed_before_at, c.observed_at)::DATE and c.observed_at::DATE + 1
"""
"""A label without one of the amounts is of an offer that came or went; with `any_before` only the amount after the
change is compared, as the last price that we believed may be an older one than the label's. The day is that of any of
the collectors, or one between two looks; a collector in another zone may be a day late."""

IN_FLAGGED = """
select distinct f.value
from flagged as f
where
    f.service_provider_name = $provider
    and f.accelerator_name = $chip
    and $after is not null
    and abs(f.unit_price::DOUBLE / f.accelerator_count::DOUBLE / $after::DOUBLE - 1) < $tolerance
    and f.observed_at::DATE between $day::DATE and $day::DATE + 1
"""
IN_HELD = """
select distinct q.gate
from core.quarantine as q
inner join core.offer as o using (offer_id)
inner join core.offer_unit as u using (offer_id)
where
    q.gate = 'history'
    and q.decision is null
    and q.field = 'unit_price'
    and o.service_provider_name = $provider
    and o.purchase_option = $pricing
    and u.accelerator_name = $chip
    and ($form is null or coalesce(u.form_factor, $form) = $form)
    and ($count is null or u.accelerator_count = $count)
    and $after is not null
    and abs(q.value::DOUBLE / u.accelerator_count / $after::DOUBLE - 1) < $tolerance
    and q.observed_at::DATE between $day::DATE and $day::DATE + 1
"""
"""Prices that wait for a person, as several moved by one factor."""

IN_ABSENCES = """
select distinct p.source
from core.sku_price as p
inner join core.offer as o using (offer_id)
inner join core.offer_unit as u using (offer_id)
where
    o.service_provider_name = $provider
    and o.purchase_option = $pricing
    and u.accelerator_name = $chip
    and ($form is null or coalesce(u.form_factor, $form) = $form)
    and ($count is null or u.accelerator_count = $count)
    and $after is null
    and ($before is null or abs(p.unit_price / u.accelerator_count / $before::DOUBLE - 1) < $tolerance)
    and p.last_observed_at::DATE between $day::DATE - 1 and $day::DATE
    and p.valid_to is null
    and exists (
        from core.sighting as s
        where s.source = p.source and s.observed_at > p.last_observed_at and s.observed_at::DATE >= $day::DATE
    )
"""
"""Series that end about that day though their source still looked."""

TABLES = {
    "log": "select 'offers', count(*) from core.offer union all select 'price events', count(*) from core.price_event "
    "union all select 'sightings', count(*) from core.sighting",
    "offers": "select case when accelerator_name is null then 'of an unknown chip' else 'of a known chip' end as chip, "
    "count(*) from core.offer_unit group by chip order by chip",
    "unknown words": "select service_provider_name, accelerator_label, count(*) from core.offer "
    "inner join core.offer_unit using (offer_id) where accelerator_name is null group by all order by all",
    "refused": "select reason, count(*) from core.quarantine group by all order by all",
    "changes": "select change_kind, count(*) from int.price_change group by all order by count(*) desc",
}
"""What is counted in the published file, by title; the number stands last."""


@dataclass(frozen=True)
class Event:
    """One labelled event, and what was found of it: a kind of change, `flagged`, `held`, `absent` or `nothing`."""

    date: str
    provider: str
    gpu: str
    kind: str
    found: str


@dataclass(frozen=True)
class Import:
    """One import: where the file lies, what was flagged, and the seconds that each step took."""

    file: Path
    flagged: pl.DataFrame
    seconds: dict[str, float]


def run(shared: Path, folder: Path) -> Import:
    """Import and publish the history in a folder."""
    history = shared / "data" / HISTORY
    seconds = {}
    clock = time.perf_counter
    with steps.open_run(Settings(data_dir=folder)) as one:
        start = clock()
        importer.land(one, importer.landed(history, one.clock()))
        seconds["land"] = clock() - start
        one.load()
        seconds["load"] = clock() - start - seconds["land"]
        file = one.publisher.publish()
        seconds["publish"] = clock() - start - seconds["land"] - seconds["load"]
    body = history.read_bytes()
    document = Document(source="import", scope=HISTORY, url=HISTORY, body=body, fetched_at=datetime.now(UTC))
    by_origin = observations.parse(document).set_aside
    flagged = pl.concat(rows.with_columns(origin=pl.lit(origin)) for origin, rows in by_origin.items())
    return Import(file, flagged, seconds)


def events(shared: Path, made: Import) -> list[Event]:
    """Look every labelled event up in what was published; return them in the file's order."""
    names = {
        (provider, label): chip.accelerator_name
        for provider, label in made.flagged.select("service_provider_name", "accelerator_label").unique().iter_rows()
        if (chip := resolve(label, provider))
    }
    chips = pl.DataFrame(
        [(*key, name) for key, name in names.items()],
        schema=["service_provider_name", "accelerator_label", "accelerator_name"],
        orient="row",
    )
    flagged = made.flagged.join(chips, on=["service_provider_name", "accelerator_label"], how="left")
    with (
        duckdb.connect(str(made.file), read_only=True) as con,
        (shared / "data" / EVENTS).open(newline="", encoding="utf-8") as lines,
    ):
        con.register("flagged", flagged.to_arrow())
        return [
            Event(row["date_utc"], row["provider"], row["gpu"], row["kind"], _found(con, row))
            for row in csv.DictReader(lines)
        ]


def _found(con: duckdb.DuckDBPyConnection, row: dict[str, str]) -> str:
    counted = re.fullmatch(r"(.*) x(\d+)", row["gpu"])
    chip = resolve(counted[1] if counted else row["gpu"], row["provider"])
    if chip is None:
        return "nothing"
    asked = {
        "provider": observations.provider_named(row["provider"]),
        "pricing": row["pricing"], "day": row["date_utc"], "tolerance": TOLERANCE,
        "chip": chip.accelerator_name, "form": chip.form_factor,
        "count": int(counted[2]) if counted else None,
        "before": row["old_usd_per_gpu_hour"] or None, "after": row["new_usd_per_gpu_hour"] or None,
        "any_before": False,
    }  # fmt: skip

    def answers(query: str, **others: object) -> set[str]:
        named = {name: value for name, value in (asked | others).items() if f"${name}" in query}
        return {answer for (answer,) in con.execute(query, named).fetchall()}

    kinds = answers(IN_CHANGES)
    if not kinds and asked["before"] and asked["after"]:
        kinds = answers(IN_CHANGES, before=None, any_before=True)
    if kinds:
        return next(kind for kind in TELLING if kind in kinds)
    if answers(IN_FLAGGED):
        return "flagged"
    if answers(IN_HELD):
        return "held"
    return "absent" if answers(IN_ABSENCES) else "nothing"


def confusion(found: Iterable[Event]) -> dict[tuple[str, str], int]:
    """Return the number of events by label and by what was found."""
    return dict(sorted(Counter((event.kind, event.found) for event in found).items()))


def report(shared: Path, made: Import) -> Iterator[str]:
    """Yield the lines of what is printed."""
    n_rows = sum(1 for _ in (shared / "data" / HISTORY).open(encoding="utf-8")) - 1
    took = ", ".join(f"{name} {seconds:.2f}" for name, seconds in made.seconds.items())
    yield f"{n_rows} rows in {sum(made.seconds.values()):.2f} s ({took})"
    for name in ("build.duckdb", made.file.name):
        yield f"{name}: {(made.file.parent / name).stat().st_size / 1e6:.1f} MB"
    with duckdb.connect(str(made.file), read_only=True) as con:
        for title, query in TABLES.items():
            yield f"\n{title}"
            for *words, number in con.execute(query).fetchall():
                yield f"  {number:>7}  {'  '.join(str(word) for word in words)}"
    yield "\nflagged by their collector, kept out of all prices"
    for flag, number in made.flagged["value"].value_counts(sort=True).iter_rows():
        yield f"  {number:>7}  {flag}"
    found = events(shared, made)
    yield "\nlabelled events: label, found"
    for (kind, what), number in confusion(found).items():
        yield f"  {number:>7}  {kind}  {what}"
    yield ""
    for event in found:
        yield f"  {event.date}  {event.provider}  {event.gpu}  {event.kind}: {event.found}"


def results(folder: Path, shared: Path) -> list[Result]:
    """Return what the import takes, beside readers that do nothing but read the file."""
    history = shared / "data" / HISTORY
    made = run(shared, folder / "import")
    with history.open(newline="", encoding="utf-8") as lines:
        start = time.perf_counter()
        n_rows = sum(1 for _ in csv.DictReader(lines))
        peers = {"python csv, reading": time.perf_counter() - start}
    start = time.perf_counter()
    with duckdb.connect() as con:
        con.execute("create table read as from read_csv(?, all_varchar = true)", [str(history)])
    peers["DuckDB, reading"] = time.perf_counter() - start
    start = time.perf_counter()
    pl.read_csv(history, infer_schema=False)
    peers["polars, reading"] = time.perf_counter() - start
    start = time.perf_counter()
    history.read_bytes()
    peers["raw read"] = time.perf_counter() - start
    took = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in made.seconds.items())
    return [Result(f"import of {n_rows} rows", sum(made.seconds.values()), "s", None, "less", peers, took)]


def main() -> int:
    """Import, and print what came of it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="the folder of reference data")
    args = parser.parse_args()
    if not (args.shared / "data").is_dir():
        print(f"no reference data in {args.shared}: name its folder with --shared", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        print("\n".join(report(args.shared, run(args.shared, Path(folder)))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
