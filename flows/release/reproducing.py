"""`chipledger reproduce`: one published figure, recomputed from the bytes that it rests on, step by step.

The steps are document, row, observation, price per chip-hour, published figure; amounts are exact until the last one.
Of a token's cost follow the rate to US dollars, the measured runs and the formula of docs/cost-per-token.md.
The arithmetic is written here once more, apart from the SQL that published the figure. `verify` checks a release.
"""

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, time
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from statistics import median
from typing import Any

import duckdb

from extract import observations, source_named
from extract.base import IMPORT, IMPORTED
from flows.shared.output import as_json
from reports.pages.site import sha256_of
from reports.templating import render
from warehouse.documents import Document
from warehouse.errors import ChipledgerError, SettingsError, did_you_mean
from warehouse.landing.folder import Landing
from warehouse.log.db import quote
from warehouse.log.events import naive
from warehouse.log.gates import row_gate
from warehouse.reference import models
from warehouse.schema.tables import IDENTITY

CHECKSUMS = "CHECKSUMS"
DIFFERS = "DIFFERS"  # the last step of a figure that is not what its document says
ADDRESS = re.compile(r"(?:.*#)?(?:offer-)?(\d+)")
"""A cell as the pages print it: evidence.html#offer-123, with or without what is before the number."""
TOLERANCE = 1e-12
"""Share by which a product of doubles may differ from the exact one."""
COST = "usd_per_million_output_tokens"
COST_TOLERANCE = 1e-9
RATES = """
select pricing_currency, arg_max(units_per_eur, recorded_at), arg_max(document_sha256, recorded_at)
from core.fx_rate where rate_date = ? and pricing_currency in (select unnest(?)) group by pricing_currency
"""
OF_COST = (
    "model_name, scenario, precision, decoding, interactivity, accelerator_name, service_provider_name, "
    "purchase_option, commitment_class, offer_terms, cost_basis, offer_id"
)
"""Columns of mart.token_cost that name a cost. It has no lengths of texts: of several the nearest is meant."""
HINT = (
    "A price can be recomputed (evidence.html#offer-123, or an offer of mart.price_history), and with --model the cost "
    "of a token on it at the point of the model; no index of prices, and no mean of spot prices"
)
Row = dict[str, Any]


def checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a release but its list, by name."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / CHECKSUMS)
    return {path.relative_to(folder).as_posix(): sha256_of(path) for path in found}


