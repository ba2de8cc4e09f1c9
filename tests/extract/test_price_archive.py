"""The archive of prices: its rows are those of the data they were taken from, small, with an address each."""

import csv
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest
from scripts import script

from extract import SOURCES, observations, price_archive, source_named
from extract.base import Context
from extract.price_archive import SOURCE
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import LayoutChanged, SourceError
from warehouse.log.gates import row_gate
from warehouse.reference.source_terms import terms_of
from warehouse.schema.tables import IDENTITY

ROOT = Path(__file__).parents[2]
ARCHIVE = ROOT / "extract" / "archive"
MAX_BYTES = 2_000_000
NOW = datetime(2026, 11, 21, tzinfo=UTC)
CONTEXT = Context(web=None, settings={}, now=lambda: NOW)  # type: ignore[arg-type]
ORIGINS = sorted(price_archive.origins())
HOURS = {"1y": 8760, "3y": 26280}
PAYMENTS = {"no": "No Upfront", "partial": "Partial Upfront", "all": "All Upfront"}

Row = dict[str, str]


def read_csv(path: Path) -> list[Row]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def rows(origin: str) -> list[Row]:
    return read_csv(ARCHIVE / "prices" / f"{origin}.csv")


def look(origin: str) -> ScopeFetch:
    (found,) = SOURCE.backfill(CONTEXT, origin, None, None)  # type: ignore[misc]
    return found


def parsed(source: str, path: Path, scope: str = "") -> Iterator[dict[str, object]]:
    """Yield what the source of a provider reads in a capture, without what the row gate refuses."""
    body = path.read_bytes()
    body = gzip.decompress(body) if path.suffix == ".gz" else body
    document = Document(source=source, scope=scope or source, url="x", body=body, fetched_at=NOW)
    found = source_named(source).parse(document).rows
    kept, _ = row_gate(found.drop("observed_at", "observed_at_utc", strict=False).with_row_index("row"))
    yield from (found.row(row, named=True) for row in kept["row"])


def of_offers(found: Iterator[dict[str, object]]) -> Counter[tuple[object, ...]]:
    """Return prices by all that identifies their offers, once each."""
    names = [*IDENTITY, "unit_price", "upfront_price"]
    return Counter({tuple(row.get(name) or None for name in names): 1 for row in found})


def in_archive(origin: str, at: str | None = None) -> Iterator[dict[str, object]]:
    for row in SOURCE.parse(look(origin).documents[0]).rows.iter_rows(named=True):
        if at is None or row["observed_at_utc"] == at:
            yield row


def six_digits(number: Decimal) -> Decimal:
    return Decimal(f"{number:.6g}")


# --- what holds of every file


def test_the_archive_is_small() -> None:
    """All of it, as it is in the package."""
    assert sum(path.stat().st_size for path in ARCHIVE.rglob("*") if path.is_file()) <= MAX_BYTES


def test_every_file_has_its_origin() -> None:
    """And every origin its file; each says address, day, evidence and terms."""
    assert sorted(path.stem for path in (ARCHIVE / "prices").iterdir()) == ORIGINS
    for origin in price_archive.origins().values():
        assert origin["source_url"].startswith("https://")
        assert origin["terms_url"].startswith("https://")
        assert origin["accessed_on"] <= "2026-11-22"
        assert origin["evidence_kind"] in ("provider_bytes", "transcribed")
        assert origin["terms"] in ("allowed", "doubtful", "unread")


@pytest.mark.parametrize("origin", ORIGINS)
def test_every_row_passes_the_gate(origin: str) -> None:
    """With its own moment, and its provider as imports name it; none says of one offer two prices at one moment."""
    at = look(origin).observed_at.replace(tzinfo=None)
    found = SOURCE.parse(look(origin).documents[0]).rows
    accepted, refused = row_gate(found, latest=at)
    assert refused == []
    assert [name for name in found["service_provider_name"].unique() if observations.provider_named(name) != name] == []
    assert accepted["observed_at"].max() == at
    assert not accepted.select(*IDENTITY, "observed_at").is_duplicated().any()


