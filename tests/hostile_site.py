"""A site of a small market in which every word from outside is hostile: names of all kinds, errors, refused values."""

from html import escape
from importlib.metadata import version
from pathlib import Path

from log_rows import add_documents
from looks import Row, day, row
from purchase import SOURCES, seen
from weekly_file import HOSTILE, aws, chip, first

from reports.pages import site
from reports.pages.frame import frame
from reports.weekly import facts
from reports.weekly import page as weekly_page
from reports.weekly.calendar import Week
from transform.audit import tables as audit_tables
from transform.formula import statements
from transform.models import MACROS, MARTS
from warehouse.log import db
from warehouse.log.events import naive
from warehouse.log.load import load
from warehouse.publish import published_file

BUILT_DAY = 20.0
WEEK = Week(2026, 3)
WEEK_BEFORE = "weeks/2026-W02.html"


def market(at: float) -> list[Row]:
    """Return prices at a day: real chips, so that tokens have costs, and a provider that is all hostile words."""
    plain = [
        chip(f"Provider {i}", f"{2 + i / 10 + (0.1 if at > 12 else 0):.2f}", "NVIDIA H100 SXM", tier=f"tier {i}")
        for i in range(6)
    ]
    plain.append(
        row("8x", "6", service_provider_name="Provider 1", accelerator_label="NVIDIA H100 SXM", accelerator_count="8",
            purchase_option="spot", region_id=None)
    )  # fmt: skip
    hostile = [
        chip(HOSTILE, "2" if at < 12 else "2.2", "NVIDIA H100 SXM", tier=HOSTILE, region_id=HOSTILE),
        chip(HOSTILE, "1", HOSTILE, region_id=HOSTILE),
        row(HOSTILE, "9", region_id=HOSTILE),
        row(HOSTILE, "12" if at < 12 else "13", service_provider_name=HOSTILE, accelerator_label="NVIDIA H200 SXM",
            accelerator_count="8", region_id=HOSTILE),
    ]  # fmt: skip
    return [*aws("80" if at < 12 else "60"), *plain, *hostile]


def publish_hostile(folder: Path) -> Path:
    """Publish the market into a folder, with a failed look and refused rows, and return the file."""
    looks = [first(5), seen(6, "aws_price_list", *market(6)), seen(13, "aws_price_list", *market(13))]
    with db.writer(folder) as con:
        for each in looks:
            add_documents(con, each, urls=[f"https://x.test/{HOSTILE}"])
            load(con, [each], recorded_at=each.observed_at)
        con.execute(
            "insert into log.scope_fetch by name select 999 as fetch_no, 'failed' as run_id, "
            "'aws_price_list' as source, ? as scope, "
            "?::timestamp as observed_at, false as complete, false as archived, 'failed' as status, ? as error, "
            "?::timestamp as recorded_at",
            [HOSTILE, naive(day(19)), HOSTILE, naive(day(19))],
        )
        con.execute(
            "insert into core.quarantine by name select 7 as quarantine_id, 'aws_price_list' as source, ? as scope, "
            "?::timestamp as observed_at, 'row' as gate, ? as reason, ? as field, ? as value, '{}' as row_json, "
            "'none' as document_sha256, ?::timestamp as recorded_at",
            [HOSTILE, naive(day(19)), HOSTILE, HOSTILE, HOSTILE, naive(day(19))],
        )
        return published_file.publish(
            con, folder, marts=MARTS, macros=MACROS, computed=audit_tables.TABLES, formulas=statements(),
            sources=SOURCES, built_at=day(BUILT_DAY), version=version("chipledger"),
        )  # fmt: skip


def write_site(folder: Path) -> Path:
    """Write all pages of the market, that of a week too, below a folder and return where they are."""
    file, reports = publish_hostile(folder), folder / "reports"
    weekly_page.write(facts.read(file, WEEK), reports)
    # A week of before, whose headline is hostile: those of today cut a provider's name.
    old = frame(
        "plain.html.j2", title=HOSTILE, headline=HOSTILE, place=WEEK_BEFORE, build=(None, "0"),
        parts=[f"<p>{escape(HOSTILE)}</p>"],
    )  # fmt: skip
    (reports / WEEK_BEFORE).write_text(old, encoding="utf-8")
    site.write(file, reports, draw=True)
    return reports
