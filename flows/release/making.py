"""`chipledger release`: one folder a day that anybody may keep, cite and build on, and the site around it.

The log of the published file is cut to what may be published again, and published anew: no figure of a release rests on
a row that is not in it. Documents lie in it under their hash; of one with many providers the lines that may be
published, with the hash of the whole. A day appears whole or not at all, and never changes.
"""

import csv
import hashlib
import io
import os
import tempfile
from collections.abc import Mapping, Sequence
from datetime import UTC
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any

import duckdb

from extract import observations, price_archive
from extract.base import IMPORT, IMPORTED
from flows.collect import publisher
from flows.config.settings import Settings
from flows.config.types import WEB
from flows.export.exporting import MARTS
from flows.mail import weekly_steps
from flows.release import reproducing
from flows.shared import folders, tabular
from reports.files import put
from reports.pages import feed, guard
from reports.pages.frame import frame
from reports.pages.site import RELEASES
from reports.queries import opened
from reports.templating import render
from warehouse.errors import ChipledgerError, SettingsError
from warehouse.landing.folder import Landing
from warehouse.log import db
from warehouse.log.db import quote
from warehouse.publish.published_file import FILE_NAME
from warehouse.schema.tables import FACT_TABLES, MOVED

HERE = files("flows.release")
LATEST = "latest"
DAYS = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
TEXTS = ("CHANGELOG.md", "CITATION.cff", "LICENCE.md", "README.md", "datapackage.json")
OF_HISTORY = ("valid_from", "observed_at", "index_date")
"""Columns by whose month a table that has one is divided into files."""
ROW_GROUP = 20_480
"""Rows of a group of Parquet: a reader of one chip over the network fetches few of them."""
OF_SOURCES = "source in (select source from licence)"
OF_NUMBERS = (
    "fetch_no in (from kept_fetch) and offer_no in (select offer_no from published.core.offer where "
    "unit_price_type = 'List' and contract_id is null and service_provider_name not in (from forbidden))"
)
KEPT = {
    "log.scope_fetch": "fetch_no in (from kept_fetch)",
    "log.document": "document_no in (select document_no from log.scope_fetch)",
    **dict.fromkeys(("log.price_closed", "log.price_open", "log.price_other", "log.sighting"), OF_NUMBERS),
    "core.offer": "offer_no in (select offer_no from log.price_open union select offer_no from log.price_other)",
    "core.quarantine": f"{OF_SOURCES} and offer_id in (select offer_id from core.offer)",
    "core.withdrawal": OF_SOURCES,
    **{table.qualified: OF_SOURCES for table in FACT_TABLES if table.name != "throughput"},
}
"""The tables of a release's log, in their order, and which rows of the published file's they have: of measured
throughput none, as what users measured is theirs and the catalogue comes with the package."""
WHO = "update core.quarantine set decided_by = null; update core.withdrawal set withdrawn_by = null"
Row = Mapping[str, Any]


def release(
    settings: Settings, root: Path, *, also: Sequence[str] = (), url: str = "", doi: str = ""
) -> dict[str, Any]:
    """Write the day of the published file into `root`, let `latest` lead to it, and write the site around it.

    `also` are sources that the publisher takes in. Raises ChipledgerError where the day is there already.
    """
    if url and not url.startswith(WEB):
        raise SettingsError("not a web address", field="--url", value=url, hint="Write https://...")
    settings, published = settings.shown(), settings.published()
    with duckdb.connect(str(published), read_only=True) as con:
        ((built_at, version),) = con.execute("select built_at, version from meta.build").fetchall()
    day = f"{built_at:%Y-%m-%d}"
    if (root / day).exists():
        hint = "A released day never changes; release the file of another day, or name another folder"
        raise ChipledgerError("this day is released already", source=str(root), field="day", value=day, hint=hint)
    about = {"built_at": built_at, "version": version, "day": day, "url": url.rstrip("/"), "doi": doi}
    about["licences"] = licences(also)
    with folders.as_user():
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{day}.", dir=root) as name:
            part, link = Path(name) / day, Path(name) / LATEST
            part.mkdir()
            left_out = _cut(settings, published, part, about)
            _write_files(part, max((each for each in root.glob(DAYS) if each.name < day), default=None), about)
            os.sync()
            part.rename(root / day)
            link.symlink_to(max(each.name for each in root.glob(DAYS)))
            link.replace(root / LATEST)
        return {"folder": str(root / day), "left_out": left_out, "page_faults": _write_site(settings, root, about)}


