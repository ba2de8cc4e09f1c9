"""AWS's maps of prices of one region, rendered from a table of what they said."""

import csv
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from standin.exchange import NOT_FOUND, Answer
from standin.server import LoopbackServer

from extract.aws.price_pages import PAYMENTS, TERMS

VIRGINIA = "US East (N. Virginia)"
SHORT = {"No Upfront": "no", "Partial Upfront": "partial", "All Upfront": "all"}
COLUMNS = {"ec2-reservedinstance": "ri", "compute-savings-plan-ec2": "sp", "instance-savings-plan-ec2": "none"}


class Pages:
    """AWS's maps of one region, rendered from a table; `requests` are the paths asked for."""

    def __init__(
        self, table: Path, place: str = VIRGINIA, *, packed: bool = True, columns: Mapping[str, str] = COLUMNS
    ):
        with table.open() as file:
            self.rows = list(csv.DictReader(file))
        self.place, self.packed, self.columns = place, packed, columns
        self.requests: list[str] = []
        self.server = LoopbackServer(self._handle)

    def _handle(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[Answer, Callable[[], None]]:
        self.requests.append(unquote(path))
        content = self.content(unquote(path))
        if content is None:
            return replace(NOT_FOUND, status=403), lambda: None
        body = json.dumps(content).encode()
        return Answer(body=gzip.compress(body) if self.packed else body, gzip="never"), lambda: None

    def content(self, path: str) -> dict[str, Any] | None:
        """Return a map by its path; None where there is none."""
        parts = path.strip("/").split("/")
        if self.place not in parts:
            return None
        if "ec2-ondemand-without-sec-sel" in parts:
            listed = {row["instance_type"]: {"Instance Type": row["instance_type"], "price": row["on_demand"],
                      "Operating System": "Linux", "Pre Installed S/W": "NA"} for row in self.rows}  # fmt: skip
            return self._map(
                listed | {"m5": {"Instance Type": "m5.large", "price": "0.096", "Pre Installed S/W": "NA"}}
            )
        kind = next(part for part in parts if part in self.columns)
        term, payment = next(part for part in parts if part in TERMS), next(part for part in parts if part in PAYMENTS)
        column = f"{self.columns[kind]}_{term[0]}y_{SHORT[payment]}"
        rows = [row for row in self.rows if row.get(column)]
        if kind == "instance-savings-plan-ec2":
            rows = [row for row in rows if row["instance_type"].partition(".")[0] in parts]
        if not rows:
            return None
        if kind == "ec2-reservedinstance":
            return self._map({row["instance_type"]: reserved(row, column, term, payment) for row in rows})
        return self._map({row["instance_type"]: {"ec2:InstanceType": row["instance_type"], "ec2:Tenancy": "Shared",
                          "ec2:PreInstalledSW": "NA", "price": row[column]} for row in rows})  # fmt: skip

    def _map(self, listed: Mapping[str, Any]) -> dict[str, Any]:
        return {"manifest": {"hawkFilePublicationDate": "2026-09-24"}, "regions": {self.place: dict(listed)}}


def reserved(row: Mapping[str, str], column: str, term: str, payment: str) -> dict[str, str]:
    """Return a Reserved row: the effective rate of the table as an hourly part and a fee."""
    effective, hours = Decimal(row[column]), TERMS[term]
    fee = {"No Upfront": Decimal(0), "Partial Upfront": effective * hours / 2, "All Upfront": effective * hours}[
        payment
    ]
    named = {"Instance Type": row["instance_type"], "Tenancy": "Shared", "Pre Installed S/W": "NA"}
    hourly = {} if payment == "All Upfront" else {"price": format((effective - fee / hours).normalize(), "f")}
    return named | hourly | ({"riupfront:PricePerUnit": format(fee.normalize(), "f")} if fee else {})
