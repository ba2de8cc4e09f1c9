"""What a source is: a value with a name, its scopes, and two functions, `fetch` (I/O) and `parse` (pure)."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any

from extract.web import answer_dates
from warehouse.documents import Document, RefusedRow, ScopeFetch
from warehouse.errors import SettingsError, SourceError
from warehouse.reference.source_terms import terms_of
from warehouse.schema.columns import columns
from warehouse.schema.tables import FACT_TABLES, observation_schema

if TYPE_CHECKING:
    import polars as pl

    from extract.web.interface import Web

IMPORT = "import"
"""The source of a landed file of observations (extract.observations); what it says is of a source for each origin."""
IMPORTED = "import:"
"""How the name of such a source begins, before that of the origin."""

Landed = Callable[[str], Document | None]
"""Finds a document that was landed before, by its version key; None where there is none."""


class Memo:
    """What is read once in a run, such as an index: by a key, safe in any thread; an error is not remembered."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._found: dict[str, tuple[object, list[float]]] = {}
        self._locks: dict[str, Lock] = {}

    def once(self, key: str, read: Callable[[], object]) -> Any:
        """Return what `read` gave for a key."""
        with self._lock:
            lock = self._locks.setdefault(key, Lock())
        with lock:
            if key not in self._found:
                with answer_dates.measured() as ahead_s:
                    self._found[key] = read(), ahead_s
        value, ahead_s = self._found[key]
        answer_dates.note_again(ahead_s)
        return value


@dataclass(frozen=True, kw_only=True)
class Context:
    """What a fetch may use: the web, the settings of its source, the clock, and what was landed before.

    `last_observed` gives the moment of the last complete fetch of a scope, else of the last good one, None where there
    was none; `known_prices` gives the source's last ones, None where these cannot be read. `check` raises SourceError
    where the gates would refuse what a document says. `regions` are those that the user decides for; `memo` is shared
    by the fetches of a run.
    """

    web: "Web"
    settings: Mapping[str, object]
    now: Callable[[], datetime]
    landed: Landed = lambda version_key: None
    last_observed: Callable[[str], datetime | None] = lambda scope: None
    known_prices: "Callable[[], pl.DataFrame | None]" = lambda: None
    check: "Callable[[Parsed], object]" = lambda parsed: None
    regions: tuple[str, ...] = ()
    memo: Memo = field(default_factory=Memo)
    progress: Callable[[str], None] = lambda message: None


@dataclass(frozen=True, kw_only=True)
class Parsed:
    """What a document says: observations, and what was left out and why.

    `rows` has the columns `warehouse.schema.tables.OBSERVATION`, all text but `commitment_term_hours` (Int64);
    amounts and counts are the document's own digits, so that nothing is rounded before the row gate.
    `ignored` counts the rows that are not prices of an accelerator under a known option, by reason.
    Rows of a source that dates its prices itself also have `observed_at` (naive UTC) and its text, `observed_at_utc`.
    `unknown` names what the source shows and the parser has no rule for, such as a new instance family. `facts` are
    what else the document contains: frames by the name of their table in `warehouse.schema.tables.FACT_TABLES`.
    `refused` are rows that could not be read while most could: they go to quarantine.
    """

    rows: "pl.DataFrame"
    ignored: Mapping[str, int] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()
    facts: Mapping[str, "pl.DataFrame"] = field(default_factory=dict)
    refused: tuple[RefusedRow, ...] = ()


def observation_frame(rows: Iterable[Mapping[str, object]]) -> "pl.DataFrame":
    """Return observations as a frame with the columns of OBSERVATION."""
    import polars as pl

    schema = observation_schema()
    return pl.DataFrame([tuple(row.get(name) for name in schema) for row in rows], schema=schema, orient="row")


def fact_frame(table: str, rows: Iterable[Mapping[str, object]]) -> "pl.DataFrame":
    """Return facts as a frame with the columns of their table, but those that the warehouse adds."""
    import polars as pl

    def type_of(name: str) -> pl.DataType:
        kind, _, digits = columns()[name].type.rstrip(")").partition("(")
        if kind == "DECIMAL":
            precision, scale = digits.split(",")
            return pl.Decimal(int(precision), int(scale))
        return {
            "VARCHAR": pl.String(),
            "INTEGER": pl.Int32(),
            "BIGINT": pl.Int64(),
            "BOOLEAN": pl.Boolean(),
            "TIMESTAMP": pl.Datetime("us"),
        }[kind]

    (found,) = (each for each in FACT_TABLES if each.name == table)
    names = found.columns[: found.columns.index("source")]
    values = [tuple(row.get(name) for name in names) for row in rows]
    return pl.DataFrame(values, schema={name: type_of(name) for name in names}, orient="row")