def licences(also: Sequence[str] = ()) -> list[dict[str, str | None]]:
    """Return the licences of sources (of single scopes where one is named); the first row is that of the whole."""
    rows = csv.DictReader(io.StringIO((HERE / "licences.csv").read_text(encoding="utf-8")))
    found = [{name: value or None for name, value in row.items()} for row in rows]
    own = {"licence": "LicenseRef-publisher", "attribution": "as the publisher decided"}
    return [*found, *(dict.fromkeys(found[0]) | own | {"source": name} for name in also)]


def _cut(settings: Settings, published: Path, part: Path, about: Row) -> dict[str, int]:
    """Publish the log, cut to what may be published again, and store its documents.

    Returns how many last known prices are left out, by source.
    """
    work, known = part.parent, [row for row in about["licences"] if row["source"]]
    names = {row["source"] for row in known}
    if (cache := settings.data_dir / "cache").is_dir():
        (work / "cache").symlink_to(cache.resolve())
    with db.open_build(work / db.FILE_NAME) as con:
        con.execute(f"attach {quote(str(published))} as published (read_only)")
        con.execute("create table licence (source VARCHAR, scope VARCHAR, licence VARCHAR)")
        db.insert_rows(con, "licence", [(row["source"], row["scope"], row["licence"]) for row in known])
        con.execute((HERE / "kept.sql").read_text())
        for table, condition in KEPT.items():
            con.execute(f"insert into {table} by name from published.{MOVED.get(table, table)} where {condition}")
        con.execute(WHO)
        prices = f"select source, count(*) from published.log.price_open where not ({OF_NUMBERS}) group by all"
        left_out = dict(con.execute(f"{prices} order by all").fetchall())
        _store(con, settings.landing(), Landing(part / "documents"), names)
        built_at = about["built_at"].replace(tzinfo=UTC)
        con.execute("detach published")
        made = publisher.publish_log(con, work, built_at, settings=settings, released=names)
        made.chmod(0o644)
        con.execute(f"attach {quote(str(made))} as made; use made")
        con.execute(f"create table meta.row_licence as {(HERE / 'row_licence.sql').read_text()}")
        con.execute("insert into meta.row_licence values (null, 'CC-BY-4.0', 'derived'); use build")
    made.chmod(0o444)
    made.rename(part / FILE_NAME)
    return left_out


def _store(con: duckdb.DuckDBPyConnection, landing: Landing, documents: Landing, names: set[str]) -> None:
    """Store the documents of prices and rates; one of many providers is cut, and the log then names what was kept."""
    forbidden = {name for (name,) in con.execute("from forbidden").fetchall()}
    for sha256, source, scope in con.execute(
        "select document_sha256, source, scope from log.document where document_sha256 in (select document_sha256 "
        "from core.price_event union all select document_sha256 from core.fx_rate)"
    ).fetchall():
        body = landing.body(sha256)
        if source in (IMPORT, price_archive.NAME):
            cut = _excerpt(body, source, scope, names, forbidden)
            sizes = "whole_sha256 = document_sha256, whole_size_bytes = size_bytes, size_bytes = octet_length(?::BLOB)"
            con.execute(f"update log.document set {sizes} where document_sha256 = ?", [cut, sha256])
            kept = hashlib.sha256(cut).hexdigest()
            for table in ("log.document", "core.quarantine", "core.withdrawal"):
                con.execute(f"update {table} set document_sha256 = ? where document_sha256 = ?", [kept, sha256])
            sha256, body = kept, cut
        documents.store_body(sha256, body)


def _excerpt(body: bytes, source: str, scope: str, names: set[str], forbidden: set[str]) -> bytes:
    """Return the lines of a CSV of observations, or of the archive, that may be published again, cells as they are."""
    is_import = source == IMPORT
    lines, text = csv.DictReader(io.StringIO(body.decode("utf-8-sig"), newline="")), io.StringIO(newline="")
    kept = csv.DictWriter(text, lines.fieldnames or (), lineterminator="\n", extrasaction="ignore")
    kept.writeheader()
    for line in lines:
        origin = (line.get("source") or "").strip().split("@")[0] or PurePath(scope).stem
        provider = (line.get("provider" if is_import else "service_provider_name") or "").strip()
        is_named = not is_import or f"{IMPORTED}{origin}" in names
        if is_named and observations.provider_named(provider) not in forbidden:
            kept.writerow(line)
    return text.getvalue().encode()


