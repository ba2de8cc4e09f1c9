"""Ways through sources that a daily run does not take, or whose address no setting moves.

Archives of past prices (`chipledger backfill`), one of them over git; DigitalOcean's API.
"""

import io
import json
import tempfile
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from extract import source_named
from extract.aws import spot
from extract.catalogues import skypilot_catalog as history
from extract.neoclouds import digitalocean
from faults import git_site
from faults.subject import Subject, ends, fixed

RATES = b"""Date,USD,JPY,BGN,CYP,GBP,CNY,
2025-04-25,1.1357,162.8,1.9558,N/A,0.8531,8.2773,
2025-04-24,1.1376,162.16,1.9558,N/A,0.855,8.2925,
"""
"""Of the ECB's CSV (https://www.ecb.europa.eu/stats/eurofxref/, accessed on 2026-11-21)."""
SPOT = b"""\
use1-az6\tp5.48xlarge\tLinux/UNIX\t9.370000\t2024-01-01T00:00:00+00:00
use1-az6\tm5.large\tLinux/UNIX\t0.035000\t2024-01-02T00:00:00+00:00
use1-az6\tp5.48xlarge\tLinux/UNIX\t12.500000\t2024-01-20T10:00:00+00:00
"""
"""Invented, in the form of the archive of past spot prices."""
SIZES = {
    "sizes": [
        {
            "slug": "gpu-h100x8-640gb", "price_monthly": 17796.48, "price_hourly": 23.92, "regions": ["nyc2", "tor1"],
            "available": True, "gpu_info": {"count": 8, "vram": {"amount": 640, "unit": "gib"}, "model": "nvidia_h100"},
        },
    ],
    "links": {}, "meta": {"total": 1},
}  # fmt: skip
"""A size as of 2025, in the format of DigitalOcean's API."""


def _days(first: str, last: str) -> tuple[datetime, datetime]:
    return datetime.fromisoformat(first).replace(tzinfo=UTC), datetime.fromisoformat(last).replace(tzinfo=UTC)


def other_doors(amazon: Any) -> tuple[Subject, ...]:
    """Return them; `amazon` answers for AWS."""
    return (*_archives(amazon), *_catalogues(), _sizes())


def _archives(amazon: Any) -> list[Subject]:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("eurofxref-hist.csv", RATES)
    versions = {
        "source": source_named("aws_price_list"), "scope": "us-east-1", "server": "past price files", "handle": amazon,
        "settings": lambda base: {"bulk_url": base}, "days": _days("2025-06-01", "2025-07-01"), "is_daily": False,
    }  # fmt: skip
    return [
        Subject(name="aws_price_list (past index)", body="csv index", mine=ends("AmazonEC2/index.json"), **versions),
        Subject(name="aws_price_list (past file)", body="csv", door="stream", mine=ends(".csv"), **versions),
        Subject(
            name="aws_spot (archive)", source=source_named("aws_spot"), scope="us-east-1", body="zst", door="stream",
            handle=fixed(pa.compress(SPOT, codec="zstd", asbytes=True), "application/zstd"),
            settings=lambda base: {"archive_url": base}, days=_days("2024-01-01", "2024-01-31"), is_daily=False,
            prepare=_keep_little,
        ),
        Subject(
            name="ecb_rates (archive)", source=source_named("ecb_rates"), scope="euro", body="zip",
            handle=fixed(zipped.getvalue(), "application/zip"), is_daily=False,
            settings=lambda base: {"archive_url": base + "/eurofxref-hist.zip"}, days=_days("2025-04-01", "2025-04-30"),
        ),
    ]  # fmt: skip


def _keep_little(base: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    patch.setattr(spot, "EXCERPT_LIMIT_BYTES", 32 << 20)  # to be reached soon


def _catalogues() -> list[Subject]:
    """Return the three steps of reading SkyPilot's catalogues: where they are, all commits, one version of a table."""

    def prepare(base: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
        patch.setenv(history.CACHE, tempfile.mkdtemp(dir=folder))

    def commits(path: str, headers: Mapping[str, str], body: bytes) -> bool:
        return b"command=fetch" in body and git_site.blob() not in body

    return [
        Subject(
            name=f"skypilot_catalog ({step})", source=source_named("skypilot_catalog"), scope="lambda", body="git",
            door="git", server="catalogues", handle=git_site.handle, is_secure=True, is_daily=False,
            settings=lambda base: {"url": base + git_site.PATH}, days=_days("2026-01-01", "2026-01-03"),
            prepare=prepare, mine=mine, is_quick=step == "commits",
        )
        for step, mine in (
            ("index", lambda path, headers, body: "/info/refs" in path),
            ("commits", commits),
            ("table", lambda path, headers, body: git_site.blob() in body),
        )
    ]  # fmt: skip


def _sizes() -> Subject:
    return Subject(
        name="digitalocean (sizes)", source=source_named("digitalocean"), scope="sizes", body="json",
        handle=fixed(json.dumps(SIZES).encode(), "application/json"), settings=lambda base: {},
        environment=lambda base: {digitalocean.TOKEN_VARIABLE: "dop-example-0001"}, is_daily=False,
        prepare=lambda base, folder, patch: patch.setattr(digitalocean, "API_URL", base + "/v2/sizes"),
    )  # fmt: skip
