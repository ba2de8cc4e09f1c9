"""The offline archive: rendered from its facts alone, read like AWS's own files, never taken for them."""

import csv
import gzip
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from types import ModuleType

import polars as pl
import pytest
from scripts import script

from extract import offline_archive
from extract.base import Context
from extract.offline_archive import SOURCE, ArchiveWeb
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import SourceError
from warehouse.log.gates import row_gate
from warehouse.reference.instance_types import ACCELERATOR_TYPE, read_table

ROOT = Path(__file__).parents[2]
ARCHIVE = ROOT / "extract" / "archive"
AWS = "https://pricing.us-east-1.amazonaws.com"
MAX_BYTES = 300_000
NOW = datetime(2026, 11, 21, tzinfo=UTC)
Prices = dict[str, str]


class NoWeb:
    """Fails on every use: the archive must not ask the network."""

    def get(self, url: str, *, accept: str = "application/json") -> object:
        raise AssertionError(url)

    def stream(self, url: str) -> object:
        raise AssertionError(url)


CONTEXT = Context(web=NoWeb(), settings={}, now=lambda: NOW)  # type: ignore[arg-type]


@cache
def make_archive() -> ModuleType:
    return script("tools/make_archive.py")


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def facts() -> list[dict[str, str]]:
    return read_csv(ARCHIVE / "facts.csv")


def looks(region: str, since: datetime | None = None, until: datetime | None = None) -> list[ScopeFetch]:
    assert SOURCE.backfill
    return list(SOURCE.backfill(CONTEXT, region, since, until))


def rows_of(look: ScopeFetch) -> pl.DataFrame:
    return pl.concat([SOURCE.parse(document).rows for document in look.documents])


def prices_of(look: ScopeFetch) -> Prices:
    rows = rows_of(look)
    return dict(zip(rows["instance_type"], rows["unit_price"], strict=True))


def stated(region: str, at: str) -> Prices:
    """Return what the tables of facts say of a region at a moment, but for bare metal, which no rule here accepts."""
    (snapshot,) = (
        row for row in read_csv(ARCHIVE / "snapshots.csv") if (row["region"], row["observed_at_utc"]) == (region, at)
    )
    least = "" if snapshot["coverage"] == "all" else at
    return {
        fact["instance_type"]: fact["usd_per_hour"]
        for fact in facts()
        if fact["region"] == region
        and least <= fact["observed_at_utc"] <= at
        and not fact["instance_type"].endswith("metal")
    }


