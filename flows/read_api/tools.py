"""The tools of the read API: prices, costs of tokens, claims, sources, the tables, and free SQL."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from flows.decisions import audit as auditing
from flows.decisions import cost
from flows.read_api.price_tools import (
    Limit,
    Name,
    Option,
    Positive,
    PurchaseOption,
    Share,
    Text,
    by,
    cheapest,
    counted,
    latest_price,
    price_history,
)
from flows.read_api.published_file import Book, Row, cut, did_you_mean, similar, wrong
from flows.read_api.query_process import MAX_BYTES, MAX_CHARACTERS, MAX_ROWS, MAX_SECONDS
from flows.shared.query import columns
from transform.audit.judge import Judged
from transform.audit.tables import audit
from warehouse.reference import claims
from warehouse.schema.dictionary import DEPRECATED


class SuppliedClaim(BaseModel):
    """One published number to check, in the columns of docs/auditing-a-claim.md."""

    model_config = ConfigDict(extra="forbid")

    claim_id: Name
    subject: Text
    metric: Name = Field(description="Such as price_per_chip, throughput_tokens_per_s_per_chip or savings_pct")
    unit: Name
    as_of: Name = Field(description="The date of the text: 2026-07-02, 2026-04, 2026 or undated")
    value: Name | None = None
    low: Name | None = None
    high: Name | None = None
    hedge: Name | None = None
    conditions: Text | None = None
    derived_from: Text | None = None
    purchase_option: PurchaseOption | None = None
    commitment_term_hours: Name | None = None
    region_id: Name | None = None
    batch_size: Name | None = None
    precision: Name | None = None
    model_name: Name | None = None
    tokens: Name | None = None


SERVING = """
all_in_output_usd_low, all_in_output_usd_median, all_in_output_usd_high, input_usd, output_usd, input_weight_basis,
usd_per_month_per_unit, tokens_per_day, paid_accelerators, usd_per_month_at_load, usd_per_million_at_load, utilisation,
running_share
"""
TRAINING = """
usd_per_million_tokens_low, usd_per_million_tokens_median, usd_per_million_tokens_high, training_usd_low,
training_usd_median, training_usd_high, training_days, working_share, running_share, goodput_share, overhead_share
"""
EVIDENCE = """
accelerator_name, form_factor, unit_accelerators, capacity_class, fabric, tier, commitment_class,
service_provider_name, host_provider_name, region_id, instance_type, low_price_usd, median_price_usd, high_price_usd,
price_range_basis, price_basis, paid_rate_usd, task, scenario, benchmark, precision, input_length, output_length,
decoding, interactivity, interactivity_statistic, ttft_ms, median_output_rate, median_rate, rate_bound_per_accelerator,
binding_bound, share_of_bound, reach, evidence_grade, n_runs, measured_by, measured_on, source_url, throughput_id,
offer_id, price_source, valid_from, last_observed_at, is_current
"""
"""What a cost rests on: the price, the measured run and its bound."""

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


def cost_per_token(
    book: Book,
    model: Annotated[Name, Field(description="A model, such as llama-2-70b; the table ref.model has them")],
    task: Literal["serving", "training"] = "serving",
    chip: Annotated[Name | None, Field(description="Only this chip")] = None,
    purchase_option: Option = None,
    interactivity: Annotated[Positive | None, Field(description="Serving: min tokens per second for one user")] = None,
    tokens_per_day: Annotated[Positive | None, Field(description="Serving: output tokens a day")] = None,
    utilisation: Annotated[
        float,
        Field(
            json_schema_extra={"enum": [*cost.UTILISATIONS]}, description="Serving: share of the measured rate served"
        ),
    ] = 1.0,
    tokens: Annotated[Positive | None, Field(description="Training: tokens to train on")] = None,
    mfu: Annotated[
        Share, Field(description="Training: share of the peak, where nothing was measured")
    ] = cost.ASSUMED_MFU,
    commitment_use: Annotated[Share, Field(description="Hours used of the hours committed")] = 1.0,
    spot_loss: Annotated[float, Field(ge=0, lt=1, description="Share of spot hours lost to interruption")] = 0.0,
    limit: Limit = 10,
) -> Row:
    """Return what a million tokens of a model costs, or a training, by measured runs and known prices.

    For each purchase option, of each point and chip the cheapest; with what is not included and what was left out.
    """
    if utilisation not in cost.UTILISATIONS:
        raise wrong(
            "invalid argument", "utilisation", utilisation, f"Allowed: {', '.join(map(str, cost.UTILISATIONS))}"
        )
    if (task == "training") != (tokens is not None):
        raise wrong("the task training needs `tokens`, and no other task takes it", "tokens", tokens or "")
    terms = cost.Terms(commitment_use=commitment_use, spot_running_share=1 - spot_loss)
    if tokens is None:
        table, ranked_by, figures = "mart.serving_cost", "all_in_output_usd_median", SERVING
        found = cost.serving(
            book.path, model=model, interactivity=interactivity, tokens_per_day=tokens_per_day, terms=terms
        )
    else:
        table, ranked_by, figures = "mart.training_run_cost", "training_usd_median", TRAINING
        whole = {"overhead": 0.0, "goodput": 1.0, "mfu": mfu}
        found = cost.training(book.path, model=model, tokens=tokens, precision="bf16", terms=terms, **whole)
    rows = [
        row | {"document_sha256": row["price_document_sha256"]}
        for row in (cost.only(found["rows"], chip) if chip else found["rows"])
        if row.get("utilisation", utilisation) == utilisation and purchase_option in (None, row["purchase_option"])
    ]
    priced = [row for row in rows if row[ranked_by] is not None]
    best = sorted(cost.cheapest(priced), key=cost.by_rank)
    book.as_of_now(rows, source="price_source")
    shown_columns = *columns(f"{figures}, {EVIDENCE}"), "document", "unknown"
    lists = []
    for (option,), of_option in sorted(by(best, "purchase_option").items()):
        shown, truncated = cut(of_option, limit)
        lists.append(
            {
                "purchase_option": option,
                "n_costs": len(of_option),
                "n_current": sum(row["is_current"] for row in of_option),
                "costs": [{name: row[name] for name in shown_columns if name in row} for row in shown],
                "truncated": truncated,
            }
        )
    none = [{"what": "costs", "n": 0, "reason": "no measured run has a price within these arguments"}]
    return {
        "asked": {"model": found["inputs"]["model"]},
        "formula": found["formula"],
        "units": book.units([table], figures, EVIDENCE),
        "not_included": found["not_included"],
        "purchase_options": lists,
        "unknown": [
            *([] if lists else none),
            *counted(len(rows) - len(priced), "no rate or no price to compute a cost from", "costs"),
            *(
                {"what": row["left_out_kind"], "n": row["n_left_out"], "reason": row["reason"]}
                for row in found["left_out"]
            ),
        ],
    }


class _Table(NamedTuple):
    """Claims of a program, read as a CSV of them is."""

    text: str
    name: str = "claims"

    def read_text(self, encoding: str) -> str:
        """Return the claims as CSV."""
        return self.text


Claims = Annotated[list[SuppliedClaim], Field(min_length=1, max_length=50)]


def audit_claims(
    book: Book,
    claims: Annotated[Claims | None, Field(description="Numbers to check; without it, those that are shipped")] = None,
    article: Annotated[Name | None, Field(description="Shipped claims of texts with this in their name")] = None,
    limit: Annotated[int, Field(ge=1, le=300, description="Max claims")] = 50,
) -> Row:
    """Return whether published numbers hold, on their date and today, with the arithmetic.

    The shipped claims, or claims of your own.
    """
    if claims is not None and article is not None:
        hint = "Leave out article, or claims"
        raise wrong("article chooses among the shipped claims, and claims replaces these", "article", article, hint)
    judged = audit(book.con, _supplied(claims) if claims else auditing.read(None, article))[0]
    shown, truncated = cut(judged, limit)
    return {
        "asked": {"n_claims": len(judged), "given": claims is not None},
        "counted": {
            "on_its_date": Counter(one.standing for one in judged),
            "today": Counter(one.standing_today for one in judged),
        },
        "claims": [_verdict(one) for one in shown],
        "truncated": truncated,
        "notes": ["recomputed_value is in the claim's own unit", "unverifiable: arithmetic says why nothing decides"],
    }


def _supplied(supplied: Sequence[SuppliedClaim]) -> list[claims.Claim]:
    text = io.StringIO(newline="")
    lines = csv.DictWriter(text, list(SuppliedClaim.model_fields))
    lines.writeheader()
    lines.writerows(each.model_dump() for each in supplied)
    return claims.read_table(_Table(text.getvalue()))


def _verdict(one: Judged) -> Row:
    claim, finding = one.claim, one.finding
    return {
        **auditing.as_object(one),
        "subject": claim.subject_text,
        "claimed": claim.figure,
        **{name: getattr(claim, name) for name in ("metric", "unit", "as_of", "source_url")},
        "article": claim.article or None,
        "standing": one.standing,
        "standing_today": one.standing_today,
        "decided_by": finding.basis,
        **{name: getattr(finding, name) for name in columns("readings, bounds, rests_on, documents, evidence_until")},
    }


def sources(
    book: Book, source: Annotated[Name | None, Field(description="One source, with each of its scopes")] = None
) -> Row:
    """Return the health and freshness of each source: when it was last fetched, with what result, what fails."""
    listed = book.rows("from core.source order by service_provider_name, source")
    max_ages = {row["source"]: row["max_age_hours"] for row in listed}
    if source is not None and source not in max_ages:
        raise wrong("the file has no such source", "source", source, did_you_mean(similar(source, max_ages)))
    scopes = book.rows("from int.source_health order by source, scope")
    for row in scopes:
        age = None if row["last_good_at"] is None else round((book.now - row["last_good_at"]).total_seconds() / 3600, 2)
        max_age = max_ages.get(row["source"])
        row["is_current"] = bool(row["is_current"] and max_age is not None and age is not None and age <= max_age)
        row["age_hours"] = age
        del row["age_days"]
    if source is None:
        units = dict.fromkeys(("max_age_hours", "newest_age_hours"), "hours")
        of_source = by(scopes, "source")
        return {"units": units, "sources": [_source(row, of_source.get((row["source"],), [])) for row in listed]}
    units = book.units(["int.source_health"], *scopes[0]) if scopes else {}
    return {"units": units, "scopes": [row for row in scopes if row["source"] == source]}


def _source(row: Row, scopes: list[Row]) -> Row:
    good = [one for one in scopes if one["last_good_at"] is not None]
    failing = [one for one in scopes if one["status"] != "ok"]
    newest = max(good, key=lambda one: one["last_good_at"], default=None)
    unknown = {}
    if newest is None:
        unknown["last_good_at"] = "no fetch of it succeeded" if scopes else "it was never fetched"
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
        "failing": [{name: one[name] for name in ("scope", "status", "error")} for one in failing[:10]],
        "n_failing": len(failing),
        "unknown": unknown,
    }


def schema(
    book: Book,
    table: Annotated[
        Name | None, Field(description="One table or view, such as int.price_change, with its columns")
    ] = None,
) -> Row:
    """Return the tables, views and macros of the file; of one of them each column with meaning and unit."""
    known = {row["name"]: row for row in book.rows(TABLES)}
    if table is None:
        macros = {name: row for name, row in known.items() if row["parameters"] is not None}
        return {
            "tables": [{"table": name, "row": row["row"]} for name, row in known.items() if name not in macros],
            "macros": [
                {"macro": name, "parameters": row["parameters"], "row": row["row"]} for name, row in macros.items()
            ],
            "notes": ["a macro is called in FROM, named whole and with all its parameters, as in mart.drift(...)"],
        }
    if table not in known:
        raise wrong("the file has no such table", "table", table, did_you_mean(similar(table, known)))
    return {
        "row": known[table]["row"],
        "parameters": known[table]["parameters"],
        "columns": book.rows(
            "select column_name, data_type, meaning, unit from mart.data_dictionary "
            "where table_schema || '.' || table_name = $table",
            {"table": table},
        ),
    }


def query(
    book: Book,
    sql: Annotated[
        str,
        Field(
            min_length=1, max_length=MAX_CHARACTERS, description="One SELECT in DuckDB's SQL over core, int and mart"
        ),
    ],
    rows: Annotated[int, Field(ge=1, le=MAX_ROWS, description="Max rows")] = 200,
    seconds: Annotated[float, Field(gt=0, le=MAX_SECONDS, description="Max time")] = 10.0,
) -> Row:
    """Return the rows of one SELECT in DuckDB's SQL on the published file, read-only.

    Within limits of rows, bytes and time; an answer that was cut says so in `truncated`.
    """
    found = book.asker.ask(book.path, sql, rows=rows, seconds=seconds)
    truncated = {
        None: None,
        "rows": f"the first {rows} rows are shown, and there are more: name fewer, or raise rows",
        "bytes": f"the first {len(found['rows'])} rows are shown: more than {MAX_BYTES} bytes; name fewer columns",
    }[found["cut"]]
    units = book.rows(
        "select column_name, any_value(unit) as unit from mart.data_dictionary "
        "where list_contains($names, column_name) group by column_name "
        "having count(unit) = count(*) and count(distinct unit) = 1 order by column_name",
        {"names": [column["name"] for column in found["columns"]]},
    )
    return {
        "columns": found["columns"],
        "units_by_name": {row["column_name"]: row["unit"] for row in units},
        "rows": found["rows"],
        "n_rows": len(found["rows"]),
        "truncated": truncated,
        "notes": [
            "units_by_name are those of the file's columns of the same name: check them where the query renames",
            "is_current and age_days in the file are as of built_at",
        ],
    }


TOOLS: dict[Callable[..., Row], str] = {
    latest_price: "Latest prices",
    price_history: "Price history",
    cheapest: "Cheapest providers of a chip",
    cost_per_token: "Cost per token",
    audit_claims: "Audit of claims",
    sources: "Sources",
    schema: "Tables and columns",
    query: "SQL",
}
"""Each tool and its title; its name is that of the function, its description the docstring."""