def test_a_look_says_where_it_is_from() -> None:
    """In the parameters of its document, which the log keeps."""
    found = look("verda_2026-10").documents[0]
    assert found.parameters["evidence_kind"] == "transcribed"
    assert found.parameters["source_url"].startswith("https://github.com/Bw0410/")
    assert found.url == "archive:/prices/verda_2026-10.csv"
    assert not look("verda_2026-10").complete


def test_the_newest_moment_is_the_archives_day() -> None:
    """Of all rows of all files."""
    newest = max(row["observed_at_utc"] for origin in ORIGINS for row in rows(origin))
    assert price_archive.newest() == datetime.fromisoformat(newest)


def test_a_look_between_two_dates() -> None:
    """A backfill takes the files whose newest moment lies between them."""
    assert SOURCE.backfill is not None
    since, until = datetime(2026, 10, 8, tzinfo=UTC), datetime(2026, 10, 9, tzinfo=UTC)
    chosen = [each.scope for origin in ORIGINS for each in SOURCE.backfill(CONTEXT, origin, since, until)]
    assert chosen == ["verda_2026-10"]


def test_it_has_no_present() -> None:
    """A fetch is refused, and so is a scope that it has not."""
    with pytest.raises(SourceError, match="no present"):
        SOURCE.fetch(CONTEXT, "verda_2026-10")
    with pytest.raises(SourceError, match="no such scope"):
        list(SOURCE.backfill(CONTEXT, "nobody", None, None))  # type: ignore[misc]


@pytest.mark.parametrize(
    "body",
    [b"", b"observed_at_utc,price\n2026-10-15T00:00:00Z,1\n", b"unit_price\n1\n", b'observed_at_utc\n"1\n,2,3\n',
     gzip.compress(b"observed_at_utc,unit_price\n2026-10-15T00:00:00Z,1\n", mtime=0)],
)  # fmt: skip
def test_another_layout_is_refused(body: bytes) -> None:
    """Each fault by name, and never an empty answer; what is packed is not unpacked, without an end."""
    with pytest.raises(LayoutChanged):
        SOURCE.parse(Document(source=SOURCE.name, scope="x", url="x", body=body, fetched_at=NOW))


def test_the_page_lists_every_origin() -> None:
    """With its rows, its days, its evidence and its terms."""
    page = script("tools/docs_site.py").archive_origins()
    for name, origin in price_archive.origins().items():
        (line,) = re.findall(rf"^\| `{re.escape(name)}` .*$", page, flags=re.MULTILINE)
        at = sorted(row["observed_at_utc"][:10] for row in rows(name))
        days = at[0] if at[0] == at[-1] else f"{at[0]} to {at[-1]}"
        assert f"| {origin['what']} | {len(rows(name))} | {days} |" in line
        assert f"({origin['source_url']}) | {origin['evidence_kind']} | [{origin['terms']}]" in line


def test_no_provider_is_there_whose_terms_forbid_it() -> None:
    """What is off by its terms is in no file; AWS's spot of SkyPilot's catalogue is said to be."""
    others = [source for source in SOURCES if source.provider not in ("AWS", "several")]
    off = {source.provider for source in others if (terms := terms_of(source.name)) and terms.forbids}
    shown = {row["service_provider_name"] for origin in ORIGINS for row in rows(origin)}
    assert len(off) == 7
    assert shown.isdisjoint(off)
    assert shown.isdisjoint({"runpod", "vast", "crusoe", "digitalocean", "voltage-park", "akash"})


# --- each file beside the data it was taken from


