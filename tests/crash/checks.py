"""What must hold of a folder after each kill, and whether the next try made of it what an undisturbed one makes."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import duckdb
from published import Content

from warehouse.errors import ChipledgerError
from warehouse.landing import packs
from warehouse.landing.folder import Landing
from warehouse.log import content
from warehouse.publish import published_file

Outcome = Mapping[str, object]

UNIQUE = {
    "core.offer": "offer_id",
    "core.document": "document_sha256, url",
    "core.price_event": "offer_id, source, scope, valid_from, recorded_at, retracts_recorded_at",
    "core.sighting": "offer_id, source, observed_at, document_sha256",
    "core.quarantine": "quarantine_id, decision",
}
"""What no two rows of a table share: a row that was written twice shows here."""

INTERVALS = {
    "intervals overlap": "select offer_id from (select *, lead(valid_from) over (partition by offer_id, source "
    "order by valid_from) as next_from from {prices}) where next_from is not null "
    "and (valid_to is null or valid_to > next_from)",
    "open twice": "select offer_id from {prices} where valid_to is null group by offer_id, source having count(*) > 1",
    "ends before it begins": "select offer_id from {prices} where valid_to <= valid_from",
    "no document": "select document_sha256 from core.price_event where document_sha256 is null "
    "or document_sha256 not in (select document_sha256 from core.document)",
}
"""What must give no row of a log; `{prices}` are its intervals."""


@contextmanager
def opened(file: Path, scratch: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a copy of a file with what lies beside it, so that the looking changes nothing for the next try."""
    folder = scratch / "looked-at"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (file, file.with_name(f"{file.name}.wal")):
        if path.exists():
            shutil.copyfile(path, folder / path.name)
    with duckdb.connect(str(folder / file.name)) as con:
        con.execute("set timezone = 'UTC'")
        yield con


def published(file: Path) -> dict[str, content.TableHash]:
    """Return the hashes of a published file, as a reader sees it, after every check of publishing."""
    if file.with_name(f"{file.name}.wal").exists():
        return _published(file)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest not in _SEEN:
        _SEEN[digest] = _published(file)
    return _SEEN[digest]


_SEEN: dict[str, dict[str, content.TableHash]] = {}
"""What published files hold, by the hash of their bytes: many tries end in the same ones."""


def _published(file: Path) -> dict[str, content.TableHash]:
    with duckdb.connect(str(file), read_only=True) as con:
        con.execute("set timezone = 'UTC'")
        for name, query in published_file.CHECKS:
            assert con.execute(query).fetchall() == [], name
        _intervals(con, "core.sku_price")
        return content.tables(con)


def rows(file: Path) -> Content:
    """Return the rows of a published file as texts."""
    from published import content as all_rows

    return all_rows(file)


def log(file: Path, landing: Path, scratch: Path) -> dict[str, content.TableHash]:
    """Return the hashes of the log's tables, after checking that each event has its document, whole, in landing."""
    key = _bytes_of(file)
    if key not in _LOGS:
        _LOGS[key] = _log(file, scratch)
    tables, documents = _LOGS[key]
    found = Landing(landing)
    for sha256 in documents:
        assert hashlib.sha256(stored(found, sha256)).hexdigest() == sha256
    return tables


_LOGS: dict[str, tuple[dict[str, content.TableHash], list[str]]] = {}
"""What logs hold, and the documents of their events, by the hash of their bytes."""


def _bytes_of(file: Path) -> str:
    wal = file.with_name(f"{file.name}.wal")
    return hashlib.sha256(file.read_bytes() + b"+" + (wal.read_bytes() if wal.exists() else b"")).hexdigest()


