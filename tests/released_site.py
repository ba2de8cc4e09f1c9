"""A site of releases with two days, made once for all workers of a test run."""

import shutil
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from few_marts import published_with

from flows.collect import importer
from flows.collect.steps import open_run
from flows.config.settings import Settings
from flows.release import making

OPEN, CLOSED = "adriannutiu/gpu-rental-prices", "nixj9/gpu-market-intel"
HEADER = "observed_at_utc,provider,gpu,gpu_count,instance_type,region,pricing,usd_per_hour,source\n"
SEEN = (
    f"2026-10-20T00:00:00Z,lambda,H100,8,,,on_demand,23.92,{OPEN}\n"
    f"2026-10-20T00:00:00Z,runpod,H100,1,,,on_demand,6.6661372915,{OPEN}\n"  # of a provider whose terms forbid it
    f"2026-10-20T00:00:00Z,vast.ai,H100,1,,,spot,5.5551372915,{OPEN}\n"
    f"2026-10-20T00:00:00Z,lambda,H100,1,,,on_demand,7.7771372915,{CLOSED}\n"  # by a collector without a licence
    "2026-10-20T00:00:00Z,aws,,,p5.48xlarge,us-east-1,on_demand,60.5,aws/karpenter-provider-aws@abc\n"
)


def make(folder: Path, archive: Path) -> None:
    """Make `site` with two days: that of the archive, and that of an import, beside which there is a contract."""
    root, settings = folder / "site", Settings(data_dir=folder / "data")
    shutil.copytree(archive, settings.data_dir)
    with pytest.MonkeyPatch.context() as patched, published_with("accelerator_hour_price", least=()):
        for name in ("_write_files", "_write_site"):
            patched.setattr(making, name, lambda *_: [])
        making.release(settings, root)  # whose prices the next is held against
    (folder / "seen.csv").write_text(HEADER + SEEN, encoding="utf-8")
    with open_run(settings, clock=lambda: datetime(2026, 11, 22, tzinfo=UTC)) as run:
        importer.land(run, importer.landed(folder / "seen.csv", run.clock()))
        run.load()
        with published_with(least=()):  # a release is made of its log
            file = run.publisher.publish()
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        con.execute(
            "update core.offer set unit_price_type = 'Contracted', contract_id = 'contract-4711', tier = '8.8881372915'"
            "where instance_type = 'p5.4xlarge'"
        )
    making.release(settings, root, url="https://prices.example.org", doi="10.5281/zenodo.1")
