"""What the read API answers beside prices: costs of tokens, claims, sources, the tables, and free SQL."""

import csv
import io
from collections import Counter
from dataclasses import dataclass
from typing import Any

from flows.decisions import audit as auditing
from flows.decisions import cost as asking
from flows.read_api.inputs import AuditClaims, CostPerToken, GivenClaim, Query, Schema, Sources, arguments, near, wrong
from flows.read_api.published_file import Book, Row, cut
from flows.read_api.query_process import MOST_BYTES, Asker
from transform.audit.judge import Judged
from transform.audit.tables import audit
from warehouse.reference import claims
from warehouse.schema.dictionary import DEPRECATED

SERVING = (
    "all_in_output_usd_low",
    "all_in_output_usd_median",
    "all_in_output_usd_high",
    "input_usd",
    "output_usd",
    "input_weight_basis",
    "usd_per_month_per_unit",
    "tokens_per_day",
    "paid_accelerators",
    "usd_per_month_at_load",
    "usd_per_million_at_load",
    "utilisation",
    "running_share",
)
TRAINING = (
    "usd_per_million_tokens_low",
    "usd_per_million_tokens_median",
    "usd_per_million_tokens_high",
    "training_usd_low",
    "training_usd_median",
    "training_usd_high",
    "training_days",
    "working_share",
    "running_share",
    "goodput_share",
    "overhead_share",
)
TABLES = (
    "select schema_name || '.' || name as name, row, parameters from ("
    "select schema_name, table_name as name, comment as row, null as parameters from duckdb_tables() "
    "where database_name = current_database() union all "
    "select schema_name, view_name, comment, null from duckdb_views() where not internal union all "
    "select schema_name, function_name, comment, parameters from duckdb_functions() "
    "where function_type = 'table_macro' and not internal) "
    "where schema_name in ('core', 'ref', 'focus', 'int', 'mart') "
    f"and not starts_with(coalesce(\"row\", ''), '{DEPRECATED}') "
    "order by array_position(['mart', 'int', 'ref', 'focus', 'core'], schema_name), name"
)
"""The tables, views and table macros, the last with their parameters."""

POINT = (
    "accelerator_name",
    "form_factor",
    "unit_accelerators",
    "capacity_class",
    "fabric",
    "tier",
    "commitment_class",
    "service_provider_name",
    "host_provider_name",
    "region_id",
    "instance_type",
    "low_price_usd",
    "median_price_usd",
    "high_price_usd",
    "price_range_basis",
    "price_basis",
    "paid_rate_usd",
    "task",
    "scenario",
    "benchmark",
    "precision",
    "input_length",
    "output_length",
    "decoding",
    "interactivity",
    "interactivity_statistic",
    "ttft_ms",
    "median_output_rate",
    "median_rate",
    "rate_bound_per_accelerator",
    "binding_bound",
    "share_of_bound",
    "reach",
    "evidence_grade",
    "n_runs",
    "measured_by",
    "measured_on",
    "source_url",
    "throughput_id",
    "offer_id",
    "price_source",
    "valid_from",
    "last_observed_at",
    "is_current",
)
"""What a cost rests on: the price, the measured run and its bound."""


