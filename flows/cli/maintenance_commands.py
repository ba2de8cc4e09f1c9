"""The commands of the section Operate: doctor, settings, the data directory, deployments."""

import os
import sys
from dataclasses import asdict
from pathlib import Path

import click

from flows.cli.command import EXISTING_FILE, Result, command, group
from flows.config import Reader
from flows.shared import Progress, output
from flows.shared.folders import FILE_NAME


@command("doctor --offline")
@click.option("--offline", is_flag=True, help="Leave out network, credentials and servers.")
def doctor(read: Reader, *, offline: bool, progress: Progress) -> Result:
    """Check the installation, and say what to do. Checks files, credentials, network, clock and servers."""
    from flows.doctor import checks, row

    rows = checks.all_checks(read(), offline=offline, progress=progress)
    return Result(rows, row.lines(rows), is_failed=any(each["result"] == "fail" for each in rows))


@command("settings --json", cls=click.Group, invoke_without_command=True, has_table=True)
def settings(read: Reader) -> Result:
    """Show every setting, its value and its origin. Secrets are not shown."""
    from flows.config import show
    from flows.config.settings import layers

    rows = show.rows(layers(read.file, data_dir=read.data_dir))
    as_text = [
        row | {"value": row["value"] if isinstance(row["value"], str | None) else output.as_json(row["value"])}
        for row in rows
    ]
    return Result(rows, [output.text_table(as_text, ("setting", "value", "origin"))])


@command("settings init", group=settings)
@click.option("--force", is_flag=True, help="Copy an existing file, and write a new one.")
def init(read: Reader, *, force: bool) -> Result:
    """Write a file of all settings, commented out."""
    from flows.config import show

    path = read.file or Path(FILE_NAME)
    copy = show.write(path, force=force)
    written = {"file": str(path), "aside": None if copy is None else str(copy)}
    return Result(written, [str(path)], [] if copy is None else [f"The previous file was copied to {copy}"])


data = group("data", "data backup /backups/2026-11-22.tar.zst", "Back up, restore, rebuild or move the history.")


@command("data backup /backups/2026-11-22.tar.zst", group=data)
@click.argument("target", type=click.Path(path_type=Path))
@click.option("--with-settings", "settings_file", type=EXISTING_FILE, help="Put this settings file into it, too.")
def backup(read: Reader, *, target: Path, settings_file: Path | None) -> Result:
    """Back up what cannot be fetched again.

    TARGET is a new folder, or a file ending in .tar.zst or .tar.gz. It holds the log, the landing folder and the
    records of what was sent, and is read back before it gets its name.
    """
    from flows.backup import snapshot

    chosen = read()
    hint = "Back up catalogue and bucket (docs/warehouse-shared.md), or `chipledger data migrate` into a file"
    chosen.require_own_files("data backup", hint=hint)
    made = snapshot.back_up(chosen, target, settings_file=settings_file)
    result = {
        "path": made.path,
        "bytes": made.n_bytes,
        "made_at": made.manifest.made_at,
        "files": len(made.manifest.items),
        "log": {name: asdict(each) for name, each in made.manifest.log.items()},
        "missing": made.missing,
    }
    return Result(result, made.lines(), made.notes(), is_failed=bool(made.missing))


@command("data restore /backups/2026-11-22.tar.zst --check", group=data)
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option("--force", is_flag=True, help="Set aside what is in the data directory, in its folder `replaced`.")
@click.option("--check", is_flag=True, help="Only read the backup and check every hash; change nothing.")
def restore(read: Reader, *, source: Path, force: bool, check: bool) -> Result:
    """Restore a backup into an empty data directory.

    Every hash is checked before anything is moved; then the history is published.
    """
    import tempfile

    from flows.backup import snapshot

    if check:
        with tempfile.TemporaryDirectory() as folder:
            manifest = snapshot.check(source, Path(folder) / "check")
        result = {"made_at": manifest.made_at, "files": len(manifest.items), "is_good": True}
        return Result(result, [f"of {manifest.made_at}, files: {result['files']}; every hash and the log are right"])
    chosen = read()
    hint = "Restore into an empty data directory, then `chipledger data migrate` it"
    chosen.require_own_files("data restore", hint=hint)
    done = snapshot.restore(chosen, source, force=force)
    restored = {
        "made_at": done.manifest.made_at,
        "files": len(done.manifest.items),
        "set_aside": done.set_aside,
        "file": done.summary.file,
        "report": done.summary.report,
    }
    return Result(restored, done.lines())