def _write_files(part: Path, before: Path | None, about: Row) -> None:
    """Write tables and texts beside the file of a day, and last the checksums of all."""
    with duckdb.connect(str(part / FILE_NAME), read_only=True) as con:
        con.execute("set timezone = 'UTC'; set threads = 1")
        public = [name for name, _, is_public in con.execute(MARTS).fetchall() if is_public]
        tables = {name: _write_table(con, part, name) for name in public if name != "data_dictionary"}
        tabular.save_csv(con, "from mart.data_dictionary order by all", part / "schema.csv")
        tabular.save_csv(con, "from price_now_row", part / "price_now.csv")
        changes: list[dict[str, Any]] = []
        if before:
            con.execute(f"attach {quote(str(before / FILE_NAME))} as before (read_only)")
            con.execute(f"create temp table change as {(HERE / 'changes.sql').read_text()}")
            tabular.save_csv(con, "from change", part / "changes.csv")
            changes = con.execute("from change").to_arrow_table().to_pylist()
    with opened(part / FILE_NAME) as published:
        feed.write(published, part)
    (part / "feed.atom").unlink()  # its links are those of the site
    paths = sorted(path.relative_to(part).as_posix() for path in part.rglob("*.*"))
    values = {**about, "before": before and before.name, "changes": changes, "tables": tables, "paths": paths}
    for name in TEXTS:
        put(part / name, render(f"release_{name.lower().replace('.', '_')}.j2", **values))
    listed = (f"{sha256}  {name}\n" for name, sha256 in reproducing.checksums(part).items())
    put(part / reproducing.CHECKSUMS, "".join(listed))


def _write_table(con: duckdb.DuckDBPyConnection, part: Path, name: str) -> Any:
    """Write a public table as Parquet, times marked as UTC, with evidence and licence in each row; return its columns.

    Raises ChipledgerError where a row has no licence.
    """
    columns = dict(con.execute(f"select column_name, column_type from (describe mart.{name})").fetchall())
    shown = [f"m.{each}{'::TIMESTAMPTZ' * (kind == 'TIMESTAMP')} as {each}" for each, kind in columns.items()]
    shown += ["l.licence"] if "evidence_kind" in columns else ["l.evidence_kind", "l.licence"]
    months = [f"strftime(m.{each}, '%Y-%m') as month" for each in OF_HISTORY if each in columns]
    on = "m.offer_id is not distinct from l.offer_id" if "offer_id" in columns else "l.offer_id is null"
    found = f"select {', '.join(shown + months)} from mart.{name} as m left join meta.row_licence as l on {on}"
    con.execute(f"create temp table {name}_row as {found} order by all")
    if con.execute(f"select 1 from {name}_row where licence is null limit 1").fetchone():
        raise ChipledgerError("a row without a licence", source=name, field="licence", hint="Please report it")
    target = quote(str(part / (name if months else f"{name}.parquet")))
    by = ", partition_by (month), filename_pattern 'part'" if months else ""
    con.execute(f"copy {name}_row to {target} (format parquet, compression zstd, row_group_size {ROW_GROUP}{by})")
    described = (
        "select c.column_name as name, c.data_type as type, d.meaning, d.unit from duckdb_columns() as c left join "
        "mart.data_dictionary as d on d.table_schema || '.' || d.table_name = ? and c.column_name = d.column_name "
        "where c.table_name = ? order by c.column_index"
    )
    return con.execute(described, [f"mart.{name}", f"{name}_row"]).to_arrow_table().to_pylist()


def _write_site(settings: Settings, root: Path, about: Row) -> list[str]:
    """Write pages, feed, sitemap and the page of releases around the days; return what of a page failed."""
    days = sorted((each.name for each in root.glob(DAYS)), reverse=True)
    values = {"build": (about["built_at"], about["version"]), "url": about["url"], "doi": about["doi"], "days": days}
    put(root / RELEASES, frame("release.html.j2", place=RELEASES, **values))
    with tempfile.TemporaryDirectory() as name, guard.noted() as faults:
        work = Path(name)
        (work / "reports").symlink_to(root.resolve())
        (work / FILE_NAME).symlink_to((root / LATEST / FILE_NAME).resolve())
        site = settings.site.model_copy(update={"claims": False})
        chosen = settings.replace(data_dir=work, warehouse={}, private={}, site=site)
        weekly_steps.report(chosen, None)
        publisher.write_pages(chosen, work / FILE_NAME)
    if about["url"]:
        pages = sorted(page.relative_to(root).as_posix() for page in root.rglob("*.html"))
        put(root / "sitemap.xml", render("sitemap.xml.j2", pages=pages, **about))
    return list(faults)
