"""The commands `backup`, `restore`, `rebuild` and `document`."""

import sys
from dataclasses import asdict
from pathlib import Path

import click

from flows.config import Reader
from flows.shared import output


@click.command()
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
    """Back up what cannot be made again into TARGET: a new folder, or a file ending in .tar.zst or .tar.gz.

    It holds the log, the landing folder and the records of what was sent, and is read back before it gets its name.
    """
    with output.errors(in_json=in_json):
        from flows.backup import snapshot as backups

        chosen = read()
        chosen.require_own_files(
            "backup", hint="Back up catalogue and bucket (docs/warehouse-shared.md), or `migrate` into a file"
        )
        made = backups.back_up(chosen, target, settings_file=settings_file)
    told = {"path": made.path, "bytes": made.n_bytes, "made_at": made.manifest.made_at}
    told |= {"files": len(made.manifest.items), "log": {name: asdict(each) for name, each in made.manifest.log.items()}}
    output.echo(output.as_json(told) if in_json else "\n".join(made.lines()))


@click.command()
@click.argument("source", type=click.Path(path_type=Path, exists=True))
@click.option("--force", is_flag=True, help="Set aside what is in the data directory, in its folder `replaced`.")
@click.option("--check", is_flag=True, help="Only read the backup and check every hash; change nothing.")
@output.JSON
@click.pass_obj
def restore(read: Reader, *, source: Path, force: bool, check: bool, in_json: bool) -> None:
    """Put a backup into an empty data directory and publish it; every hash is checked before anything is moved."""
    with output.errors(in_json=in_json):
        import tempfile

        from flows.backup import snapshot as backups

        if check:
            with tempfile.TemporaryDirectory() as folder:
                manifest = backups.check(source, Path(folder) / "check")
            told: dict[str, object] = {"made_at": manifest.made_at, "files": len(manifest.items), "is_good": True}
            lines = [f"{len(manifest.items)} files of {manifest.made_at}: every hash is right, and so is the log"]
        else:
            chosen = read()
            chosen.require_own_files(
                "restore", hint="Restore into an empty data directory, then `chipledger migrate` it"
            )
            done = backups.restore(chosen, source, force=force)
            told = {"made_at": done.manifest.made_at, "files": len(done.manifest.items)}
            told |= {"set_aside": done.set_aside, "file": done.summary.file, "report": done.summary.report}
            lines = list(done.lines())
    output.echo(output.as_json(told) if in_json else "\n".join(lines))


@click.command()
@click.option("--accept", is_flag=True, help="Use the new log even where it differs; the old one is set aside.")
@output.JSON
@click.pass_obj
def rebuild(read: Reader, *, accept: bool, in_json: bool) -> None:
    """Make the log anew from the landing folder, compare it with the one in use, and swap it in where they are equal.

    Prints a hash of each table of core and mart. Exit code 1 where they differ: then the log in use stays.
    """
    with output.errors(in_json=in_json):
        from flows.backup import rebuild as rebuilding
        from warehouse.log import content

        chosen = read()
        chosen.require_own_files(
            "rebuild", hint="`chipledger build` over an empty schema makes the log anew from what was landed"
        )
        with output.progress(quiet=in_json) as progress:
            done = rebuilding.rebuild(chosen, accept=accept, progress=progress)
    told = {
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
    output.echo(output.as_json(told) if in_json else "\n".join(done.lines()))
    if not done.is_in_use:
        sys.exit(output.FAILED)


@click.command()
@click.argument("sha256")
@click.pass_obj
def document(read: Reader, *, sha256: str) -> None:
    """Print a landed document, byte for byte, by the hash that stands beside each price."""
    with output.errors(in_json=False):
        import re

        from warehouse.errors import ChipledgerError

        if not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise ChipledgerError("not a SHA-256", field="sha256", value=sha256, hint="64 digits of 0-9 and a-f")
        body = read().landing().body(sha256)
    sys.stdout.buffer.write(body)
