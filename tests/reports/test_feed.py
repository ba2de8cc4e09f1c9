"""The feeds: Atom that parses, JSON that its schema describes, and words from outside that are text in both."""

import json
import shutil
from decimal import Decimal
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import paging
import pytest
import weekly_file
from few_marts import needed
from log_days import put
from purchase import SOURCES
from weekly_file import BUILT_DAY, HOSTILE, publish_weeks

from reports.pages import feed
from reports.weekly import page as weekly_page
from warehouse.log import db

MARTS, _ = needed("price_change", "provider_price", "source_health")
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a reports folder with one week's page and the feeds."""
    file = weekly_file.weeks(tmp_path_factory)
    folder = tmp_path_factory.mktemp("reports")
    weekly_page.write(weekly_file.told(tmp_path_factory, "2026-W03"), folder)
    paging.of(file, feed.write, folder)
    return folder


def entries(folder: Path) -> list[ElementTree.Element]:
    root = ElementTree.fromstring((folder / "feed.atom").read_bytes())  # noqa: S314 (our own)
    return root.findall("a:entry", ATOM)


def test_an_entry_is_a_change_with_its_prices(folder: Path) -> None:
    """AWS's cut is there once, with an id of its own, its moment, and the page of its week; corrections are not."""
    titles = [entry.findtext("a:title", "", ATOM) for entry in entries(folder)]
    (cut,) = [entry for entry in entries(folder) if "p5.48xlarge" in entry.findtext("a:title", "", ATOM)]

    assert cut.findtext("a:title", "", ATOM) == "AWS p5.48xlarge on-demand: 80.00 to 60.00 USD, \N{MINUS SIGN}25.0 %"
    assert cut.findtext("a:updated", "", ATOM) == "2026-01-14T00:00:00Z"
    assert [link.get("href") for link in cut.findall("a:link", ATOM)] == ["weeks/2026-W03.html"]
    assert not [title for title in titles if "H200" in title]
    assert any(title == "Beta H100 SXM on-demand: gone, 3.00 USD" for title in titles)


def test_a_move_that_two_collectors_saw_is_told_once(folder: Path) -> None:
    """By the one who saw it first; the other names the same chip by other words, and so as another offer."""
    (told,) = (text for entry in entries(folder) if "RunPod" in (text := entry.findtext("a:content", "", ATOM)))
    assert "RunPod H100 PCIe on-demand secure: 2.39 to 2.89 USD" in told
    assert "Seen first 2026-01-11 12:00 UTC" in told
    assert "Source aws_spot_feed" in told


@pytest.mark.parametrize(
    ("payment", "hourly", "once", "amounts"),
    [
        ("All Upfront", ("0", "0"), ("164955", "113819"), "164,955.00 once to 113,819.00 once"),
        ("Partial Upfront", ("9.42", "6.5"), ("82477.5", "56900"), "9.42 + 82,477.50 once to 6.50 + 56,900.00 once"),
    ],
)
def test_what_is_paid_once_is_told(payment: str, hourly: tuple[str, str], once: tuple[str, str], amounts: str) -> None:
    row = dict.fromkeys(("service_provider_name", "tier", "offering_class")) | {
        "offered": "p4d.24xlarge",
        "accelerator_name": "A100-40GB",
        "purchase_option": "reserved",
        "commitment_term_hours": 8760,
        "purchase_payment_model": payment,
        "pricing_currency": "USD",
        "pricing_unit": "Hours",
        "change_kind": "list_change",
        "change_ratio": -0.31,
    }
    for name, pair in (("unit_price", hourly), ("upfront_price", once)):
        row |= {f"{name}_before": Decimal(pair[0]), f"{name}_after": Decimal(pair[1])}
    assert feed.title(row) == f"p4d.24xlarge Reserved 1 year, {payment}: {amounts} USD, \N{MINUS SIGN}31.0 %"
    assert feed.title(row | {"pricing_unit": "Months"}).endswith(f"{amounts} USD a month, \N{MINUS SIGN}31.0 %")


@pytest.mark.of_file("copies the log of the weeks")
def test_ids_are_unique_and_stay(folder: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The same history published again gives the same ids, so that no reader sees old news as new."""
    shutil.copy(weekly_file.weeks(tmp_path_factory).with_name(db.FILE_NAME), tmp_path)
    with db.writer(tmp_path) as con:
        file = put(con, tmp_path, BUILT_DAY, marts=MARTS, sources=SOURCES)
    paging.of(file, feed.write, tmp_path)
    same_ids(folder, tmp_path)


@pytest.mark.prove
def test_ids_of_a_history_that_was_loaded_again_stay(folder: Path, tmp_path: Path) -> None:
    """As those of a history that is published again from the log that it is in."""
    paging.of(publish_weeks(tmp_path, marts=MARTS, macros=()), feed.write, tmp_path)
    same_ids(folder, tmp_path)


def same_ids(folder: Path, other: Path) -> None:
    ids = [entry.findtext("a:id", "", ATOM) for entry in entries(folder)]

    assert len(ids) == len(set(ids)) > 0
    assert all(each.startswith("urn:uuid:") for each in ids)
    assert [entry.findtext("a:id", "", ATOM) for entry in entries(other)] == ids


def test_latest_is_what_its_schema_says(folder: Path) -> None:
    schema = json.loads((folder / "latest.schema.json").read_text(encoding="utf-8"))
    latest = json.loads((folder / "latest.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    checker = jsonschema.Draft202012Validator(schema)
    checker.validate(latest)

    assert any(each["price_rank"] == 1 for each in latest["prices"])
    assert all(each["is_ranked"] for each in latest["prices"] if each["price_rank"])
    assert {each["state"] for each in latest["sources"]} == {"stale", "archived"}
    assert not checker.is_valid(latest | {"more": 1})
    assert not checker.is_valid(latest | {"prices": [latest["prices"][0] | {"cheapest_price_usd": "2"}]})


def test_amounts_keep_their_digits(folder: Path) -> None:
    latest = json.loads((folder / "latest.json").read_text(encoding="utf-8"), parse_float=Decimal)
    (raised,) = (each for each in latest["changes"] if each["service_provider_name"] == "RunPod")

    assert (raised["unit_price_before"], raised["unit_price_after"]) == (Decimal("2.39"), Decimal("2.89"))


def test_words_from_outside_are_text(folder: Path) -> None:
    """In the feed on one line and escaped; in JSON as they are."""
    text = (folder / "feed.atom").read_text(encoding="utf-8")
    titles = [entry.findtext("a:title", "", ATOM) for entry in entries(folder)]
    latest = json.loads((folder / "latest.json").read_text(encoding="utf-8"))

    assert "<script" not in text
    assert any(
        title.startswith('<script>alert(1)</script>"><img src=x onerror=alert(1)>=cmd() Bcc:') for title in titles
    )
    assert HOSTILE in {each["service_provider_name"] for each in latest["changes"]}
