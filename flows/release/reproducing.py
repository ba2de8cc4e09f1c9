"""`chipledger reproduce`: one published figure, recomputed from the bytes that it rests on, step by step.

The steps are document, row, observation, price per chip-hour, published figure; amounts are exact until the last one.
The arithmetic is written here once more, apart from the SQL that published the figure. `verify` checks a release.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

import duckdb

from extract import observations, source_named
from flows.shared.output import as_json
from reports.templating import render
from warehouse.documents import Document
from warehouse.errors import ChipledgerError
from warehouse.landing.folder import Landing
from warehouse.log.db import quote
from warehouse.log.events import naive
from warehouse.log.gates import row_gate
from warehouse.schema.tables import IDENTITY

CHECKSUMS = "CHECKSUMS"
DIFFERS = "DIFFERS"  # the last step of a figure that is not what its document says
ADDRESS = re.compile(r"(?:.*#)?(?:offer-)?(\d+)")
"""A cell as the pages print it: evidence.html#offer-123, with or without what is before the number."""
TOLERANCE = 1e-12
"""Share by which a product of doubles may differ from the exact one."""
Row = dict[str, Any]


def checksums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a release but its list, by name."""
    found = sorted(path for path in folder.rglob("*") if path.is_file() and path != folder / CHECKSUMS)
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in found}


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


def reproduce(
    file: Path, documents: Landing, words: Mapping[str, str | None], *, day: datetime | None, release: Path | None
) -> dict[str, str]:
    """Recompute a figure from its document; of a release that of its Parquet. Returns the steps, by name, in order.

    `words` has `number`, or `chip`, `provider` and `option`, and may have `region` and `instance_type`; `day` is the
    one at whose end the price was in force, None: the last known price. Raises ChipledgerError where there is no such
    figure, or its document is missing or altered.
    """
    match = ADDRESS.fullmatch(words["number"] or "")
    values: Row = {name: value for name, value in words.items() if name != "number"}
    values |= {"offer_id": int(match[1]) if match else None, "until": naive(day + timedelta(days=1)) if day else None}
    with duckdb.connect(str(file), read_only=True) as con:
        text = (files("flows.release") / "figure.sql").read_text()
        found = con.execute(text, values).to_arrow_table().to_pylist()
        if not found or (words["number"] and not match):
            hint = "Name a cell as evidence.html#offer-123, or an offer of mart.price_history"
            raise ChipledgerError("no such price", source=file.name, field="NUMBER", value=as_json(words), hint=hint)
        figure = found[0]
        where = f"price_history/month={figure['valid_from']:%Y-%m}/part0.parquet" if release else "mart.price_history"
        table = f"read_parquet({quote(str(release / where))})" if release else where
        of_offer = f"select price_per_accelerator_hour from {table} where offer_id = ? and valid_from::TIMESTAMP = ?"
        row = con.execute(of_offer, [figure["offer_id"], figure["valid_from"]]).fetchone()
    steps = _steps(documents.body(figure["document_sha256"]), figure, where, row[0] if row else math.nan)
    return {name: text for name, _, text in (line.partition(": ") for line in steps.splitlines() if line)}


def _steps(body: bytes, figure: Row, where: str, published: float) -> str:
    """Return the steps from a document to the published figure, one a line; upfront fees are spread over the term."""
    rows = _observations(body, figure)
    amounts = [figure["unit_price"], figure["upfront_price"]]
    row = next((row for row in rows if [row["unit_price"], row["upfront_price"]] == amounts), None)
    hours = Decimal(1) / 60 if figure["hours_per_pricing_unit"] < 1 else Decimal(figure["hours_per_pricing_unit"])
    fee = figure["upfront_price"] / figure["commitment_term_hours"] if figure["upfront_price"] else 0
    value = (figure["unit_price"] / hours + fee) / figure["n_chips"]
    text = row and as_json({name: cell for name, cell in row.items() if cell is not None})
    is_equal = math.isclose(value, published, rel_tol=TOLERANCE)
    figures = {"published": published, "value": value, "hours": hours, "is_equal": is_equal}
    return render("figure.txt.j2", f=figure, size=len(body), rows=rows, row=text, where=where, **figures).unescape()


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
    if observations.is_import(document.source):
        frame = observations.parse(document).prices[figure["source"].removeprefix(observations.PREFIX)]
    else:
        frame = source_named(figure["source"]).parse(document).rows
    rows, _ = row_gate(frame, latest=naive(datetime.now(UTC)))
    wanted = {name: figure[name] for name in IDENTITY}
    wanted |= {"observed_at": figure["observed_at"]} if "observed_at" in rows.columns else {}
    return [row for row in rows.iter_rows(named=True) if all(row[name] == wanted[name] for name in wanted)]