def _log(file: Path, scratch: Path) -> tuple[dict[str, content.TableHash], list[str]]:
    with opened(file, scratch) as con:
        tables = {
            f"core.{name}"
            for (name,) in con.execute(
                "select distinct table_name from duckdb_columns() where schema_name = 'core'"
            ).fetchall()
        }
        if not tables:
            return {}, []  # killed before the first migration
        for table, key in UNIQUE.items():
            if table in tables:
                twice = con.execute(f"select {key} from {table} group by all having count(*) > 1").fetchall()
                assert twice == [], (table, twice)
        if con.execute("select 1 from duckdb_functions() where function_name = 'price_known_at'").fetchone():
            _intervals(con, "core.price_known_at(TIMESTAMP '9999-01-01')")
        documents = con.execute("select distinct document_sha256 from core.price_event").fetchall()
        return content.tables(con, ("core",)), [sha256 for (sha256,) in documents]


def _intervals(con: duckdb.DuckDBPyConnection, prices: str) -> None:
    for name, query in INTERVALS.items():
        assert con.execute(query.format(prices=prices)).fetchall() == [], name


def stored(landing: Landing, sha256: str) -> bytes:
    """Return a document from its own file, or from a pack that was not unpacked yet."""
    try:
        return landing.body(sha256)
    except ChipledgerError:
        for place in Path(landing.place).glob(f"packs/*/*{packs.PACK}"):
            if sha256 in (found := packs.read(place)):
                return found[sha256]
        raise


def bodies(landing: Path) -> dict[str, str]:
    """Return the documents that the journal names, by hash, each read and checked; "" for one that cannot be read."""
    found, told = Landing(landing), {}
    for entry in found.entries():
        for document in entry.content.get("documents", ()):
            sha256 = document["sha256"]
            told[sha256] = hashlib.sha256(stored(found, sha256)).hexdigest()
    return told


def lines(landing: Path) -> list[str]:
    """Return the whole lines of a journal."""
    journal = landing / "journal.jsonl"
    text = journal.read_bytes() if journal.exists() else b""
    return [line.decode() for line in text.split(b"\n")[:-1]]


def outcome(root: Path, scratch: Path) -> dict[str, object]:
    """Return all that a job may have made: published content, log, documents, journal, settings, kept histories."""
    data = root / "data"
    told: dict[str, object] = {}
    if (data / "prices.duckdb").exists():
        told |= {f"published {name}": table for name, table in published(data / "prices.duckdb").items()}
    if (data / "build.duckdb").exists():
        told |= {f"log {name}": table for name, table in log(data / "build.duckdb", data / "landing", scratch).items()}
        told.pop("log core.journal_position", None)  # in how many steps it was read is of no moment
    told["documents"] = sorted(bodies(data / "landing").items())
    told["journal"] = sorted({json.dumps(json.loads(line), sort_keys=True) for line in lines(data / "landing")})
    told["settings"] = _text(root / "chipledger.toml")
    told["mail"] = _text(data / "mail.jsonl")
    told["pages"] = sorted(path.name for path in (data / "reports").rglob("*") if path.is_file())
    told["leftovers"] = leftovers(root)
    told["backups"] = sorted(path.name for path in (root / "backups").glob("*") if path.name[:4] != "next")
    return told


def leftovers(root: Path) -> list[str]:
    """Return what a killed process left and nobody needs: parts, scratch folders, a .wal beside the published file."""
    found = [path for path in root.rglob("*") if ".part" in path.name or path.name.startswith((".log-", ".re"))]
    found += root.rglob("prices.duckdb.wal")
    return sorted(path.relative_to(root).as_posix() for path in found)


def _text(path: Path) -> str | None:
    return path.read_text() if path.exists() else None


def files_of(folder: Path) -> dict[str, str]:
    """Return hash by path of the files below a folder that hold history: no file that is made anew."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and ".part" not in path.name
    }


def differing_rows(one: Content, other: Content) -> tuple[int, int]:
    """Return how many rows of `one` the other lacks, and how many rows it has that `one` has not."""
    lacking = extra = 0
    for name in {*one, *other}:
        left, right = Counter(one.get(name, [])), Counter(other.get(name, []))
        lacking += (left - right).total()
        extra += (right - left).total()
    return lacking, extra