def verify(folder: Path) -> list[str]:
    """Return a line for each file of a release that is altered, missing or not of it.

    Raises ChipledgerError where the folder is no release.
    """
    if not (folder / CHECKSUMS).is_file():
        hint = "Name the folder of a day, such as site/2026-11-23, or site/latest"
        raise ChipledgerError("no release", source=str(folder), field="file", value=CHECKSUMS, hint=hint)
    lines = (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines()
    wanted = {name: sha256 for sha256, _, name in (line.partition("  ") for line in lines)}
    found = checksums(folder)
    faults = [f"altered: {name}" for name in sorted(wanted) if found.get(name, wanted[name]) != wanted[name]]
    faults += [f"missing: {name}" for name in sorted({*wanted} - {*found})]
    return faults + [f"not of this release: {name}" for name in sorted({*found} - {*wanted})]


COLUMNS = {"chip": "accelerator_name", "provider": "service_provider_name", "option": "purchase_option"}
"""Of the words that name a price, what knows them in mart.price_history."""


def reproduce(
    file: Path, documents: Landing, words: Mapping[str, str | None], *, day: datetime | None, release: Path | None
) -> dict[str, str]:
    """Recompute a figure from its document; of a release that of its Parquet. Returns the steps, by name, in order.

    `words` has `number`, or `chip`, `provider` and `option`, and may have `region` and `instance_type`, and `model` for
    the cost of a token; `day` is the one at whose end the price was in force, None: the last known price. Raises
    ChipledgerError where there is no such figure, or its document is missing or altered.
    """
    match = ADDRESS.fullmatch(words["number"] or "")
    values: Row = {name: value for name, value in words.items() if name not in ("number", "model")}
    values |= {"offer_id": int(match[1]) if match else None}
    with duckdb.connect(str(file), read_only=True) as con:
        cost = {}
        if words["model"]:
            cost = _found(con, "cost.sql", values | {"model": words["model"]}, words, file)
            if cost["price_kind"] != "price":
                field, value = "price_kind", f"{cost['price_kind']}, {cost['offer_terms']}"
                raise ChipledgerError("a mean price", source=file.name, field=field, value=value, hint=HINT)
            values = dict.fromkeys(values) | {"offer_id": cost["offer_id"]}
        until = datetime.combine(day, time.max) if day else None
        figure = _found(con, "figure.sql", values | {"until": until}, words, file)
        if day and figure["changed_by"] and figure["seen_until"].date() < day.date():
            seen, value = f"{figure['seen_until']:%Y-%m-%d}", f"{day:%Y-%m-%d}"
            hint = f"It was last seen on {seen} and had changed by {figure['changed_by']:%Y-%m-%d}: ask for one of them"
            raise ChipledgerError(
                "no price is known of this day", source=file.name, field="--day", value=value, hint=hint
            )
        where = f"price_history/month={figure['valid_from']:%Y-%m}/part0.parquet" if release else "mart.price_history"
        table = f"read_parquet({quote(str(release / where))})" if release else where
        of_offer = f"select price_per_accelerator_hour from {table} where offer_id = ? and valid_from::TIMESTAMP = ?"
        row = con.execute(of_offer, [figure["offer_id"], figure["valid_from"]]).fetchone()
        body = documents.body(figure["document_sha256"])
        steps = _by_name(_steps(body, figure, where, row[0] if row else math.nan))
        if cost and DIFFERS not in steps:
            steps["price is equal"] = steps.pop("equal")
            steps |= _by_name(_cost_steps(con, documents, cost, figure, release))
    return steps


def _by_name(text: str) -> dict[str, str]:
    return {name: step for name, _, step in (line.partition(": ") for line in text.splitlines() if line)}


def _found(con: duckdb.DuckDBPyConnection, query: str, values: Row, words: Mapping[str, str | None], file: Path) -> Row:
    """Return the first row of a query; raises ChipledgerError where there is none, or the number is no address."""
    text = (files("flows.release") / query).read_text()
    found: list[Row] = con.execute(text, values).to_arrow_table().to_pylist()
    if not found or (words["number"] and values["offer_id"] is None):
        if not words["number"]:
            _refuse_unknown(con, words, file)
        message = f"no such {query.removesuffix('.sql').replace('figure', 'price')}"
        value = as_json({name: word for name, word in (values | {**words}).items() if word})
        raise ChipledgerError(message, source=file.name, field="NUMBER", value=value, hint=HINT)
    return found[0]


def _refuse_unknown(con: duckdb.DuckDBPyConnection, words: Mapping[str, str | None], file: Path) -> None:
    """Raise SettingsError for the first word of a figure that the file does not know, with the nearest ones."""
    for name, column in (COLUMNS | {"region": "region_id", "instance_type": "instance_type"}).items():
        if not (word := words.get(name)):
            continue
        known = {str(each) for (each,) in con.execute(f"select distinct {column} from mart.price_history").fetchall()}
        if word.casefold() not in map(str.casefold, known):
            field, hint = f"--{name.replace('_', '-')}", did_you_mean(word, sorted(known))
            raise SettingsError(f"no such {name}", source=file.name, field=field, value=word, hint=hint)
    if (model := words.get("model")) and models.find(model) is None:
        raise models.unknown(model)


def _steps(body: bytes, figure: Row, where: str, published: float) -> str:
    """Return the steps from a document to the published figure, one a line; upfront fees are spread over the term."""
    rows = _observations(body, figure)
    amounts = [figure["unit_price"], figure["upfront_price"]]
    row = next((row for row in rows if [row["unit_price"], row["upfront_price"]] == amounts), None)
    hours, value = _price(figure)
    text = row and as_json({name: cell for name, cell in row.items() if cell is not None})
    is_equal = math.isclose(value, published, rel_tol=TOLERANCE)
    figures = {"published": published, "value": value, "hours": hours, "is_equal": is_equal}
    return render("figure.txt.j2", f=figure, size=len(body), rows=rows, row=text, where=where, **figures).unescape()


def _price(figure: Row) -> tuple[Decimal, Decimal]:
    """Return the hours of the pricing unit and the price per chip-hour, in the currency of the offer."""
    hours = Decimal(1) / 60 if figure["hours_per_pricing_unit"] < 1 else Decimal(figure["hours_per_pricing_unit"])
    fee = figure["upfront_price"] / figure["commitment_term_hours"] if figure["upfront_price"] else 0
    return hours, (figure["unit_price"] / hours + fee) / figure["n_chips"]


def _cost_steps(
    con: duckdb.DuckDBPyConnection, documents: Landing, cost: Row, figure: Row, release: Path | None
) -> str:
    """Return the steps from a price per chip-hour to the published cost of a million output tokens, one a line."""
    text = (files("flows.release") / "runs.sql").read_text()
    ends = [cost["throughput_id"], cost["slower_throughput_id"] if cost["reach"] == "between two runs" else None]
    knots = []
    for run in filter(None, ends):
        values = {"run": run, "unit": cost["unit_accelerators"], "network": cost["network"]}
        knots.append(con.execute(text, values).to_arrow_table().to_pylist())
    rates = {}
    if figure["pricing_currency"] != "USD":
        wanted = [cost["fx_rate_date"], [figure["pricing_currency"], "USD"]]
        rates = {name: (units, sha256) for name, units, sha256 in con.execute(RATES, wanted).fetchall()}
        for _, sha256 in rates.values():
            documents.body(sha256)
    where = "token_cost.parquet" if release else "mart.token_cost"
    table = f"read_parquet({quote(str(release / where))})" if release else where
    named = {name: cost[name] for name in OF_COST.split(", ")}
    same = " and ".join(f"{name} is not distinct from ${name}" for name in named)
    of_cost = f"select {COST} from {table} where {same} order by abs({COST} - $usd) limit 1"
    row = con.execute(of_cost, named | {"usd": cost[COST]}).fetchone()
    return cost_text(cost, figure, rates, knots, where, row[0] if row else math.nan)


def cost_text(
    cost: Row, figure: Row, rates: Mapping[str, tuple[Decimal, str]], knots: list[list[Row]], where: str, stated: float
) -> str:
    """Return the steps of a cost, one a line.

    `rates` are units of a currency per euro with their document, empty for a price in USD; `knots` the runs of the
    configuration at the speed, or first of the faster and then of the slower one on either side, all of one unit.
    """
    currency, unit = figure["pricing_currency"], cost["unit_accelerators"]
    euro = {name: float(units) for name, (units, _) in rates.items()} | {"EUR": 1.0}
    usd = float(_price(figure)[1]) * (euro["USD"] / euro[currency] if rates else 1)
    share = 1.0 - (cost["lost_share"] or 0)
    end_h = 1.0 if (figure["instance_type"] or "").startswith("u-p6e-gb200") else 0.5
    if cost["purchase_option"] == "capacity_block":
        share *= 1 - end_h / (figure["commitment_term_hours"] or 24)
    points = []  # of each knot the speed for a user, and the rate of a paid chip: formulas of cost.working_share
    for runs in knots:
        for run in runs:
            n = float(run["accelerator_count"])
            working = unit // n * n / unit if n <= unit else n / (math.ceil(n / unit) * unit)
            run |= {"working": working, "rate": run["output_rate"] / n * working}
        speeds = [run["interactivity"] for run in runs if run["interactivity"] is not None]
        points.append((median(speeds) if speeds else 0.0, median(run["rate"] for run in runs)))
    (fast, rate), (slow, at_slow) = points[0], points[-1]
    if fast != slow:
        rate = at_slow + (rate - at_slow) * (cost["interactivity"] - slow) / (fast - slow)
    value = usd / share * 1e6 / (3600 * rate)
    is_equal = math.isclose(value, stated, rel_tol=COST_TOLERANCE)
    figures = {"usd": usd, "share": share, "points": points, "rate": rate, "value": value, "is_equal": is_equal}
    seen = {"rates": rates, "currency": currency, "knots": knots, "where": where, "published": stated, "end_h": end_h}
    return render("token_figure.txt.j2", c=cost, f=figure, **figures, **seen).unescape()


def _observations(body: bytes, figure: Row) -> list[Row]:
    """Return what a document says of the offer of a figure at its moment, parsed and gated as when it was loaded."""
    published_at = figure["published_at"]
    document = Document(
        source=figure["document_source"],
        scope=figure["scope"],
        url=figure["url"],
        body=body,
        fetched_at=figure["fetched_at"].replace(tzinfo=UTC),
        parameters=json.loads(figure["parameters"] or "{}"),
        version_key=figure["version_key"] or "",
        published_at=published_at and published_at.replace(tzinfo=UTC),
    )
    if document.source == IMPORT:
        frame = observations.parse(document).prices[figure["source"].removeprefix(IMPORTED)]
    else:
        frame = source_named(figure["source"]).parse(document).rows
    rows, _ = row_gate(frame, latest=naive(datetime.now(UTC)))
    wanted = {name: figure[name] for name in IDENTITY}
    wanted |= {"observed_at": figure["observed_at"]} if "observed_at" in rows.columns else {}
    return [row for row in rows.iter_rows(named=True) if all(row[name] == wanted[name] for name in wanted)]
