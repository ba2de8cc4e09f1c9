"""Publish a log: the file of prices with all marts, the private file, and the pages."""

import hashlib
import json
import logging
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb

from extract import SOURCES
from extract.base import Source
from flows.collect import offline, truth
from flows.collect.summary import Summary
from flows.config.settings import Settings
from flows.shared import Clock, query
from reports.files import put
from reports.queries import fit_threads
from transform.audit import tables as audit_tables
from transform.formula import statements
from transform.models import ALIASES, MACROS, MARTS, PUBLIC
from warehouse.errors import ChipledgerError
from warehouse.lake import ducklake, maintenance
from warehouse.log import db
from warehouse.log.events import naive
from warehouse.publish import published_file
from warehouse.publish.frame import FOLDER, SourceRow
from warehouse.publish.published_file import FILE_NAME, publish

LOG = logging.getLogger(__name__)
PACKAGES = ("extract", "flows", "reports", "transform", "warehouse")
OF_PAGES = ("cost", "decision", "mail", "reporting_currency", "site")
"""The settings that pages and mail are made by."""
POSITIONS = "select part, max(position), max(recorded_at) from core.journal_position group by part order by part"


@dataclass
class Publisher:
    """Publishes the log of one run, and writes into the run's summary what was made and what failed.

    What would be made of the same log, by the same version and settings, as of the same day, is not made again: a file
    in the cache of the data directory says what was made of what. Not of a shared warehouse, where others publish, and
    not where there are private files.
    """

    settings: Settings
    con: duckdb.DuckDBPyConnection
    clock: Clock
    summary: Summary

    def publish(self, *, new_history: bool = False) -> Path:
        """Build, verify and replace the published file, then build the private one; return the path of the first.

        Raises ChipledgerError where the file that stands is of another history or has more events, unless `new_history`
        says that this is meant.
        """
        file, made_of = self.settings.data_dir / FILE_NAME, self._made_of()
        self.summary.known_truth = truth.known(file)
        if not self._is_private and self._made().get("file") == [made_of, _state(file)] != [made_of, None]:
            self.summary.file, self.summary.unchanged = file, ["the published file"]
            return file
        if ducklake.of(self.con) is None:
            fit_threads(self.con)
        with turn(self.con, self.clock) as now:
            self.summary.file = publish_log(
                self.con, self.settings.data_dir, now, settings=self.settings, new_history=new_history
            )
        self._note(file=[made_of, _state(file)])
        self._build_private()
        return self.summary.file

    def report(self) -> Path:
        """Write the week and the pages of the published file; return the front page's path."""
        folder, made = self.settings.data_dir / "reports", self._made()
        made_of = [made.get("file"), _hash(self.settings.model_dump(mode="json", include={*OF_PAGES}))]
        pages = made.get("pages", [])
        if self.summary.unchanged and pages[:1] == [made_of] and all((folder / name).is_file() for name in pages[1]):
            self.summary.unchanged.append("the pages")
            self.summary.report = folder / "index.html"
            return self.summary.report
        self._note(pages=[])
        page = report(self.settings, self.summary, clock=self.clock)
        if page.is_file() and not self.summary.faulty:
            names = sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())
            self._note(pages=[made_of, names])
        return page

    @property
    def _is_private(self) -> bool:
        private = self.settings.private
        return bool(private.prices or private.fleet) or (self.settings.data_dir / "private.duckdb").exists()

    def _made_of(self) -> str:
        """Return a hash of what the published file is made of: log, code, settings, and the day ages are judged by."""
        now = self.clock()
        as_of = offline.as_of(self.con, now) or now.date()
        return _hash(
            [
                self.con.execute(POSITIONS).fetchall(),
                version("chipledger"),
                _code(),
                as_of,
                self.settings.ranking.model_dump(),
                [self.settings.is_on(source) for source in SOURCES],
            ]
        )

    def _made(self) -> dict[str, list[Any]]:
        """Return what was made of what; nothing where that is not known."""
        with suppress(OSError, ValueError, AttributeError):
            if ducklake.of(self.con) is None:
                noted = json.loads(self._notes.read_text()).items()
                return {name: value for name, value in noted if isinstance(value, list)}
        return {}

    def _note(self, **made: object) -> None:
        """Write down what was made of what; without it the next run makes it again, and nothing else."""
        with suppress(OSError):
            self._notes.parent.mkdir(exist_ok=True)
            put(self._notes, json.dumps(self._made() | made), mode=0o600)

    @property
    def _notes(self) -> Path:
        return self.settings.data_dir / FOLDER / "published.json"

    def _build_private(self) -> None:
        """Build the private file, if the settings name one; of its error the summary, which is sent, has no value."""
        if not self._is_private:
            return
        from flows.private import private_file

        try:
            self.summary.private_file = private_file.build(self.settings, self.clock())
        except ChipledgerError as error:
            field = f" (field {error.field})" if error.field else ""
            self.summary.private_fault = f"{error.source or 'settings'}: {error.message}{field}"
        except (duckdb.Error, OSError) as error:
            self.summary.private_fault = type(error).__name__
        if self.summary.private_fault:
            LOG.warning("private file not built: %s", self.summary.private_fault)