@command("data rebuild", group=data)
@click.option("--accept", is_flag=True, help="Use the new log even where it differs; the old one is set aside.")
def rebuild(read: Reader, *, accept: bool, progress: Progress) -> Result:
    """Build the log again from the landing folder.

    Compares it with the log in use, and replaces that where they are equal. Prints a hash of all tables of core and
    mart; `--json` has that of each. Exit code 1 where they differ: then the log in use stays.
    """
    from flows.backup import replicas
    from warehouse.log import content

    chosen = read()
    hint = "`chipledger build` over an empty schema makes the log anew from what was landed"
    chosen.require_own_files("data rebuild", hint=hint)
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
    return Result(result, done.lines(), is_failed=not done.is_in_use)


@command("data document SHA256", group=data, hidden=True, deprecated="use `chipledger reproduce SHA256`.")
@click.argument("sha256")
def document(read: Reader, *, sha256: str, in_json: bool) -> None:
    """Print a landed document by its SHA-256."""
    sys.stdout.buffer.write(read().landing().body(sha256))


@command("data migrate --to ducklake:sqlite:/srv/lake.sqlite --data-path /srv/lake", group=data)
@click.option("--to", "url", required=True, help='"duckdb:", "ducklake:postgres:..." or "ducklake:sqlite:/path".')
@click.option("--data-path", help="Folder or s3://bucket/prefix/ for a lake's rows and published files.")
@click.option("--schema", help="PostgreSQL schema of the lake's catalogue.")
@click.option("--landing", help="Folder or s3://bucket/prefix/ for documents [landing/ in the directory].")
@click.option("--s3-endpoint", help="Address of another S3 server than AWS's.")
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), help="The target's data directory [same].")
def migrate(read: Reader, *, into: Path | None, progress: Progress, **table: str | None) -> Result:
    """Copy the history into another, empty warehouse.

    Compares both, and publishes there. The source stays as it is. Write the same values into [warehouse] of the
    settings afterwards.
    """
    from flows.backup import replicas
    from warehouse.log import content

    source = read()
    warehouse = {name: value for name, value in table.items() if value}
    target = source.replace(data_dir=into or source.data_dir, warehouse=warehouse)
    done = replicas.migrate(source, target, progress=progress)
    result = {
        "log_sha256": content.whole(done.log),
        "published_sha256": content.whole(done.published),
        "file": done.file,
        "landed": asdict(done.landed) if done.landed else None,
        "tables": {name: asdict(table) for name, table in done.log.items()},
    }
    return Result(result, done.lines())


@command("data maintain --days 30", group=data)
@click.option("--days", type=click.IntRange(min=0), default=30, help="What is older expires, if none needs it.")
def maintain(read: Reader, *, days: int) -> Result:
    """Publish from nothing, once a week.

    Compares it with the one that runs amended day by day. Of a shared warehouse it also merges small files and expires
    old snapshots and publications.
    """
    from flows.collect import publisher, steps

    done = publisher.maintain(read(), days=days, clock=steps.utc_now)
    return Result(done, done)


@command("deploy --schedule weekly=off")
@click.option(
    "--schedule",
    "texts",
    multiple=True,
    metavar="NAME=CRON",
    help="Another schedule than that of prefect.yaml, UTC, or NAME=off; NAME is daily, weekly or maintain. May repeat.",
)
def deploy(_read: Reader, *, texts: tuple[str, ...]) -> Result:
    """Create the deployments on a Prefect server.

    Creates those of prefect.yaml, and their work pool, on the server of PREFECT_API_URL. Start it in the checkout that
    workers on this machine will run from. Run it again after a change of prefect.yaml; it is safe to repeat. Schedules
    of an earlier call are dropped unless they are repeated.
    """
    from flows.scheduling import prefect_setup

    schedules = prefect_setup.schedules(texts)
    is_new = prefect_setup.deploy(Path.cwd(), schedules, environ=os.environ)
    lines = [
        f"work pool {prefect_setup.POOL}: {'made' if is_new else 'was there'}",
        "deployed as in prefect.yaml: daily, weekly, backfill, maintain",
        *(
            f"schedule of {name}: {cron}{'' if cron == prefect_setup.OFF else ' UTC'}"
            for name, cron in schedules.items()
        ),
        f"next: prefect worker start --pool {prefect_setup.POOL}",
    ]
    return Result({"pool": prefect_setup.POOL, "is_new_pool": is_new, "schedules": schedules}, lines)


COMMANDS = (doctor, settings, data, deploy)