@pytest.mark.parametrize(
    ("origin", "table", "prefixes"),
    [
        (
            "aws_us_east_1_2026-09", "aws_us_east_1_commitments_20260924.csv",
            {"ri": ("reserved", "standard"), "sp": ("savings_plan", "Compute")},
        ),
        (
            "aws_us_east_1_2023-06", "aws_us_east_1_commitments_202306.csv",
            {
                "ri_std": ("reserved", "standard"), "ri_conv": ("reserved", "convertible"),
                "sp_compute": ("savings_plan", "Compute"), "sp_ec2instance": ("savings_plan", "EC2Instance"),
            },
        ),
    ],
)  # fmt: skip
def test_commitments_are_those_of_the_table(
    shared: Path, origin: str, table: str, prefixes: dict[str, tuple[str, str]]
) -> None:
    """Each rate as printed, each fee one that gives it to six digits; of Reserved Partial Upfront alone is left out."""
    expected = {
        (row["instance_type"], *kind, HOURS[years], PAYMENTS[payment]): Decimal(row[f"{prefix}_{years}_{payment}"])
        for row in read_csv(shared / "data/aws2" / table)
        for prefix, kind in prefixes.items()
        for years in HOURS
        for payment in PAYMENTS
        if row[f"{prefix}_{years}_{payment}"] and not (kind[0] == "reserved" and payment == "partial")
    }
    found = {
        (
            row["instance_type"], row["purchase_option"], row["offering_class"] or row["commitment_discount_type"],
            int(row["commitment_term_hours"]), row["purchase_payment_model"],
        ): Decimal(row["unit_price"]) + Decimal(row["upfront_price"] or 0) / int(row["commitment_term_hours"])
        for row in rows(origin)
        if row["purchase_option"] != "on_demand"
    }  # fmt: skip
    assert found.keys() == expected.keys()
    for key, rate in expected.items():
        is_fee = key[1] == "reserved" and key[4] == "All Upfront"
        assert six_digits(found[key]) == six_digits(rate) if is_fee else found[key] == rate, key


def test_bare_metal_on_demand_is_that_of_the_table(shared: Path) -> None:
    """karpenter has it under tenancy Dedicated alone; of the shared machine there are commitments since June 2023."""
    table = read_csv(shared / "data/aws2/aws_us_east_1_commitments_202306.csv")
    expected = {row["instance_type"]: row["on_demand"] for row in table if row["instance_type"].endswith(".metal")}
    listed = [row for row in rows("aws_us_east_1_2023-06") if row["purchase_option"] == "on_demand"]

    assert {row["instance_type"]: row["unit_price"] for row in listed} == expected
    assert set(expected) == {"g4dn.metal", "g5g.metal"}


def test_fees_of_2026_are_those_of_2023_where_the_rate_is(shared: Path) -> None:
    """The fee that was found of six digits is the one that is exact in the other table."""
    fees: dict[str, dict[tuple[str, str], str]] = {}
    for origin in ("aws_us_east_1_2026-09", "aws_us_east_1_2023-06"):
        fees[origin] = {
            (row["instance_type"], row["commitment_term_hours"]): row["upfront_price"]
            for row in rows(origin)
            if row["purchase_payment_model"] == "All Upfront" and row["offering_class"] == "standard"
        }
    new, old = fees["aws_us_east_1_2026-09"], fees["aws_us_east_1_2023-06"]
    both = new.keys() & old.keys()
    assert len(both) > 60
    assert {name for name, _ in (key for key in both if new[key] != old[key])} == {"p4d.24xlarge"}


def test_on_demand_of_2026_is_that_of_the_table(shared: Path) -> None:
    """81 types."""
    table = read_csv(shared / "data/aws2/aws_us_east_1_commitments_20260924.csv")
    found = {
        row["instance_type"]: Decimal(row["unit_price"])
        for row in rows("aws_us_east_1_2026-09")
        if row["purchase_option"] == "on_demand"
    }
    assert found == {row["instance_type"]: Decimal(row["on_demand"]) for row in table}
    assert len(found) == 81


def test_spot_is_that_of_the_tables(shared: Path) -> None:
    """Of P5 and P6 with the id of the zone, of Trainium with its id where its source has it, else its name."""
    table = read_csv(shared / "data/aws2/aws_spot_importable_2026-10.csv")
    found = {
        (row["instance_type"], row["availability_zone_id"], Decimal(row["unit_price"]))
        for row in rows("aws_spot_2026-10")
    }
    assert found == {
        (row["instance_type"], row["source"].partition(":")[2], Decimal(row["usd_per_hour"])) for row in table
    }
    neuron = [
        *read_csv(shared / "data/aws_samples/trainium_spot_observed_20261003.csv"),
        *read_csv(shared / "data/captures/aws/trainium_spot_observed_sa_east_1_20261003.csv"),
    ]
    ids = {"use2-az1": "us-east-2a", "use2-az2": "us-east-2b", "use2-az3": "us-east-2c"}
    assert Counter(
        (
            row["instance_type"],
            ids.get(row["availability_zone_id"], row["availability_zone"]),
            Decimal(row["unit_price"]),
        )
        for row in rows("aws_spot_neuron_2026-10")
    ) == Counter((row["instance_type"], row["availability_zone"], Decimal(row["spot_usd_per_hour"])) for row in neuron)