def _state(file: Path) -> list[int] | None:
    """Return size and time of a file, which another file in its place has not; None without one."""
    with suppress(FileNotFoundError):
        return [file.stat().st_size, file.stat().st_mtime_ns]
    return None


def _hash(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()


@cache
def _code() -> str:
    """Return what differs between two states of the package's files, as its version does not while it is changed."""
    root = Path(__file__).parents[2]
    files = (path for package in PACKAGES for path in (root / package).rglob("*.*"))
    own = (path for path in files if path.parent.name != "__pycache__")  # what Python and we keep of it
    return _hash(sorted((str(path.relative_to(root)), _state(path)) for path in own))


@contextmanager
def turn(con: duckdb.DuckDBPyConnection, clock: Clock) -> Iterator[datetime]:
    """Wait for the turn to publish; yield the moment after it, which the fetches that others loaded are before."""
    shared = ducklake.of(con)
    with nullcontext() if shared is None else shared.lock("publish"):
        yield clock()


LEFT_OUT = ("delete from ref.price_band", "delete from ref.claim")
"""What a release must not have: bands, which rest on prices of all collectors, and claims, which are of others."""


def publish_log(
    con: duckdb.DuckDBPyConnection,
    folder: Path,
    built_at: datetime,
    *,
    settings: Settings,
    from_nothing: bool = False,
    new_history: bool = False,
    released: Collection[str] | None = None,
    snapshot_id: int | None = None,
) -> Path:
    """Build, verify and replace the published file of a log, with all marts; return its path.

    `settings` have the highest age of a ranked price, and which sources are on. A log of the archive alone is published
    as of the archive's day. What did not change since the last published file stays as it is there, unless all is to be
    made `from_nothing`. `released`: the log is cut to these sources; no others are named, no claims audited, and
    `built_at` stays.
    """
    as_of = offline.as_of(con, built_at)
    sources = [each for each in SOURCES if released is None or each.name in released]
    max_age = offline.MAX_AGE if as_of else None
    # Of a release, as of a shared warehouse, to which other machines add, one deployment's choice says nothing.
    is_own = released is None and not settings.place().is_shared
    off = {each.name for each in sources if is_own and each.kind == "live" and not settings.is_on(each)}
    off -= {name for (name,) in con.execute(TRIED, [naive(built_at) - timedelta(days=1)]).fetchall()}
    return publish(
        con,
        folder,
        marts=MARTS,
        formulas=statements() if released is None else [*statements(), *LEFT_OUT],
        public=PUBLIC,
        aliases=ALIASES,
        macros=MACROS,
        computed=audit_tables.TABLES if released is None else (),
        # A generator: read only when the log is copied, from that copy.
        sources=(row for log in (con,) for row in source_rows(log, sources, archive_max_age=max_age, off=off)),
        built_at=built_at if released is not None else as_of or built_at,
        version=version("chipledger"),
        ranked_days=settings.ranking.max_age_days,
        marketplace_days=settings.ranking.marketplace_max_age_days,
        code=_code(),
        from_nothing=from_nothing,
        # The archive can be replayed at any time, and its scopes land in the order in which threads end.
        new_history=new_history or as_of is not None,
        snapshot_id=snapshot_id,
    )


def publish_anew(con: duckdb.DuckDBPyConnection, built_at: datetime, *, settings: Settings) -> str:
    """Publish a log, then make the same file from nothing and put it in place; return what was done.

    Raises ChipledgerError where the two differ, which they never should; the file from nothing stays in place.
    """
    snapshot_id = ducklake.snapshot(con) if ducklake.of(con) else None  # the same for both: others load meanwhile
    again = partial(publish_log, con, settings.data_dir, built_at, settings=settings, snapshot_id=snapshot_id)
    file = again()
    amended = file.with_name(f"{file.name}.amended")
    amended.unlink(missing_ok=True)
    os.link(file, amended)  # a file that is replaced lives on by its other name
    try:
        again(from_nothing=True)
        differing = published_file.differing(amended, file)
    finally:
        amended.unlink()
    if differing:
        raise ChipledgerError(
            "the published file differed from one made from nothing, which has replaced it",
            source=file.name,
            field="table",
            value=", ".join(differing),
            hint="Please report it, with what was loaded since `chipledger data maintain` ran last",
        )
    return "the published file was made from nothing, and is equal to the one before"


def maintain(settings: Settings, *, days: int, clock: Clock) -> list[str]:
    """Make the published file from nothing, and a shared warehouse small; return what was done, for people.

    What of a shared warehouse is older than so many days expires. Raises ChipledgerError.
    """
    place, is_published = settings.place(), (settings.data_dir / FILE_NAME).exists()
    if not (place.is_shared or is_published):
        return ["nothing is published yet"]
    with db.open_log(place, wait_seconds=settings.wait_seconds) as con:
        done = maintenance.maintain(con, days=days, now=clock()) if place.is_shared else []
        if is_published:
            with turn(con, clock) as now:
                done.append(publish_anew(con, now, settings=settings))
    return done


TRIED = "select distinct source from core.scope_run where observed_at >= ?"
"""Sources that were fetched since a moment, as one that is off may be by its name."""
IMPORT_PRECEDENCE = 900
"""Behind every registered source."""


def source_rows(
    con: duckdb.DuckDBPyConnection,
    sources: Iterable[Source],
    *,
    archive_max_age: timedelta | None = None,
    off: Collection[str] = (),
) -> list[SourceRow]:
    """Return the rows of core.source: the registered sources, and one for each origin that was imported.

    The precedence of a source is its place among `sources`, from 1; imports come last.
    `archive_max_age`: how long prices of the archive count as current; None: never. `off`: those turned off.
    """
    rows: list[SourceRow] = [
        (
            source.name,
            source.provider,
            source.title,
            "off" if source.name in off else source.kind,
            precedence,
            int(max_age.total_seconds() // 3600) if max_age else None,
            source.url,
        )
        for precedence, source in enumerate(sources, start=1)
        for max_age in [archive_max_age if source.name in offline.ARCHIVES else source.max_age]
    ]
    imported = con.execute(
        "select distinct source from core.scope_run where source like 'import:%' order by source"
    ).fetchall()
    titles = {name: f"Imported observations of {name.removeprefix('import:')}" for (name,) in imported}
    rows += [(name, "several", title, "import", IMPORT_PRECEDENCE, None, "") for name, title in titles.items()]
    return rows


OF_ALL = "Charts, changes and gaps are of all regions."


def write_pages(settings: Settings, file: Path, *, draw: bool | None = None) -> tuple[Path, list[str]]:
    """Write all pages of a published file; return the path of the overview, and what the pages note of regions.

    `draw` says whether charts are drawn; None: where a price is current, which none of the archive is. Noted are
    regions of decisions that no price is of. Raises ChipledgerError.
    """
    from reports.pages import site

    chosen, regions = settings.site, settings.decision.regions
    write_site = partial(
        site.write,
        file,
        settings.data_dir / "reports",
        local=chosen.claims,
        draw=draw if chosen.charts else False,
        shown_in=settings.reporting_currency,
        chips=chosen.chips,
    )
    # Held open, the file is opened once.
    with duckdb.connect(str(file), read_only=True) as con:
        query.refuse_older(con, file)
        if not regions:
            return write_site(), []
        from flows.decisions import regions as allowed

        with allowed.cut(file, regions) as (standing, refusals):
            unpriced = [str(each) for each in refusals]
            notes = [*allowed.lines(allowed.as_dict(standing, regions)), *unpriced, OF_ALL]
            return write_site(standing=standing, regions=" ".join(notes)), unpriced


def report(settings: Settings, summary: Summary, *, clock: Clock) -> Path:
    """Write the week, which the pages list, and all pages of a summary's file; return the front page's path.

    The summary learns what failed. Raises ValueError where nothing was published.
    """
    from flows.mail import weekly_steps
    from reports.pages import guard

    if summary.file is None:
        raise ValueError("nothing was published")
    summary.week_faults = weekly_steps.after_run(settings, summary.file, clock=clock)
    with guard.noted() as faults:
        summary.report, unpriced = write_pages(settings, summary.file)
    summary.notes += unpriced
    summary.page_faults, summary.chips = tuple(faults), settings.site.chips
    return summary.report
