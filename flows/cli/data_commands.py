"""The commands `data ...`: backup, rebuild, documents, and a warehouse that several machines share."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from flows.config import Reader
from flows.shared import output


@click.group(epilog="Example: chipledger data backup /backups/2026-11-22.tar.zst")
def data() -> None:
    """Back up, restore, rebuild or move the history."""


@data.command(epilog="Example: chipledger data backup /backups/2026-11-22.tar.zst")
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--with-settings",
    "settings_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Put this settings file into it, too.",
)
@output.JSON
@click.pass_obj
def backup(read: Reader, *, target: Path, settings_file: Path | None, in_json: bool) -> None:
    """Back up what cannot be fetched again.

    TARGET is a new folder, or a file ending in .tar.zst or .tar.gz. It holds the log, the landing folder and the
    records of what was sent, and is read back before it gets its name.
    """
    with output.errors(in_json=in_json):
        from flows.backup import snapshot as backups

        chosen = read()
        chosen.require_own_files(
            "backup",
            hint="Back up catalogue and bucket (docs/warehouse-shared.md), or `chipledger data migrate` into a file",
        )
        made = backups.back_up(chosen, target, settings_file=settings_file)
    result = {"path": made.path, "bytes": made.n_bytes, "made_at": made.manifest.made_at}
    result |= {
        "files": len(made.manifest.items),
        "log": {name: asdict(each) for name, each in made.manifest.log.items()},
    }
    output.echo(output.as_json(result) if in_json else "\n".join(made.lines()))


@data.command(epilog="Example: chipledger data restore /backups/2026-11-22.tar.zst --check")
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option("--force", is_flag=True, help="Set aside what is in the data directory, in its folder `replaced`.")
@click.option("--check", is_flag=True, help="Only read the backup and check every hash; change nothing.")
@output.JSON
@click.pass_obj
def restore(read: Reader, *, source: Path, force: bool, check: bool, in_json: bool) -> None:
    """Restore a backup into an empty data directory.

    Every hash is checked before anything is moved; then the history is published.
    """
    with output.errors(in_json=in_json):
        import tempfile

        from flows.backup import snapshot as backups

        if check:
            with tempfile.TemporaryDirectory() as folder:
                manifest = backups.check(source, Path(folder) / "check")
            result: dict[str, object] = {"made_at": manifest.made_at, "files": len(manifest.items), "is_good": True}
            lines = [f"{len(manifest.items)} files of {manifest.made_at}: every hash and the log are right"]
        else:
            chosen = read()
            chosen.require_own_files(
                "restore", hint="Restore into an empty data directory, then `chipledger data migrate` it"
            )
            done = backups.restore(chosen, source, force=force)
            result = {"made_at": done.manifest.made_at, "files": len(done.manifest.items)}
            result |= {"set_aside": done.set_aside, "file": done.summary.file, "report": done.summary.report}
            lines = list(done.lines())
    output.echo(output.as_json(result) if in_json else "\n".join(lines))


@data.command(epilog="Example: chipledger data rebuild")
@click.option("--accept", is_flag=True, help="Use the new log even where it differs; the old one is set aside.")
@output.JSON
@click.pass_obj
def rebuild(read: Reader, *, accept: bool, in_json: bool) -> None:
    """Build the log again from the landing folder.

    Compares it with the log in use, and replaces that where they are equal. Prints a hash of each table of core and
    mart. Exit code 1 where they differ: then the log in use stays.
    """
    with output.errors(in_json=in_json):
        from flows.backup import replicas
        from warehouse.log import content

        chosen = read()
        chosen.require_own_files(
            "rebuild", hint="`chipledger build` over an empty schema makes the log anew from what was landed"
        )
        with output.progress(quiet=in_json) as progress:
            done = replicas.rebuild(chosen, accept=accept, progress=progress)
    result = {
        "looks": done.n_fetches,
        "is_in_use": done.is_in_use,
        "differing": done.differing,
        "set_aside": done.set_aside,
        "before_sha256": content.whole(done.before) if done.before else None,
        "after_sha256": content.whole(done.after),
        "unreadable": done.unreadable,
        "notes": done.notes,
        "tables": {name: asdict(table) for name, table in done.after.items()},
    }
    output.echo(output.as_json(result) if in_json else "\n".join(done.lines()))
    if not done.is_in_use:
        sys.exit(output.FAILED)


@data.command(epilog="Example: chipledger data document SHA256 > answer.html")
@click.argument("sha256")
@click.pass_obj
def document(read: Reader, *, sha256: str) -> None:
    """Print a landed document by its SHA-256. Byte for byte. The column document_sha256 of each price has the hash."""
    with output.errors(in_json=False):
        import re

        from warehouse.errors import ChipledgerError

        if not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise ChipledgerError(
                "not a SHA-256", field="sha256", value=sha256, hint="Allowed: 64 digits of 0-9 and a-f"
            )
        body = read().landing().body(sha256)
    sys.stdout.buffer.write(body)


@data.command(epilog="Example: chipledger data migrate --to ducklake:sqlite:/srv/lake.sqlite --data-path /srv/lake")
@click.option(
    "--to", "url", required=True, help='"duckdb:", "ducklake:postgres:dbname=..." or "ducklake:sqlite:/path".'
)
@click.option("--data-path", default="", help="Folder or s3://bucket/prefix/ for a lake's rows and published files.")
@click.option("--schema", default="", help="PostgreSQL schema of the lake's catalogue.")
@click.option("--landing", default="", help="Folder or s3://bucket/prefix/ for documents [landing/ in the directory].")
@click.option("--s3-endpoint", default="", help="Address of another S3 server than AWS's.")
@click.option(
    "--into", type=click.Path(path_type=Path, file_okay=False), help="Data directory of the target [the same]."
)
@output.JSON
@click.pass_obj
def migrate(
    read: Reader,
    *,
    url: str,
    data_path: str,
    schema: str,
    landing: str,
    s3_endpoint: str,
    into: Path | None,
    in_json: bool,
) -> None:
    """Copy the history into another, empty warehouse.

    Compares both, and publishes there. The source stays as it is. Write the same values into [warehouse] of the
    settings afterwards.
    """
    with output.errors(in_json=in_json):
        from flows.backup import replicas
        from warehouse.log import content

        source = read()
        table = {
            "url": url,
            "data_path": data_path,
            "schema": schema,
            "landing": landing,
            "s3_endpoint": s3_endpoint,
        }
        target = source.replace(
            data_dir=into or source.data_dir,
            warehouse={name: value for name, value in table.items() if value},
        )
        with output.progress(quiet=in_json) as progress:
            done = replicas.migrate(source, target, progress=progress)
    result = {
        "log_sha256": content.whole(done.log),
        "published_sha256": content.whole(done.published),
        "file": done.file,
        "bytes": done.n_bytes,
        "seconds": done.seconds,
        "landed": asdict(done.landed) if done.landed else None,
        "tables": {name: asdict(table) for name, table in done.log.items()},
    }
    output.echo(output.as_json(result) if in_json else "\n".join(done.lines()))


@data.command(epilog="Example: chipledger data maintain --days 30")
@click.option(
    "--days", type=click.IntRange(min=0), default=30, show_default=True, help="What is older expires, if none needs it."
)
@output.JSON
@click.pass_obj
def maintain(read: Reader, *, days: int, in_json: bool) -> None:
    """Merge small files of a shared warehouse. Also expires old snapshots and publications."""
    with output.errors(in_json=in_json):
        from flows.collect import steps
        from warehouse.errors import ChipledgerError
        from warehouse.lake import maintenance
        from warehouse.log import db

        place = read().place()
        if not place.is_shared:
            raise ChipledgerError(
                "one file needs no maintenance",
                source="settings",
                field="warehouse.url",
                value=place.url,
                hint="`chipledger run` removes old pages and replaced files",
            )
        with db.open_log(place) as con:
            done = maintenance.maintain(con, days=days, now=steps.utc_now())
    output.echo(output.as_json(asdict(done)) if in_json else "\n".join(done.lines()))
