"""The commands `migrate` and `maintain`: into a warehouse that several machines share, out of it, and its upkeep."""

from dataclasses import asdict
from pathlib import Path

import click

from flows.config import Reader
from flows.shared import output


@click.command()
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
    """Copy the whole history into another, empty warehouse, compare both, and publish there.

    The source stays as it is. Write the same words into [warehouse] of the settings afterwards.
    """
    with output.errors(in_json=in_json):
        from flows.backup import migrate as moving
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
            done = moving.migrate(source, target, progress=progress)
    told = {
        "log_sha256": content.whole(done.log),
        "published_sha256": content.whole(done.published),
        "file": done.file,
        "bytes": done.n_bytes,
        "seconds": done.seconds,
        "landed": asdict(done.landed) if done.landed else None,
        "tables": {name: asdict(table) for name, table in done.log.items()},
    }
    output.echo(output.as_json(told) if in_json else "\n".join(done.lines()))


@click.command()
@click.option(
    "--days", type=click.IntRange(min=0), default=30, show_default=True, help="What is older expires, if none needs it."
)
@output.JSON
@click.pass_obj
def maintain(read: Reader, *, days: int, in_json: bool) -> None:
    """Keep a shared warehouse small: merge its little files, let old snapshots and publications expire."""
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
