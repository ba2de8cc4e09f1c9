"""The text of a week's mail beside the file that it is of, and when a number is written as another one."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import duckdb

MINUS = "\N{MINUS SIGN}"

MOVES = """
select distinct round(effective_hourly_price_before / u.accelerator_count::double, 4) as was,
    round(effective_hourly_price_after / u.accelerator_count::double, 4) as now, change_ratio,
    (effective_hourly_price_after - effective_hourly_price_before) / u.accelerator_count::double * 8 * 730 as node,
    c.offer_id, c.service_provider_name, c.accelerator_name, u.form_factor, c.purchase_option, c.change_kind,
    u.accelerator_count::int as units
from int.price_change as c inner join core.offer_unit as u using (offer_id)
where c.observed_at >= $since and c.observed_at < $until
"""
SEEN = """
select distinct o.service_provider_name, s.offer_id, s.seen_at
from (
    select offer_id, valid_from as seen_at from core.price_event where unit_price is not null
    union all select offer_id, observed_at from core.sighting
    union all select p.offer_id, r.observed_at from core.sku_price as p inner join core.scope_run as r
        on p.source = r.source and p.scope = r.scope and r.status = 'ok'
        and r.observed_at between p.valid_from and p.last_observed_at
) as s inner join core.offer as o using (offer_id)
where s.seen_at < $until
"""


@dataclass
class Reader:
    """A mail's text beside its file."""

    con: duckdb.DuckDBPyConnection
    since: datetime
    text: str
    known: dict[str, list[Any]]
    """What the file answered before of this week, also to readers of other texts."""

    def __post_init__(self) -> None:
        self.until = self.since + timedelta(days=7)
        self.span = {"since": self.since, "until": self.until}
        if not self.known:
            self.con.execute("create or replace temp table moved as " + MOVES, self.span)
            self.con.execute("create or replace temp table seen as " + SEEN, {"until": self.until})
        self.proved: list[tuple[int, int]] = []
        self.names = self.rows(
            "select distinct name from (select service_provider_name as name from core.offer union all "
            "select accelerator_name from core.offer_unit union all select accelerator_name from ref.accelerator "
            "union all select availability_zone_id from core.offer union all select tier from core.offer union all "
            "select source || ' ' || scope from core.scope_run union all select model_name from ref.model) "
            "where name similar to '.*[0-9].*'"
        )

    def rows(self, sql: str, *values: Any) -> list[Any]:
        asked = f"{sql} {values}"
        if asked not in self.known:
            found = self.con.execute(sql, list(values)).fetchall()
            self.known[asked] = [row[0] if len(row) == 1 else row for row in found]
        return self.known[asked]

    def one(self, sql: str, *values: Any) -> Any:
        return self.rows(sql, *values)[0]

    def day(self, text: str) -> str:
        """Return a day of the mail as the file writes it: 31 May is of the week's own year."""
        full = text if re.search(r"\d{4}$", text) else f"{text} {self.since.isocalendar().year}"
        try:
            return f"{datetime.strptime(full, '%d %b %Y'):%Y-%m-%d}"  # noqa: DTZ007 (a date alone)
        except ValueError:
            return ""  # no day of any calendar, and so found nowhere


def number(text: str) -> float:
    return float(text.replace(",", "").replace(MINUS, "-").replace("+", "").removesuffix(" %"))


def alike(shown: str, value: float | None) -> bool:
    """Return whether a number is written as one that the file has, at the places that it is written with."""
    if value is None:
        return False
    places = len(shown.partition(".")[2].rstrip(" %"))
    return abs(number(shown) - value) <= 0.5 * 10**-places + 1e-9
