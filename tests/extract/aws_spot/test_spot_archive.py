"""The public archive of past spot prices: excerpts by region, unchanged lines, holes that are named.

The lines are those that its README shows, and some made up in their form.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from blake3 import blake3

from extract.aws import places, spot
from extract.aws.spot import SOURCE
from extract.base import Context
from extract.web.interface import Response
from warehouse.documents import Document, ScopeFetch, Whole
from warehouse.errors import LayoutChanged, SettingsError, SourceError

JANUARY = """\
use1-az6\tp5.48xlarge\tLinux/UNIX\t9.370000\t2024-01-01T00:00:00+00:00
use1-az6\tp5.48xlarge\tRed Hat Enterprise Linux\t9.500000\t2024-01-01T00:00:00+00:00
euw3-az2\tg4dn.4xlarge\tLinux/UNIX\t0.558600\t2024-01-01T00:00:00+00:00
use1-az6\tm5.large\tLinux/UNIX\t0.035000\t2024-01-02T00:00:00+00:00
use1-az6\tp5.48xlarge\tLinux/UNIX\t9.370000\t2024-01-02T10:00:00+00:00
use1-atl2-az1\tg6.xlarge\tLinux/UNIX\t0.350000\t2024-01-03T10:00:00+00:00
use1-az6\tp5.48xlarge\tLinux/UNIX\t12.500000\t2024-01-20T10:00:00+00:00
use1-az6\tp5.48xlarge\tLinux/UNIX\t12.500000\t2024-01-31T23:59:58+00:00
"""
FEBRUARY = "use1-az6\tp5.48xlarge\tLinux/UNIX\t12.500000\t2024-02-01T00:00:00+00:00\n"
NOW = datetime(2026, 11, 1, tzinfo=UTC)


class NoWeb:
    """A web on which nothing is to be found; what it has is given by address."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files, self.asked = files, list[str]()

    def get(self, url: str, *, accept: str = "application/json") -> Response:
        raise AssertionError("not a small document")

    @contextmanager
    def stream(self, url: str) -> Iterator[Iterator[bytes]]:
        self.asked.append(url)
        if url not in self.files:
            raise SourceError("the server answered 404", source=url, field="status", value=404)
        body = self.files[url]
        yield (body[start : start + 7] for start in range(0, len(body), 7))


