"""The tables of the private file, in order of creation: what a user pays and runs, made beside the published file.

Each is one SELECT of `transform/sql/private/`, over the published file attached as `prices` and over what was read of
the user's files: `fleet_input`, `price_rule` and `build`.
"""

from dataclasses import dataclass
from importlib.resources import files

SQL = files("transform") / "sql" / "private"


@dataclass(frozen=True)
class PrivateTable:
    """One table: its name, what a row of it is, and whether it is only a step on the way (not kept in the file)."""

    name: str
    row: str
    is_step: bool = False

    @property
    def sql(self) -> str:
        """Return the table's SELECT."""
        return select(self.name)


def select(name: str) -> str:
    """Return the text of one file."""
    return (SQL / f"{name}.sql").read_text()


TABLES = (
    PrivateTable("fleet_candidate", "One offer that a line of the fleet may mean", is_step=True),
    PrivateTable("fleet_line", "One line of the fleet, with the offer that it means, or why none is found"),
    PrivateTable("rule_match", "One rule that counts for one offer, or for one line without an offer", is_step=True),
    PrivateTable("contracted_price", "One offer with a negotiated price next to its list price"),
    PrivateTable("fleet_cost", "What one line of the fleet costs a month, at list and as contracted"),
    PrivateTable("fleet_move", "One move of a list price, and what it does to one line of the fleet"),
    PrivateTable("renewal", "One commitment of the fleet with a known end, and what is left of it"),
)

READ = {
    "build": "The building of this file: when, from which published file and which files of the user",
    "price_rule": "One negotiated discount or contracted rate, as read",
}
"""The tables that are not computed, with what a row of each is."""