def cost_per_token(book: Book, asked: CostPerToken) -> Row:
    """Return what a million tokens, or a training, costs: of each point, chip and option the cheapest."""
    if (asked.task == "training") != (asked.tokens is not None):
        raise wrong("tokens go with the task training, and it needs them", "tokens", asked.tokens or "")
    terms = asking.Terms(commitment_use=asked.commitment_use, spot_running_share=1 - asked.spot_loss)
    cost, figures = (
        ("training_usd_median", TRAINING) if asked.tokens is not None else ("all_in_output_usd_median", SERVING)
    )
    if asked.tokens is not None:
        found = asking.training(
            book.path,
            model=asked.model,
            tokens=asked.tokens,
            overhead=0.0,
            goodput=1.0,
            mfu=asked.mfu,
            precision="bf16",
            terms=terms,
        )
        table = "mart.training_run_cost"
    else:
        found = asking.serving(
            book.path,
            model=asked.model,
            interactivity=asked.interactivity,
            tokens_per_day=asked.tokens_per_day,
            terms=terms,
        )
        table = "mart.serving_cost"
    rows = [
        row | {"document_sha256": row["price_document_sha256"]}
        for row in (asking.only(found["rows"], asked.chip) if asked.chip else found["rows"])
        if row.get("utilisation", asked.utilisation) == asked.utilisation
        and asked.purchase_option in (None, row["purchase_option"])
    ]
    costless = sum(row[cost] is None for row in rows)
    best = sorted(
        asking.cheapest([row for row in rows if row[cost] is not None]),
        key=asking.by_rank,
    )
    book.settled(rows, source="price_source")
    lists = []
    for option in sorted({row["purchase_option"] for row in best}):
        of_option = [_costed(row, figures) for row in best if row["purchase_option"] == option]
        shown, told = cut(of_option, asked.limit)
        n_current = sum(row["is_current"] for row in of_option)
        lists.append(
            {
                "purchase_option": option,
                "n_costs": len(of_option),
                "n_current": n_current,
                "costs": shown,
                "truncated": told,
            }
        )
    unknown = [
        {"what": row["left_out_kind"], "n": row["n_left_out"], "reason": row["reason"]} for row in found["left_out"]
    ]
    if costless:
        unknown.insert(0, {"what": "costs", "n": costless, "reason": "no rate or no price to compute a cost from"})
    if not best:
        unknown.insert(0, {"what": "costs", "n": 0, "reason": "no measured run and price of what was asked for meet"})
    return {
        "asked": arguments(asked) | {"model": found["inputs"]["model"]},
        "formula": found["formula"],
        "units": book.units([table], (*figures, *POINT)),
        "not_included": found["not_included"],
        "purchase_options": lists,
        "unknown": unknown,
    }


def _costed(row: Any, figures: tuple[str, ...]) -> Row:
    """Return a cost as it is told; `source` is that of the price, `source_url` that of the measurement."""
    told = {name: row[name] for name in (*figures, *POINT) if name in row}
    return told | {"document": row["document"]} | ({"unknown": row["unknown"]} if "unknown" in row else {})


def audit_claims(book: Book, asked: AuditClaims) -> Row:
    """Return whether published numbers hold, on their date and today, with the arithmetic."""
    if asked.claims is not None and asked.article is not None:
        raise wrong("article chooses among the shipped claims, beside which none are given", "article", asked.article)
    told = claims.read_table(_Given(asked.claims)) if asked.claims else auditing.told(None, asked.article)
    judged = audit(book.con, told)[0]
    shown, cut_off = cut([{"one": one} for one in judged], asked.limit)
    return {
        "asked": {"article": asked.article, "n_claims": len(judged), "given": asked.claims is not None},
        "counted": {
            "on_its_date": Counter(one.standing for one in judged),
            "today": Counter(one.standing_today for one in judged),
        },
        "claims": [_judged(each["one"]) for each in shown],
        "truncated": cut_off,
        "notes": ["recomputed_value is in the claim's own unit", "unverifiable: arithmetic says why nothing decides"],
    }


def _judged(one: Judged) -> Row:
    claim, finding = one.claim, one.finding
    return auditing.as_object(one) | {
        "subject": claim.subject_text,
        "metric": claim.metric,
        "claimed": claim.figure,
        "unit": claim.unit,
        "article": claim.article or None,
        "as_of": claim.as_of,
        "source_url": claim.source_url,
        "standing": one.standing,
        "standing_today": one.standing_today,
        "decided_by": finding.basis,
        "readings": finding.readings,
        "bounds": finding.bounds,
        "rests_on": finding.rests_on,
        "documents": finding.documents,
        "evidence_until": finding.evidence_until,
    }


@dataclass(frozen=True)
class _Given:
    """Claims given by a program, read as a file of them is."""

    rows: list[GivenClaim]
    name: str = "claims"

    def read_text(self, encoding: str) -> str:
        """Return the claims as CSV."""
        text = io.StringIO(newline="")
        lines = csv.DictWriter(text, list(GivenClaim.model_fields))
        lines.writeheader()
        lines.writerows(row.model_dump() for row in self.rows)
        return text.getvalue()