def packed(text: str) -> bytes:
    return pa.compress(text.encode(), codec="zstd", asbytes=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return an archive with January as on Zenodo and February as in the repository that made it."""
    (tmp_path / "2024-01.tsv.zst").write_bytes(packed(JANUARY))
    (tmp_path / "2024").mkdir()
    (tmp_path / "2024" / "02.tsv.zst").write_bytes(packed(FEBRUARY))
    return tmp_path


def context(url: str, web: object = None, landed: Callable[[str], Document | None] = lambda key: None) -> Context:
    return Context(web=web or NoWeb({}), settings={"archive_url": url}, now=lambda: NOW, landed=landed)  # type: ignore[arg-type]


def looks(ctx: Context, scope: str, first: str = "2024-01-01", last: str = "2024-02-28") -> list[ScopeFetch]:
    since, until = (datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (first, last))
    return list(SOURCE.backfill(ctx, scope, since, until)) if SOURCE.backfill else []


def rows(look: ScopeFetch) -> pl.DataFrame:
    return pl.concat([SOURCE.parse(document).rows for document in look.documents])


def test_a_month_is_a_look_of_the_past(folder: Path) -> None:
    """Of a month the lines of one region's accelerators on Linux, with the hash and size of the whole file."""
    january, february = looks(context(folder.as_uri()), "us-east-1")

    assert (january.complete, january.archived, january.observed_at) == (False, True, datetime(2024, 2, 1, tzinfo=UTC))
    assert january.documents[0].body.decode() == "".join(
        line + "\n" for line in JANUARY.splitlines() if line.startswith("use1") and "UNIX" in line and "m5" not in line
    )
    digest = blake3(JANUARY.encode()).hexdigest()
    assert january.documents[0].whole == Whole(size=len(JANUARY), digest=digest, algorithm="blake3")
    assert rows(february)["unit_price"].to_list() == ["12.5"]


def test_changes_are_kept_with_their_own_times(folder: Path) -> None:
    """The price in force at the start of the month, each change, and the last sight of each zone."""
    found = rows(looks(context(folder.as_uri()), "us-east-1")[0])

    assert found.select("availability_zone_id", "instance_type", "unit_price", "observed_at_utc").rows() == [
        ("use1-atl2-az1", "g6.xlarge", "0.35", "2024-01-03T10:00:00+00:00"),
        ("use1-az6", "p5.48xlarge", "9.37", "2024-01-01T00:00:00+00:00"),
        ("use1-az6", "p5.48xlarge", "12.5", "2024-01-20T10:00:00+00:00"),
        ("use1-az6", "p5.48xlarge", "12.5", "2024-01-31T23:59:58+00:00"),
    ]
    assert set(found["region_id"]) == {"us-east-1"}


def test_a_file_is_read_once_for_all_regions() -> None:
    """A month is a hundred megabytes: the second region takes what the first had cut."""
    web = NoWeb({"https://example.org/files/2024-01.tsv.zst": packed(JANUARY)})
    ctx = context("https://example.org/files", web)

    virginia = looks(ctx, "us-east-1", last="2024-01-31")
    paris = looks(ctx, "eu-west-3", last="2024-01-31")

    assert web.asked == ["https://example.org/files/2024-01.tsv.zst"]
    assert rows(paris[0])["unit_price"].to_list() == ["0.5586"]
    assert virginia[0].documents[0].version_key != paris[0].documents[0].version_key


def test_what_was_landed_is_not_read_again(folder: Path) -> None:
    """A file never changes once it is published."""
    first = looks(context(folder.as_uri()), "us-east-1")[0].documents[0]
    (folder / "2024-01.tsv.zst").unlink()

    again = looks(context(folder.as_uri(), landed={first.version_key: first}.get), "us-east-1")[0]

    assert again.documents == (first,)


@pytest.mark.parametrize(
    ("text", "reason"),
    [("use1-az6" * 200, "a line of more than 1000 bytes"), (FEBRUARY * 200, "accelerators exceed 2000 bytes")],
)
def test_what_swells_is_refused(text: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a line without end nor prices without end are held in memory."""
    monkeypatch.setattr(spot, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(spot, "EXCERPT_LIMIT_BYTES", 2000)
    web = NoWeb({"https://example.org/2024-01.tsv.zst": packed(text)})
    with pytest.raises(LayoutChanged, match=reason):
        looks(context("https://example.org", web), "us-east-1", last="2024-01-31")


def test_holes_are_named(folder: Path) -> None:
    """A month that is not there, and a month without the region: looks without documents, and a note."""
    december, january, _ = looks(context(folder.as_uri()), "sa-east-1", first="2023-12-01")

    assert (december.documents, january.documents) == ((), ())
    assert december.notes[0].endswith("has no 2023-12")
    assert january.notes[0].endswith("has no spot price of an accelerator in sa-east-1")


@pytest.mark.parametrize(
    "body",
    [packed(JANUARY)[:-4], b"<html>Too many requests</html>", b"", packed("use1-az6\tp5\n"), packed(JANUARY[:-5]),
     packed("us-east-1a\tp5.48xlarge\tLinux/UNIX\t1.0\t2024-01-01T00:00:00+00:00\n")],
)  # fmt: skip
def test_a_damaged_or_other_file_is_an_error(folder: Path, body: bytes) -> None:
    """Cut short, HTML, other fields, zone names in place of ids: nothing of it is kept."""
    (folder / "2024-01.tsv.zst").write_bytes(body)

    with pytest.raises(LayoutChanged):
        looks(context(folder.as_uri()), "us-east-1")


def test_a_line_without_a_zone_is_left_out_and_said(folder: Path) -> None:
    """The archive's collector writes nothing for a zone whose id it does not know; the other lines of the month stay.

    https://github.com/ericpauley/aws-spot-price-history/blob/5e7a8b0e55bb34a30efd61c6d4dbbffe19d0525e/collect.go , read
    on 2026-11-28. A Wavelength Zone has an id of another form, of the region that its zone is in.
    """
    lost = "\tp5.48xlarge\tLinux/UNIX\t8.000000\t2024-01-05T00:00:00+00:00\n"
    wave = "use1-wl1-bos-wlz1\tg4dn.2xlarge\tLinux/UNIX\t0.450000\t2024-01-05T00:00:00+00:00\n"
    (folder / "2024-01.tsv.zst").write_bytes(packed(JANUARY + lost + wave + lost.replace("p5.48xlarge", "m5.large")))
    virginia, ohio = (looks(context(folder.as_uri()), scope)[0] for scope in ("us-east-1", "us-east-2"))

    found = rows(virginia)
    assert found.filter(pl.col("availability_zone_id") == "use1-wl1-bos-wlz1")["unit_price"].to_list() == ["0.45"]
    assert (found.height, "8" in found["unit_price"]) == (5, False)
    assert [note.partition(" ")[2] for look in (virginia, ohio) for note in look.notes] == [
        "has 1 line without a zone, which is in no region",
        "has no spot price of an accelerator in us-east-2",
        "has 1 line without a zone, which is in no region",
    ]


def test_files_joined_together_are_read_whole(folder: Path) -> None:
    """Zstandard files may be written one behind the other, as the archive's README does."""
    half = JANUARY.index("use1-az6\tm5")
    (folder / "2024-01.tsv.zst").write_bytes(packed(JANUARY[:half]) + packed(JANUARY[half:]))

    assert rows(looks(context(folder.as_uri()), "us-east-1")[0]).height == 4


@pytest.mark.parametrize(
    ("region", "prefix"),
    [("us-east-1", "use1"), ("us-west-2", "usw2"), ("ap-southeast-2", "apse2"), ("ap-northeast-1", "apne1"),
     ("ap-south-1", "aps1"), ("eu-central-1", "euc1"), ("us-gov-west-1", "usgw1"), ("mx-central-1", "mxc1")],
)  # fmt: skip
def test_zone_ids_begin_with_their_region(region: str, prefix: str) -> None:
    """us-east-1 has use1-az1."""
    assert places.zone_prefix(region) == prefix


@pytest.mark.parametrize("scope", ["us", "us-moon-1", "us-east-1-atl-1", "all"])
def test_no_region_no_archive(folder: Path, scope: str) -> None:
    """A name that is no region is an error that names it."""
    with pytest.raises(SourceError) as caught:
        looks(context(folder.as_uri()), scope)

    assert caught.value.value == scope


def test_a_wrong_address_is_named() -> None:
    """A setting, not a crash."""
    with pytest.raises(SettingsError) as caught:
        looks(context("/srv/spot"), "us-east-1")

    assert caught.value.field == "archive_url"


YEAR = JANUARY.replace("2024-", "2023-") + "use1-az6\tp5.48xlarge\tLinux/UNIX\t20.0\t2023-11-05T10:00:00+00:00\n"


def test_a_year_is_a_file(folder: Path) -> None:
    """2023 as one look, whatever months of it are wanted, then 2024 by months; 2022, which is not there, is named."""
    (folder / "2023.tsv.zst").write_bytes(packed(YEAR))

    found = looks(context(folder.as_uri()), "us-east-1", first="2022-12-01", last="2024-01-31")

    assert [len(look.documents) for look in found] == [0, 1, 1]
    assert [look.observed_at for look in found[1:]] == [datetime(year, 1, 1, tzinfo=UTC) for year in (2024,)] + [
        datetime(2024, 2, 1, tzinfo=UTC)
    ]
    assert found[0].notes[0].endswith("has no 2022-12")
    prices = rows(found[1]).filter(pl.col("instance_type") == "p5.48xlarge")["unit_price"].to_list()
    assert prices == ["9.37", "12.5", "20"]


def test_the_gap_of_the_archive_is_named(folder: Path) -> None:
    """Four months of 2026, which nobody will find by looking again."""
    found = looks(context(folder.as_uri()), "us-east-1", first="2026-02-01", last="2026-07-31")

    assert [look.documents for look in found] == [()] * 6
    named = ["missing from the archive itself" in look.notes[0] for look in found]
    assert named == [False, True, True, True, True, False]


class Zenodo(NoWeb):
    """A web whose address of all versions leads to a record."""

    location = "https://zenodo.org/records/99999999"

    def first_bytes(self, url: str, *, limit_bytes: int) -> Response:
        assert url == "https://zenodo.org/records/14198917/latest"
        if not self.location:
            raise SourceError("the server answered 500", source=url, field="status", value=500)
        return Response(url=url, body=b"", status=302, content_type="", location=self.location)


@pytest.mark.parametrize(("location", "record"), [
    (Zenodo.location, "99999999"), ("/records/31415926", "31415926"), ("", "23082767"),
    ("https://elsewhere.example/login", "23082767"),
])  # fmt: skip
def test_the_newest_version_is_read(location: str, record: str) -> None:
    """By the address of all versions; the version known here where that does not lead to a record."""
    web = Zenodo({})
    web.location = location
    ctx = Context(web=web, settings={}, now=lambda: NOW)  # type: ignore[arg-type]

    list(SOURCE.backfill(ctx, "us-east-1", datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)))  # type: ignore[misc]

    assert web.asked[0] == f"https://zenodo.org/records/{record}/files/2024-01.tsv.zst"


@pytest.mark.parametrize("key", ["https://zenodo.org/records/files/2024-01.tsv.zst#us-east-1", None])
def test_a_month_is_the_same_in_each_version(key: str | None) -> None:
    """Each month the archive has a new version, with another number, which has the former months unchanged.

    A month that was landed before keys left that number out, None here, is found by its address.
    """
    web = Zenodo({"https://zenodo.org/records/99999999/files/2024-01.tsv.zst": packed(JANUARY)})
    since, until = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)
    ctx = Context(web=web, settings={}, now=lambda: NOW)  # type: ignore[arg-type]
    (document,) = next(iter(SOURCE.backfill(ctx, "us-east-1", since, until))).documents  # type: ignore[misc]
    kept = {key or f"{document.url}#us-east-1": document}
    web.location = "https://zenodo.org/records/99999998" if key else web.location

    again = Context(web=web, settings={}, now=lambda: NOW, landed=kept.get)  # type: ignore[arg-type]
    assert next(iter(SOURCE.backfill(again, "us-east-1", since, until))).documents == (document,)  # type: ignore[misc]
    assert len(web.asked) == 1
