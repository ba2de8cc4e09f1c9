"""What each source's terms say of fetching and of publishing again: `data/source_terms.csv`."""

from datetime import date
from functools import cache
from typing import NamedTuple, get_type_hints

from warehouse.reference.table import Model, reader


class SourceTerms(NamedTuple):
    """What a reader of a source's terms found, in the order of the columns of `ref.source_terms`.

    `may_fetch` and `redistributable` are yes, no or doubt; None: nobody is known to have read them.
    """

    source: str
    is_documented_api: bool
    may_fetch: str | None
    redistributable: str | None
    reason: str
    terms_url: str
    source_url: str | None
    accessed_on: date | None

    @property
    def forbids(self) -> str:
        """Return why the source is off unless a deployment decides otherwise; empty where it is not."""
        if "no" not in (self.may_fetch, self.redistributable):
            return ""
        return f"of its terms: {self.reason} Read {self.terms_url} and decide"


MODEL = Model(
    file="source_terms.csv",
    key="source",
    fields=get_type_hints(SourceTerms),
    unique=("source",),
    repeated="a second row of the same source",
)
read_table = reader(SourceTerms, MODEL)


@cache
def terms_of(source: str) -> SourceTerms | None:
    """Return the terms of a source; None where the table has none."""
    return {row.source: row for row in read_table()}.get(source)
