"""What `chipledger doctor` looks at; each check is a value with its name, result (right, wrong, note) and advice."""

import shutil
import sys
from pathlib import Path

import duckdb

from flows.settings import Settings

LEAST_FREE_BYTES = 1 << 30


def all_checks(settings: Settings) -> list[dict[str, object]]:
    """Return the results of all checks, none of which touches the network or writes a price."""
    return [
        _python(),
        _data_dir(settings.data_dir),
        _space(settings.data_dir),
        _published(settings.data_dir),
        _door(settings),
    ]


def _row(check: str, result: str, found: str, advice: str = "") -> dict[str, object]:
    return {"check": check, "result": result, "found": found, "advice": advice}


def _python() -> dict[str, object]:
    return _row("versions", "right", f"Python {sys.version.split()[0]}, DuckDB {duckdb.__version__}")


def _data_dir(path: Path) -> dict[str, object]:
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".doctor"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        return _row(
            "data directory", "wrong", f"{path}: {error.strerror}", "Give another with --data-dir, or its rights"
        )
    return _row("data directory", "right", str(path.resolve()))


def _space(path: Path) -> dict[str, object]:
    free = shutil.disk_usage(path if path.exists() else Path()).free
    found = f"{free / 1e9:.1f} GB free"
    if free < LEAST_FREE_BYTES:
        return _row("disk", "wrong", found, "A run needs about 1 GB")
    return _row("disk", "right", found)


def _published(path: Path) -> dict[str, object]:
    file = path / "prices.duckdb"
    if not file.exists():
        return _row("published file", "note", "none yet", "`chipledger run` makes it")
    try:
        with duckdb.connect(str(file), read_only=True) as con:
            row = con.execute("select built_at from meta.build").fetchone()
    except duckdb.Error as error:
        return _row("published file", "wrong", str(error).splitlines()[0], "`chipledger build` makes it anew")
    return _row("published file", "right", f"built {row[0]:%Y-%m-%d %H:%M} UTC" if row else "without a date")


def _door(settings: Settings) -> dict[str, object]:
    """Say which door to AWS's price list a run takes, and what credentials would add."""
    from extract.aws_price_list import places

    chosen = settings.source("aws_price_list")
    if places.door(chosen) == "api":
        return _row("AWS prices", "right", "through the Price List API, with the credentials found")
    return _row(
        "AWS prices", "right", "through the public bulk files, without credentials",
        "With credentials (pricing:GetProducts) the same prices come in fewer bytes",
    )  # fmt: skip
