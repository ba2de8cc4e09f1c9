"""The exported catalogue in SkyPilot's own reader, of a released version, in an environment of its own.

The package comes from the registry; the reader asks nobody, as the file is where it looks first.
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from looks import row
from purchase import P5, putting, said, seen, spot

from flows.export import skypilot

SKYPILOT = "skypilot==0.14.1"
SCHEMA = "v8"
ROOT = Path(__file__).parents[2]
NORTH = "eu-north-1"
READ = textwrap.dedent("""
    import json
    from sky.catalog import aws_catalog, common
    p5 = "p5.48xlarge"
    chips = aws_catalog.list_accelerators(True, None, None, None, all_regions=True)
    def zones(use_spot):
        found = aws_catalog.get_region_zones_for_instance_type(p5, use_spot=use_spot)
        return {region.name: sorted(zone.name for zone in region.zones or ()) for region in found}
    print(json.dumps({
        "schema": common.get_catalog_path("aws/vms.csv").split("/")[-3],
        "on_demand": [aws_catalog.get_hourly_cost(p5, region=region) for region in ("us-east-1", "eu-north-1")],
        "spot": aws_catalog.get_hourly_cost(p5, use_spot=True, region="us-east-1", zone="use1-az1"),
        "host": aws_catalog.get_vcpus_mem_from_instance_type(p5),
        "chips": [aws_catalog.get_accelerators_from_instance_type(name) for name in (p5, "g6f.xlarge")],
        "types": aws_catalog.get_instance_type_for_accelerator("H100", 8)[0],
        "spot_zones": zones(True),
        "found": {name: sorted(each.price for each in rows) for name, rows in chips.items()},
    }))
""")
OTHER_FILES = {
    "images.csv": "Tag,Region,OS,OSVersion,ImageId,CreationDate",
    "instance_quota_mapping.csv": "InstanceType,SpotInstanceCode,OnDemandInstanceCode",
}
"""What its reader also opens, and downloads where it is absent."""


def uv() -> str:
    return shutil.which("uv") or str(ROOT / ".tools/bin/uv")


def read_by_skypilot(folder: Path, program: str) -> dict[str, object]:
    """Return what a program prints with SkyPilot installed, whose catalogues are those in the folder's `home`."""
    home, place = folder / "home", folder / "skypilot"
    subprocess.run([uv(), "venv", "--quiet", "--python", sys.executable, place], check=True)
    subprocess.run([uv(), "pip", "install", "--quiet", "--python", place / "bin/python", SKYPILOT], check=True)
    # Zones of its own account would be asked of AWS: without credentials it keeps the ids.
    own = {"HOME": str(home), "PATH": os.environ["PATH"], "SKYPILOT_DISABLE_USAGE_COLLECTION": "1"}
    done = subprocess.run(
        [place / "bin/python", "-c", program], env=own, capture_output=True, text=True, check=False, timeout=300
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return told


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.skipif(not Path(uv()).exists(), reason="needs uv, which makes the environment")
def test_skypilot_reads_what_we_write(tmp_path: Path) -> None:
    """Prices of two regions, spot by zone, chips, vCPUs and memory come out of its functions as they went in."""
    with putting(tmp_path / "data", asked=("accelerator_hour_price", "spot_region_price")) as put:
        file = put(
            seen(0, "aws_price_list", row(P5, "55.04"), row("g6f.xlarge", "0.2417"), row("trn1.32xlarge", "21.5")),
            seen(0, "aws_price_list", row(P5, "68.8", region_id=NORTH), scope=NORTH),
            seen(0, "aws_spot", spot(P5, "use1-az1", "30.1234")),
            said(
                0, "aws_instance_types", "instance_zone",
                *({"region_id": "us-east-1", "availability_zone_id": zone, "availability_zone": None,
                   "instance_type": P5} for zone in ("use1-az1", "use1-az6")),
            ),
            at=0.1,
        )  # fmt: skip
    home = tmp_path / "home"
    skypilot.export(file, home / ".sky/catalogs" / SCHEMA)
    for name, head in OTHER_FILES.items():
        (home / ".sky/catalogs" / SCHEMA / "aws" / name).write_text(f"{head}\n")
    told = read_by_skypilot(tmp_path, READ)

    assert told == {
        "schema": SCHEMA, "on_demand": [55.04, 68.8], "spot": 30.1234, "host": [192.0, 2048.0],
        "chips": [{"H100": 8}, {"L4": 0.125}], "types": [P5], "spot_zones": {"us-east-1": ["use1-az1"]},
        "found": {"H100": [55.04, 68.8], "L4": [0.2417], "Trainium": [21.5]},
    }  # fmt: skip


OF_AZURE = textwrap.dedent("""
    import json
    from sky.catalog import azure_catalog
    h100, a100 = "Standard_ND96isr_H100_v5", "Standard_ND96asr_v4"
    print(json.dumps({
        "price": azure_catalog.get_hourly_cost(h100, region="eastus"),
        "spot": azure_catalog.get_hourly_cost(a100, use_spot=True, region="eastus"),
        "host": azure_catalog.get_vcpus_mem_from_instance_type(h100),
        "chips": azure_catalog.get_accelerators_from_instance_type(h100),
        "regions": [each.name for each in azure_catalog.get_region_zones_for_instance_type(h100, False)],
    }))
""")


@pytest.mark.prove
@pytest.mark.timeout(900)
@pytest.mark.skipif(not Path(uv()).exists(), reason="needs uv, which makes the environment")
def test_skypilot_reads_azure(offline_run: Path, tmp_path: Path) -> None:
    """A cloud without zones has no column of them, or SkyPilot would find it in no region."""
    folder = tmp_path / "home/.sky/catalogs" / SCHEMA
    skypilot.export(offline_run / "prices.duckdb", folder)
    (folder / "azure/images.csv").write_text(OTHER_FILES["images.csv"] + "\n")
    assert read_by_skypilot(tmp_path, OF_AZURE) == {
        "price": 98.32, "spot": 5.98334, "host": [96.0, 1900.0], "chips": {"H100": 8}, "regions": ["eastus"],
    }  # fmt: skip