@dataclass(frozen=True, kw_only=True)
class Source:
    """One source of prices.

    `scopes` lists what succeeds or fails alone; `fetch` returns one fetch of one scope and raises a SourceError
    where it fails; `parse` is pure and raises LayoutChanged. `backfill`, where a source has an archive,
    yields the fetches of one scope between two dates (None: open), oldest first; they are archived and never complete.
    `settings` names what a deployment may choose of it, besides `enabled`. `polite` sources go through
    `extract.web.polite`, which obeys robots.txt and pauses between requests to a host. A source with `off_because` is
    collected only where a deployment says `enabled = true`; the text says why, and is made of `ref.source_terms` where
    these forbid it, as `terms_url` is. `credentials` names environment
    variables and AWS actions in backticks, for the docs. Of a source with `other_urls` the documents of a fetch are not
    parts of one answer but choices: the first that can be read holds, and `fetch` puts the one that it chose first.
    `downloads` gives the addresses of large files that a fetch of a scope would read, and that were not landed.
    """

    name: str
    provider: str
    title: str
    url: str
    max_age: timedelta | None
    scopes: Callable[[Context], tuple[str, ...]]
    fetch: Callable[[Context, str], ScopeFetch]
    parse: Callable[[Document], Parsed]
    backfill: Callable[[Context, str, datetime | None, datetime | None], Iterator[ScopeFetch]] | None = None
    kind: str = "live"
    settings: tuple[str, ...] = ()
    polite: bool = False
    terms_url: str = ""
    off_because: str = ""
    credentials: str = "none"
    other_urls: tuple[str, ...] = ()
    downloads: Callable[[Context, str], Sequence[str]] | None = None

    def __post_init__(self) -> None:
        """Take over what the table of terms says of the source."""
        if terms := terms_of(self.name):
            object.__setattr__(self, "terms_url", self.terms_url or terms.terms_url)
            object.__setattr__(self, "off_because", self.off_because or terms.forbids)


def url_in(
    settings: Mapping[str, object],
    name: str,
    default: str,
    *,
    source: str,
    schemes: tuple[str, ...] = ("https://", "http://"),
) -> str:
    """Return an address of the settings, or the default; `source` is what errors name."""
    url = settings.get(name) or default
    if not isinstance(url, str) or not url.startswith(schemes):
        hint = f"Allowed is an address that begins with {' or '.join(schemes)}"
        raise SettingsError("not an address", source=source, field=name, value=url, hint=hint)
    return url


def no_scope(source: str, scope: str, known: Iterable[str]) -> SourceError:
    """Return the error of a scope that a source does not have."""
    return SourceError("no such scope", source=source, field="scope", value=scope, hint=f"Known: {', '.join(known)}")


def past_only(name: str, hint: str) -> Callable[[Context, str], ScopeFetch]:
    """Return the `fetch` of an archive, which has no present prices: it raises SourceError."""

    def fetch(ctx: Context, scope: str) -> ScopeFetch:
        message = "this source has past prices only, and no present prices"
        raise SourceError(message, source=name, field="scope", value=scope, hint=hint)

    return fetch


def past_fetch(
    source: str, scope: str, at: datetime, documents: tuple[Document, ...], notes: tuple[str, ...] = ()
) -> ScopeFetch:
    """Return a fetch of the past, which is never complete."""
    return ScopeFetch(
        source=source, scope=scope, observed_at=at, complete=False, archived=True, documents=documents, notes=notes
    )


@contextmanager
def failing_alone(source: str, scope: str) -> Iterator[None]:
    """Turn what a source's own code should not raise into a SourceError, so that one fault costs one scope.

    Faults of the program itself (no memory, an interruption) pass, and so does a wrong setting, which ends a command.
    """
    try:
        yield
    except (SourceError, SettingsError, MemoryError):
        raise
    except Exception as error:
        logging.getLogger(__name__).exception("%s %s: a fault of our own code", source, scope)
        message = f"the source's own code failed: {type(error).__name__}"
        hint = "The other scopes go on; please report it with the log"
        raise SourceError(message, source=source, field="scope", value=scope, hint=hint) from error


def past_fetches(
    source: Source, ctx: Context, scope: str, since: datetime | None, until: datetime | None
) -> Iterator[ScopeFetch]:
    """Yield the fetches of one scope of a source's archive, failing alone. Raises SourceError, also where it has none.

    What the caller does with a fetch is outside: a fault of its own, such as a full disk, is not the source's.
    """
    if source.backfill is None:
        raise SourceError("this source has no archive", source=source.name)
    with failing_alone(source.name, scope):
        yield from source.backfill(ctx, scope, since, until)