def test_spot_answers_are_those_of_aws(shared: Path) -> None:
    """What the spot source reads in AWS's own answers, of all types but the two longest series."""
    captured = [
        *(shared / "data/aws_samples").glob("spot_history_us*.gz"),
        *(shared / "data/captures/aws").glob("spot_history_*.gz"),
    ]
    expected = set()
    for path in captured:
        if "g4dn.8xlarge" in path.name or "p3dn" in path.name:
            continue
        region = "sa-east-1" if "sa_east" in path.name else "us-east-1"
        document = Document(
            source="aws_spot", scope=region, url="x", body=gzip.decompress(path.read_bytes()), fetched_at=NOW
        )
        for row in source_named("aws_spot").parse(document).rows.iter_rows(named=True):
            expected.add(
                (row["instance_type"], row["availability_zone"], row["observed_at"], Decimal(row["unit_price"]))
            )
    found = {
        (row["instance_type"], row["availability_zone"], row["observed_at"], Decimal(str(row["unit_price"])))
        for row in in_archive("aws_spot_2020_2021")
    }
    assert found == expected
    assert {row["evidence_kind"] for name, row in price_archive.origins().items() if name != "aws_spot_2020_2021"} == {
        "transcribed"
    }


def test_capacity_blocks_are_those_of_the_collector(shared: Path) -> None:
    """What the source of rates reads in its file, and the older rows, without what that refuses."""
    capture = shared / "data/captures/aws/capacity_block_rates_collector_2026-07-22.json"
    expected = of_offers(parsed("aws_capacity_block_rates", capture, "published"))
    assert of_offers(in_archive("aws_capacity_blocks_2026", "2026-07-22T07:13:52Z")) == expected
    older = {
        (row["instance_type"], row["region"], row["observed_at_utc"], Decimal(row["usd_per_hour"]))
        for row in read_csv(shared / "data/aws2/aws_capacity_blocks_importable.csv")
    }
    found = {
        (
            row["instance_type"],
            row["availability_zone"] or row["region_id"],
            row["observed_at_utc"],
            Decimal(row["unit_price"]),
        )
        for row in rows("aws_capacity_blocks_2026")
    }
    assert older <= found


@pytest.mark.parametrize(
    ("origin", "source", "path"),
    [
        ("coreweave_2026-08", "coreweave", "captures/neoclouds/coreweave/pricing_na_eu_2026-08.html"),
        ("coreweave_2026-10-04", "coreweave", "captures/neoclouds/coreweave/pricing_na_2026-10_first6.html"),
        ("hotaisle_2026-08", "hotaisle", "captures/neoclouds/hotaisle/pricing_2026-08.html"),
        ("hyperstack_2026-10", "hyperstack", "captures/neoclouds/hyperstack/gpu-pricing_2026-10_cards.html"),
        ("lambda_2026-08", "lambda", "captures/neoclouds/lambda/pricing_2026-08_markup.html"),
        ("massedcompute_2026-08", "massedcompute", "neocloud_samples/massedcompute/pricing_rsc_2026-08.html"),
        ("nebius_2026-08", "nebius", "neocloud_samples/nebius/prices_layout2_2026-08.escaped_json.txt"),
        ("nebius_2026-10", "nebius", "captures/neoclouds/nebius/prices_layout3_2026-10.html"),
        ("scaleway_2026-08", "scaleway", "captures/neoclouds/scaleway/products_servers_fr-par-2_2026-08_page1.json"),
        ("together_2026-08", "together", "neocloud_samples/together/pricing_2026-08.html"),
        ("verda_2026-08", "verda", "neocloud_samples/verda/pricing_jsonld_2026-08.html"),
    ],
)
def test_pages_are_read_as_live_ones(shared: Path, origin: str, source: str, path: str) -> None:
    """The same offers, word for word, that the provider's live source finds in the capture."""
    scope = "fr-par-2" if source == "scaleway" else ""
    assert of_offers(in_archive(origin)) == of_offers(parsed(source, shared / "data" / path, scope))


