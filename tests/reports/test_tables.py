"""From frames to tables: escaped, captioned, the same bytes each time."""

import re
from datetime import datetime
from decimal import Decimal

import polars as pl
from markupsafe import Markup

from reports.tables import change_tables, source_tables
from reports.tables.table import Column, Table, document_link, small, to_html
from reports.wording import UNKNOWN

HOSTILE = '<script>alert("1")</script>'
SEEN = datetime(2026, 11, 21, 9)  # noqa: DTZ001
SHA = "0123456789abcdef" * 4


def table(text: str) -> str:
    rows = [{"group": text, "name": text, "plain": text, "ours": text, "price": None}]
    columns = [
        Column("Name", "name"), Column("Plain", "plain"), Column("Ours", lambda row: small(row["ours"])),
        Column("USD per\nhour", "price", right=True, why=text),
    ]  # fmt: skip
    return str(
        to_html(Table(id="t", title=text, subtitle=text, rows=rows, columns=columns, group="group", note="a `note`"))
    )


def change(**other: object) -> dict[str, object]:
    fields: dict[str, object] = {
        "service_provider_name": "AWS", "offered": "p5.48xlarge", "is_chip": False, "accelerator_name": "H100",
        "accelerator_count": Decimal(8), "region_id": "us-east-1", "availability_zone_id": None,
        "purchase_option": "on_demand", "commitment_term_hours": None, "purchase_payment_model": None,
        "offering_class": None, "tier": None, "pricing_currency": "USD", "unit_price_before": Decimal("98.32"),
        "unit_price_after": Decimal("55.04"), "upfront_price_before": None, "upfront_price_after": None,
        "change_ratio": -0.4401952807, "last_observed_before_at": SEEN, "observed_at": SEEN,
        "change_kind": "list_change", "source": "aws_price_list", "document_sha256": SHA, "offer_id": 1,
    }  # fmt: skip
    row = fields | other
    return {f"effective_hourly_price_{side}": row[f"unit_price_{side}"] for side in ("before", "after")} | row


def changes(*rows: dict[str, object], total: int | None = None, sparks: dict[int, str] | None = None) -> str:
    frame = pl.DataFrame(list(rows), infer_schema_length=None)
    return to_html(
        change_tables.changes(frame, sparks or {}, id="c", title="T", subtitle="S", total=total or len(rows))
    )


# --- every table


def test_text_from_outside_is_escaped_wherever_it_stands() -> None:
    made = table(HOSTILE)
    assert "<script" not in made
    assert made.count("&lt;script&gt;") == 7


def test_a_table_has_a_caption_scopes_and_a_frame_for_the_keyboard() -> None:
    made = table("x")
    assert '<caption id="t-caption">' in made
    assert 'role="region" tabindex="0" aria-labelledby="t-caption"' in made
    assert made.count('scope="col"') == 4
    assert '<th scope="row" class="gt_stub">x</th>' in made
    assert '<th scope="row" class="gt_stub">&lt;a_<wbr>b</th>' in table("<a_b")  # where a narrow screen may break it
    assert '"gt_stub"><a href="a_b">a_<wbr>b</a></th>' in table(Markup('<a href="a_b">a_b</a>'))
    assert "USD per<br>hour" in made


def test_a_table_brings_no_style_of_its_own() -> None:
    assert "style" not in table("x")
    assert "headers=" not in table("x")


def test_the_same_frame_gives_the_same_bytes() -> None:
    assert table("x") == table("x")


def test_a_dash_has_its_reason_in_a_footnote() -> None:
    made = table("because")
    assert f"{UNKNOWN}<sup>1</sup>" in made
    assert "<sup>1</sup> because" in made


def test_documents_are_linked_by_their_hash() -> None:
    assert document_link(SHA) == '<a href="#d-0123456789ab">01234567</a>'
    assert document_link(None) == UNKNOWN


# --- changes


def test_a_fall_has_arrow_sign_and_both_prices() -> None:
    made = changes(change())
    assert '<span class="fall"><span aria-hidden="true">▼</span> \N{MINUS SIGN}44.0 %</span>' in made
    assert '<td class="gt_right">98.32</td>' in made
    assert '<td class="gt_right">55.04</td>' in made


def test_new_and_gone_offers_are_said_in_words() -> None:
    made = changes(
        change(unit_price_after=None, change_ratio=None, change_kind="gone_offer"),
        change(unit_price_before=None, change_ratio=None, change_kind="new_offer"),
    )
    assert "not offered" in made
    assert "not seen" in made
    assert change_tables.NO_RATIO in made