def leaves(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            body = path.read_bytes()
            name = str(path.relative_to(folder.parent))
            yield (name.removesuffix(".gz"), gzip.decompress(body)) if name.endswith(".gz") else (name, body)


def test_documents_are_rendered_from_the_facts(tmp_path: Path) -> None:
    """The tables give every document, byte for byte before compression, and no document comes from elsewhere."""
    make_archive().write(make_archive().render(), tmp_path)
    assert dict(leaves(tmp_path / "offers")) == dict(leaves(ARCHIVE / "offers"))


def test_archive_is_small() -> None:
    """It travels with every installation."""
    assert sum(path.stat().st_size for path in (ARCHIVE / "offers").rglob("*") if path.is_file()) < MAX_BYTES


@pytest.mark.parametrize("name", ["facts.csv", "snapshots.csv", "companions.csv"])
def test_every_fact_has_its_source(name: str) -> None:
    """Each row leads to a public address, says when it was read there, and stands in order, once."""
    rows = read_csv(ARCHIVE / name)
    licensed = ("https://github.com/aws/karpenter-provider-aws/", "https://github.com/scttfrdmn/substrate/")
    assert [row for row in rows if not row["source_url"].startswith(licensed)] == []
    assert [row for row in rows if date.fromisoformat(row["accessed_on"]) < date(2026, 11, 21)] == []
    keys = [tuple(row.values()) for row in rows]
    assert keys == sorted(set(keys))


def test_facts_are_those_of_the_published_history(shared: Path) -> None:
    """All changes of karpenter's history are in, none is invented, and its snapshots are real ones."""
    commits = "https://github.com/aws/karpenter-provider-aws/commit/"
    published = {
        (row["generated_at_utc"], row["region"], row["instance_type"], row["usd_per_hour"], commits + row["commit"])
        for row in read_csv(shared / "data" / "aws_on_demand_history.csv")
    }
    kept = {tuple(fact.values())[:5] for fact in facts() if fact["source_url"].startswith(commits)}
    assert kept == published
    taken = {
        (row["generated_at_utc"], row["region"], commits + row["commit"])
        for row in read_csv(shared / "data" / "aws_on_demand_snapshots.csv")
    }
    snapshots = [row for row in read_csv(ARCHIVE / "snapshots.csv") if row["coverage"] == "all"]
    assert {(row["observed_at_utc"], row["region"], row["source_url"]) for row in snapshots} <= taken
    assert {(fact[0], fact[1]) for fact in kept} <= {(row["observed_at_utc"], row["region"]) for row in snapshots}


def test_no_fact_comes_from_an_unlicensed_file() -> None:
    """Regions that only an unlicensed copy prices are not in the archive."""
    assert offline_archive.regions(CONTEXT) == ("eu-west-1", "us-east-1", "us-gov-east-1", "us-west-2")
    assert {fact["region"] for fact in facts()} == set(SOURCE.scopes(CONTEXT))


def test_indexes_lead_to_documents() -> None:
    """Every address in an index leads to a document in the archive, as AWS's do."""
    web = ArchiveWeb()
    index = _json(web, "/offers/v1.0/aws/index.json")["offers"]["AmazonEC2"]
    versions = _json(web, index["versionIndexUrl"])
    current = _json(web, index["currentRegionIndexUrl"])["regions"]
    assert versions["currentVersion"] == max(versions["versions"]) == "20260910195514"
    seen = set()
    for version in versions["versions"]:
        for region, entry in _json(web, f"/offers/v1.0/aws/AmazonEC2/{version}/region_index.json")["regions"].items():
            body = web.get(AWS + entry["currentVersionUrl"].replace(".json", ".csv")).body
            assert f'"Version","{version}"'.encode() in body
            seen.add((version, region))
    assert len(seen) == len(read_csv(ARCHIVE / "snapshots.csv"))
    assert {(max(v for v, r in seen if r == region), region) for region in current} == {
        (entry["currentVersionUrl"].split("/")[5], region) for region, entry in current.items()
    }


def _json(web: ArchiveWeb, path: str) -> dict[str, dict[str, dict[str, str]]]:
    return json.loads(web.get(AWS + path).body)


def test_stream_gives_the_document() -> None:
    """A large document comes in blocks, and whole."""
    url = f"{AWS}/offers/v1.0/aws/AmazonEC2/20250623131830/us-east-1/index.csv"
    web = ArchiveWeb()
    with web.stream(url) as blocks:
        assert b"".join(blocks) == web.get(url).body
    assert web.get(url).content_type == "text/csv"


@pytest.mark.parametrize(
    "path",
    [
        "/offers/v1.0/aws/AmazonEC2/20250623131830/eu-west-1/index.csv",
        "/offers/v1.0/aws/AmazonRDS/index.json",
        "/offers/v1.0/cn/index.json",
        "/savingsPlan/v1.0/aws/AWSComputeSavingsPlan/current/region_index.json",
        "/facts.csv",
        "/offers/../facts.csv",
        "/offers/v1.0/aws",
        "/offers/",
        "/",
        "",
    ],
)
def test_absent_document_is_a_404(path: str) -> None:
    """What the archive lacks, or what is no document of it, fails as a missing page does."""
    web = ArchiveWeb()
    with pytest.raises(SourceError) as caught:
        web.get(AWS + path)
    assert (caught.value.field, caught.value.value) == ("status", 404)
    with pytest.raises(SourceError), web.stream(AWS + path):
        pass


def test_it_has_no_present() -> None:
    """The archive is never current: it gives no live look and has no age at which it would be."""
    with pytest.raises(SourceError, match="no present prices"):
        SOURCE.fetch(CONTEXT, "us-east-1")
    assert SOURCE.max_age is None
    assert SOURCE.kind == "archive"


@pytest.mark.parametrize("region", ["eu-west-1", "us-east-1", "us-gov-east-1", "us-west-2"])
def test_backfill_tells_the_facts(region: str) -> None:
    """Each look says, through the parser of the live price list, what the tables of facts say, and nothing else."""
    told = looks(region)
    expected = [row["observed_at_utc"] for row in read_csv(ARCHIVE / "snapshots.csv") if row["region"] == region]
    assert expected == [f"{look.observed_at:%Y-%m-%dT%H:%M:%SZ}" for look in told]
    for look, at in zip(told, expected, strict=True):
        assert stated(region, at) == prices_of(look), at


def test_cut_of_june_2025() -> None:
    """Between 2025-04-28 and 2025-06-23 AWS cut P4d, P4de, P5 and P5en, and left all others."""
    before, after = looks("us-east-1", datetime(2025, 4, 20, tzinfo=UTC), datetime(2025, 7, 1, tzinfo=UTC))
    assert [datetime(2025, 4, 28, 13, 22, 31, tzinfo=UTC), datetime(2025, 6, 23, 13, 18, 30, tzinfo=UTC)] == [
        before.observed_at,
        after.observed_at,
    ]
    old, new = prices_of(before), prices_of(after)
    cut = {
        "p4d.24xlarge": ("32.7726", "21.957642"),
        "p4de.24xlarge": ("40.96575", "27.44705"),
        "p5.48xlarge": ("98.32", "55.04"),
        "p5en.48xlarge": ("84.8", "63.296"),
    }
    assert cut == {name: (old[name], new[name]) for name in old if old[name] != new[name]}
    assert old.keys() == new.keys()


@pytest.mark.parametrize("region", ["us-east-1", "us-west-2"])
def test_looks_are_of_the_past_and_not_of_aws(region: str) -> None:
    """A look is archived and never complete; its documents carry the archive's mark and this source's name."""
    for look in looks(region):
        assert (look.source, look.scope, look.archived, look.complete) == ("offline_archive", region, True, False)
        for document in look.documents:
            assert document.source == "offline_archive"
            assert document.url.startswith("archive:/offers/")
            assert document.version_key == "" or document.version_key.startswith("archive:")


def test_placeholders_do_not_come_through() -> None:
    """The facts have no SKUs, so the rows have none, though the documents hold placeholders in their place."""
    (look,) = looks("us-west-2")
    assert b'"NOTAWS' in look.documents[0].body
    rows = rows_of(look)
    assert rows.height == 7
    assert rows["sku_id"].null_count() == rows["sku_price_id"].null_count() == 7


def test_rows_pass_the_row_gate() -> None:
    """Every row is one that the warehouse accepts, of a type whose accelerators it knows, in words the rules know."""
    for look in looks("us-east-1"):
        assert [SOURCE.parse(document).unknown for document in look.documents] == [()]
        known = {fact.instance_type for fact in read_table()}
        assert {name for name in prices_of(look) if ACCELERATOR_TYPE.match(name)} <= known
        rows = rows_of(look).with_columns(document_sha256=pl.lit(look.documents[0].sha256))
        accepted, refused = row_gate(rows)
        assert (rows.height, []) == (accepted.height, refused)


def test_companions_are_ignored() -> None:
    """The document of 2026-09-10 also lists a free P5, as AWS's did (Capacity Block): it is taken for no price."""
    version = "/offers/v1.0/aws/AmazonEC2/20260910195514/us-east-1/index.csv"
    body = ArchiveWeb().get(AWS + version).body
    assert body.count(b'"p5.48xlarge"') == 2
    document = Document(source="offline_archive", scope="us-east-1", url=AWS + version, body=body, fetched_at=NOW)
    parsed = SOURCE.parse(document)
    assert parsed.ignored == {"capacity_block": 1, "not_accelerator": 7}
    assert parsed.unknown == ()
    assert parsed.rows.filter(pl.col("instance_type") == "p5.48xlarge")["unit_price"].to_list() == ["55.04"]


def test_landed_documents_are_found_again() -> None:
    """A document of the archive is found by its own key, and one of AWS's at the same address is not taken for it."""
    asked: list[str] = []

    def landed(version_key: str) -> Document | None:
        asked.append(version_key)
        return kept.get(version_key)

    kept: dict[str, Document] = {}
    context = replace(CONTEXT, landed=landed)
    assert SOURCE.backfill
    first = list(SOURCE.backfill(context, "us-gov-east-1", None, None))
    kept |= {document.version_key: document for look in first for document in look.documents if document.version_key}
    second = list(SOURCE.backfill(context, "us-gov-east-1", None, None))
    assert [key for key in asked if not key.startswith("archive:")] == []
    assert [look.documents for look in first] == [look.documents for look in second]


def test_document_tells_what_the_archive_holds() -> None:
    """docs/offline-archive.md gives the numbers of the tables."""
    text = (ROOT / "docs" / "offline-archive.md").read_text()
    snapshots = read_csv(ARCHIVE / "snapshots.csv")
    moments = len({row["observed_at_utc"] for row in snapshots})
    for words in (
        f"{len(facts())} facts",
        f"{len(snapshots)} snapshots",
        f"{moments} moments",
        f"{len(read_csv(ARCHIVE / 'companions.csv'))} companions",
        *(f"{n} of {region}" for region, n in _counted(snapshots).items()),
    ):
        assert words in text, words


def _counted(snapshots: list[dict[str, str]]) -> dict[str, int]:
    regions = [row["region"] for row in snapshots]
    return {region: regions.count(region) for region in sorted(set(regions))}