def test_typed_pages_are_those_of_the_tables(shared: Path) -> None:
    """Nebius, Verda, CoreWeave and Spheron of October, by chip, option and price."""
    samples = shared / "data/neocloud_samples"
    nebius = json.loads((shared / "data/captures/neoclouds/nebius/prices_layout3_2026-10.expected.json").read_text())
    assert Counter(Decimal(row["unit_price"]) for row in rows("nebius_2026-10")) == Counter(
        Decimal(str(price))
        for key in ("on_demand_from_2026-10-01", "spot_from_price_only")
        for price in nebius[key].values()
    )
    verda = {
        (f"1x {row['accelerator_label']}", row["purchase_option"], Decimal(row["unit_price"]))
        for row in rows("verda_2026-10")
    }
    assert verda == {
        (row["Hardware"], option, Decimal(row[name].strip("$").removesuffix("/h")))
        for row in read_csv(samples / "verda/verda_page_table_2026-10-08.csv")
        for name, option in (("Price", "on_demand"), ("Spot price", "spot"))
    }
    spheron = [
        (f"{row['Date']}T00:00:00Z", row["GPU"], Decimal(row[name]))
        for row in read_csv(samples / "spheron/spheron_pricing_history_2026-10.csv")
        for name in ("OnDemandPriceUSD_perGPUhr", "SpotPriceUSD_perGPUhr")
        if row[name]
    ]
    assert Counter(spheron) == Counter(
        (row["observed_at_utc"], row["accelerator_label"].rpartition(" ")[0], Decimal(row["unit_price"]))
        for row in rows("spheron_2026-10")
    )
    printed = {
        (row["Date"], Decimal(row[name].strip("$")))
        for row in read_csv(samples / "coreweave/coreweave_na_2026-10.csv")
        for name in row
        if "Price" in name and row[name].startswith("$")
    }
    assert {(row["observed_at_utc"][:10], Decimal(row["unit_price"])) for row in rows("coreweave_2026-10")} <= printed


@pytest.mark.parametrize(
    ("origin", "collector", "is_by_hand"),
    [
        ("gpurentalprices_2026", "adriannutiu/gpu-rental-prices", False),
        ("fullstack_2022_2025", "the-full-stack/website", True),
    ],
)
def test_histories_are_those_of_the_table(shared: Path, origin: str, collector: str, is_by_hand: bool) -> None:
    """Each row stands there; between two of them that agree, no other price does.

    A table kept by hand was committed with 39 rows as they had been for up to 31 months: nobody had looked. FluidStack
    asked 2.89 for an H100 PCIe in January 2025, where it still said 4.76 in March.
    https://github.com/henryzhangpku/gpu-price-index/blob/2017707f31876d55e2d1853aa1f64d9a815f71ab/tests/test_backfill_parsers.py
    """
    table: dict[tuple[str, ...], dict[str, Decimal]] = {}
    for row in read_csv(shared / "data/neocloud_history_open.csv"):
        if row["source"] == collector and not any(flag in row["flags"] for flag in observations.WITHDRAWN):
            key = (row["gpu_raw"], row["gpu_count"], row["pricing"], row["tier_raw"])
            table.setdefault((_plain(row["provider"]), *key), {})[row["observed_at_utc"]] = Decimal(row["usd_per_hour"])
    told: dict[tuple[str, ...], dict[str, Decimal]] = {}
    for row in rows(origin):
        key = (row["accelerator_label"], row["accelerator_count"], row["purchase_option"], row["tier"])
        told.setdefault((_plain(row["service_provider_name"]), *key), {})[row["observed_at_utc"]] = Decimal(
            row["unit_price"]
        )
    assert told
    for offer, prices in told.items():
        whole = table[offer]
        for at in sorted(whole):
            before = [moment for moment in sorted(prices) if moment <= at]
            assert prices[before[-1]] == whole[at], (offer, at)
        if is_by_hand:
            amounts = [prices[at] for at in sorted(prices)]
            assert not any(one == other for one, other in pairwise(amounts)), (offer, prices)
        else:
            assert max(prices) == max(whole)


def _plain(provider: str) -> str:
    words = re.sub(r"[^a-z0-9]", "", provider.lower())
    return {"togetherai": "together", "ovhcloud": "ovh"}.get(words, words)