def test_what_is_left_out_of_the_changes_is_counted() -> None:
    many = [change(region_id=f"r-{n}") for n in range(40)]
    made = changes(*many)
    assert made.count("p5.48xlarge") == change_tables.MAX_CHANGES
    assert "15 more changes left out" in made


def test_a_tier_or_provider_from_outside_is_escaped_in_changes() -> None:
    made = changes(change(tier=HOSTILE, service_provider_name=HOSTILE, region_id=HOSTILE, source=HOSTILE))
    assert "<script" not in made


def test_other_currencies_and_upfront_fees_stand_in_the_cell() -> None:
    made = changes(
        change(pricing_currency="CNY", upfront_price_before=Decimal(1200), upfront_price_after=Decimal(1000))
    )
    assert "98.32 CNY<small>+ 1,200.00 CNY once</small>" in made


def test_a_month_is_put_into_hours_in_changes() -> None:
    """1,940 and 2,000 euros a month of 730 hours."""
    hourly = {"effective_hourly_price_before": 1940 / 730, "effective_hourly_price_after": 2000 / 730}
    made = changes(
        change(pricing_currency="EUR", unit_price_before=Decimal(1940), unit_price_after=Decimal(2000), **hourly)
    )
    assert re.findall(r"[\d,.]+ EUR", made) == ["2.66 EUR", "2.74 EUR"]


# --- sources


def test_errors_and_refused_values_are_escaped() -> None:
    scope = {
        "service_provider_name": "AWS", "source": "aws", "kind": "live", "scope": "us-east-1", "state": "missing",
        "last_tried_at": SEEN, "last_good_at": None, "age_days": None, "newest_price_at": None, "n_rows": None,
        "n_refused": 0, "n_disagreements": 0, "n_without_accelerator": 0, "error": f"aws: {HOSTILE}",
    }  # fmt: skip
    row = {
        "source": "aws", "scope": HOSTILE, "last_observed_at": SEEN, "gate": "row", "reason": "no amount",
        "field": None, "value": HOSTILE, "row_json": "{}", "quarantine_id": 36926045906261, "document_sha256": SHA,
    }  # fmt: skip
    health = to_html(source_tables.health(pl.DataFrame([scope], infer_schema_length=None)))
    refused = to_html(source_tables.refusals(pl.DataFrame([row], infer_schema_length=None)))
    assert "<script" not in health + refused
    assert "never read" in health
    assert "36926045906261" in refused
    assert "1 refused row waits for a decision" in refused


def test_only_web_addresses_become_links() -> None:
    document = {
        "document_sha256": SHA, "source": "aws", "scope": "x", "parameters": None, "published_at": None,
        "fetched_at": SEEN, "size_bytes": 10, "whole_size_bytes": None, "whole_sha256": None,
        "source_url": None, "accessed_on": None,
    }  # fmt: skip
    frame = pl.DataFrame(
        [document | {"url": 'https://a.example/?q="x"'}, document | {"url": "javascript:alert(1)"}],
        infer_schema_length=None,
    )
    made = to_html(source_tables.documents(frame))
    assert '<a href="https://a.example/?q=&#34;x&#34;" rel="noreferrer">' in made
    assert 'href="javascript' not in made


def test_a_document_of_the_archive_leads_to_where_its_figures_were_copied_from() -> None:
    """With the day of that, in place of when the archive was read; what it says else of itself is not shown."""
    copied = {"source_url": "https://b.example/prices", "accessed_on": "2026-11-21", "parameters": '{"terms": "free"}'}
    rest = {"document_sha256": SHA, "source": "archive", "scope": "x", "published_at": None, "size_bytes": 10}
    frame = pl.DataFrame([rest | copied | {"url": "archive:/prices/b.csv", "fetched_at": SEEN}])
    made = to_html(source_tables.documents(frame))
    assert '<a href="https://b.example/prices" rel="noreferrer">' in made
    assert "2026-11-21" in made
    assert "terms" not in made


def test_a_sparkline_stands_in_the_row_of_its_offer_alone() -> None:
    """Without any there is no column; a row without one says that it is unknown."""
    made = changes(change(), change(offer_id=2), sparks={2: Markup("<svg>two</svg>")})
    first, second = made.split("<tbody")[1].split("</tr>")[:2]
    assert "<svg>two</svg>" in second
    assert "<svg" not in first
    assert "Last 90<br>days" in made
    assert "Last 90" not in changes(change())