def sources(book: Book, asked: Sources) -> Row:
    """Return the health and freshness of each source, or of each scope of one."""
    listed = book.rows("from core.source order by service_provider_name, source")
    if asked.source is not None and asked.source not in {row["source"] for row in listed}:
        raise wrong(
            "the file has no such source", "source", asked.source, near(asked.source, (row["source"] for row in listed))
        )
    scopes = book.rows("from int.source_health order by source, scope")
    most = {row["source"]: row["max_age_hours"] for row in listed}
    for row in scopes:
        limit, age = most.get(row["source"]), _hours(book, row["last_good_at"])
        row["is_current"] = bool(row["is_current"] and limit is not None and age is not None and age <= limit)
        row["age_hours"] = age
        del row["age_days"]
    if asked.source is not None:
        return {
            "asked": arguments(asked),
            "units": book.units(["int.source_health"], scopes[0]) if scopes else {},
            "scopes": [row for row in scopes if row["source"] == asked.source],
        }
    return {
        "asked": {},
        "units": {"max_age_hours": "hours", "newest_age_hours": "hours"},
        "sources": [_source(row, [one for one in scopes if one["source"] == row["source"]]) for row in listed],
    }


def _source(row: Row, scopes: list[Row]) -> Row:
    good = [one for one in scopes if one["last_good_at"] is not None]
    newest = max(good, key=lambda one: one["last_good_at"], default=None)
    unknown = {}
    if not scopes:
        unknown["last_good_at"] = "it was never asked"
    elif newest is None:
        unknown["last_good_at"] = "no look at it was good"
    if row["max_age_hours"] is None:
        unknown["n_current"] = "an archive or import, which is never current"
    return {
        **{name: row[name] for name in ("source", "service_provider_name", "title", "kind", "url", "max_age_hours")},
        "n_scopes": len(scopes),
        "n_current": sum(one["is_current"] for one in scopes),
        "last_tried_at": max((one["last_tried_at"] for one in scopes), default=None),
        "last_good_at": newest["last_good_at"] if newest else None,
        "newest_age_hours": newest["age_hours"] if newest else None,
        "n_refused": sum(one["n_refused"] for one in scopes),
        "failing": [
            {"scope": one["scope"], "status": one["status"], "error": one["error"]}
            for one in scopes
            if one["status"] != "ok"
        ][:10],
        "n_failing": sum(one["status"] != "ok" for one in scopes),
        "unknown": unknown,
    }


def _hours(book: Book, moment: Any) -> float | None:
    return None if moment is None else round((book.now - moment).total_seconds() / 3600, 2)


def schema(book: Book, asked: Schema) -> Row:
    """Return the tables, views and table macros, or the columns of one with their units."""
    found = book.rows(TABLES)
    if asked.table is None:
        return {
            "asked": {},
            "tables": [{"table": row["name"], "row": row["row"]} for row in found if row["parameters"] is None],
            "macros": [
                {"macro": row["name"], "parameters": row["parameters"], "row": row["row"]}
                for row in found
                if row["parameters"] is not None
            ],
            "notes": ["a macro is called in FROM, named whole and with all its parameters, as in mart.drift(...)"],
        }
    known = {row["name"]: row for row in found}
    if asked.table not in known:
        raise wrong("the file has no such table", "table", asked.table, near(asked.table, known))
    return {
        "asked": arguments(asked),
        "row": known[asked.table]["row"],
        "parameters": known[asked.table]["parameters"],
        "columns": book.rows(
            "select column_name, data_type, meaning, unit from mart.data_dictionary "
            "where table_schema || '.' || table_name = $table",
            {"table": asked.table},
        ),
    }


def query(book: Book, asked: Query, asker: Asker) -> Row:
    """Return what one SELECT gives, within limits; an answer that was cut says so."""
    found = asker.ask(book.path, asked.sql, rows=asked.rows, seconds=asked.seconds)
    told = {
        None: None,
        "rows": f"the first {asked.rows} rows are shown, and there are more: ask for less, or raise rows",
        "bytes": f"the first {len(found['rows'])} rows are shown: more than {MOST_BYTES} bytes; ask for less",
    }[found["cut"]]
    return {
        "asked": arguments(asked),
        "columns": found["columns"],
        "units_by_name": _units_by_name(book, [column["name"] for column in found["columns"]]),
        "rows": found["rows"],
        "n_rows": len(found["rows"]),
        "truncated": told,
        "notes": [
            "units_by_name are those of the file's columns of the same name: check them where the question renames",
            "is_current and age_days in the file are as of built_at",
        ],
    }


def _units_by_name(book: Book, names: list[str]) -> dict[str, str]:
    """Return the unit of each column name that has the same unit wherever it stands in the file."""
    found = book.rows(
        "select column_name, any_value(unit) as unit from mart.data_dictionary "
        "where list_contains($names, column_name) group by column_name "
        "having count(unit) = count(*) and count(distinct unit) = 1 order by column_name",
        {"names": names},
    )
    return {row["column_name"]: row["unit"] for row in found}
