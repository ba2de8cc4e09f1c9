"""SkyPilot's catalogues: columns by name, each provider's habits, and nothing of a machine that contradicts itself.

The lines are of the catalogues at https://github.com/skypilot-org/skypilot-catalog (Apache-2.0), read on 2026-11-21,
with their own figures.
"""

import random
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from neoclouds.case import rows

from extract.catalogues.skypilot_catalog import SOURCE
from warehouse.documents import Document
from warehouse.errors import LayoutChanged, SourceError
from warehouse.log.gates import row_gate
from warehouse.reference.accelerators import resolve
from warehouse.schema.tables import IDENTITY

HEADER = "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n"
SAMPLES = "data/neocloud_samples"
LAMBDA = HEADER + (
    "cpu_4x_general,,,4.0,16.0,0.2,us-east-1,,\n"
    "gpu_8x_h100_sxm5,H100,8.0,208.0,1800.0,27.52,us-east-1,"
    "\"{'Gpus': [{'Name': 'H100', 'Manufacturer': 'NVIDIA', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 81920}}], "
    "'TotalGpuMemoryInMiB': 81920}\",\n"
    "gpu_8x_a100_80gb_sxm4,A100-80GB,8.0,240.0,1800.0,16.48,us-east-1,"
    "\"{'Gpus': [{'Name': 'A100-80GB', 'Manufacturer': 'NVIDIA', 'Count': 8.0, 'MemoryInfo': {'SizeInMiB': 81920}}], "
    "'TotalGpuMemoryInMiB': 81920}\",\n"
    "gpu_1x_a100_sxm4,A100,1.0,30.0,200.0,1.48,us-west-2,"
    "\"{'Gpus': [{'Name': 'A100', 'Manufacturer': 'NVIDIA', 'Count': 1.0, 'MemoryInfo': {'SizeInMiB': 40960}}], "
    "'TotalGpuMemoryInMiB': 40960}\",\n"
)


def document(scope: str, body: str | bytes) -> Document:
    content = body if isinstance(body, bytes) else body.encode()
    return Document(
        source=SOURCE.name, scope=scope, url="https://example.com/vms.csv", body=content,
        fetched_at=datetime(2026, 11, 21, tzinfo=UTC),
    )  # fmt: skip


def read(scope: str, body: str | bytes) -> list[dict[str, Any]]:
    return rows(SOURCE.parse(document(scope, body)))


def ignored(scope: str, body: str) -> dict[str, int]:
    return dict(SOURCE.parse(document(scope, body)).ignored)


def info(name: str, count: object, size: object, *, quote: str = "'") -> str:
    """Return a cell of GpuInfo."""
    text = f'{{"Gpus": [{{"Name": "{name}", "Count": {count}, "MemoryInfo": {{"SizeInMiB": {size}}}}}]}}'
    inner = text.replace('"', "'" if quote == "'" else '""')
    return f'"{inner}"'


def line(instance: str, name: str, count: object, price: object, *, spot: object = "", gpu: str = "") -> str:
    return f"{instance},{name},{count},8,64,{price},somewhere,{gpu},{spot}\n"


def one(scope: str, text: str) -> dict[str, Any]:
    (row,) = read(scope, HEADER + text)
    return row


def test_a_table_gives_the_price_of_each_machine():
    """Whole machines, chips in words that tell 40 from 80 GB and SXM from PCIe; CPUs are counted."""
    expected = [
        ("gpu_8x_h100_sxm5", "H100 SXM 80GB", "8", "27.52", "us-east-1"),
        ("gpu_8x_a100_80gb_sxm4", "A100-80GB SXM", "8", "16.48", "us-east-1"),
        ("gpu_1x_a100_sxm4", "A100 SXM 40GB", "1", "1.48", "us-west-2"),
    ]
    found = read("lambda", LAMBDA)

    columns = ("instance_type", "accelerator_label", "accelerator_count", "unit_price", "region_id")
    assert [tuple(row[name] for name in columns) for row in found] == expected
    assert {(row["service_provider_name"], row["capacity_unit"], row["purchase_option"]) for row in found} == {
        ("Lambda", "instance", "on_demand")
    }
    assert ignored("lambda", LAMBDA) == {"without accelerators": 1}
    chips = [resolve(row["accelerator_label"], "Lambda") for row in found]
    assert [(chip.accelerator_name, chip.form_factor) for chip in chips if chip] == [
        ("H100", "SXM"), ("A100-80GB", "SXM"), ("A100-40GB", "SXM"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("scope", "text", "expected"),
    [
        ("nebius", line("gpu-h100-sxm_8gpu-128vcpu-1600gb", "H100", 8, "23.60", spot="10.00",
                        gpu=info("H100", 8, 81920)),
         [("on_demand", "23.6"), ("spot", "10")]),
        ("verda", line("2B300.60V", "B300", "2.0", "", spot="4.893", gpu=info("B300", 2, 268800, quote='"')),
         [("spot", "4.893")]),
        ("verda", line("1H200.141S.44V", "H200", "1.0", "3.39", spot="3.39", gpu=info("H200", 1, 144384)),
         [("on_demand", "3.39")]),
        ("lambda", line("gpu_1x_a10", "A10", "1.0", "1.29", spot="0.00"), [("on_demand", "1.29")]),
        ("cudo", line("ice-lake-a40-compute_1x2v4gb", "A40", "1.0", "0.36979999999999996",
                      gpu=info("A40", "'1.0'", 49152)),
         [("on_demand", "0.3698")]),
        ("fluidstack", line("rec3HRxyysDOzxikh", "RTXA6000", 4, "3.2000000000999997", gpu=info("RTXA6000", 4, 49152)),
         [("on_demand", "3.2000000001")]),
        ("do", line("gpu-h100x8-640gb", "H100", 8, "47.60", gpu=info("h100", 8.0, 81559).lower()),
         [("on_demand", "47.6")]),
        ("paperspace", line("A100-80Gx8", "A100-80GB", "8.0", "25.44", gpu="A100-80GB"), [("on_demand", "25.44")]),
    ],
)  # fmt: skip
def test_prices_are_what_the_columns_say(scope: str, text: str, expected: list[tuple[str, str]]):
    """Empty, zero and a spot price equal to the price are none; noise of binary fractions goes, digits stay."""
    assert [(row["purchase_option"], row["unit_price"]) for row in read(scope, HEADER + text)] == expected
    assert not row_gate(SOURCE.parse(document(scope, HEADER + text)).rows)[1]


def test_more_decimals_than_noise_are_not_rounded():
    """The row gate refuses them, as it does everywhere."""
    text = HEADER + line("gpu_1x_a10", "A10", "1.0", "1.290000000055")

    assert read("lambda", text)[0]["unit_price"] == "1.290000000055"
    assert [refusal.field for refusal in row_gate(SOURCE.parse(document("lambda", text)).rows)[1]] == ["unit_price"]


@pytest.mark.parametrize(
    ("scope", "text", "label"),
    [
        ("runpod", line("1x_A100-80GB_SECURE", "A100-80GB", "1.0", "1.39", gpu=info("A100 PCIe", 1, 80)),
         "A100 PCIe 80GB"),
        ("runpod", line("2x_A100-80GB_SECURE", "A100-80GB", "2.0", "2.78", gpu=info("A100 PCIe", 2, 81920)),
         "A100 PCIe 80GB"),
        ("hyperbolic", line("2x-H100-56-541", "H100", 2, "2.78", gpu=info("NVIDIA-H100-80GB-HBM3", 2, 81559)),
         "NVIDIA-H100-80GB-HBM3"),
        ("vast", line("4x-A100_SXM4-32-65536", "A100", 4, "3.09", gpu=info("A100", 4, 163840)), "A100 SXM4 40GB"),
        ("vast", line("1x-RTX_4090-32-65536", "RTX4090", 1, "0.40", gpu=info("RTX4090", 1, 49140)), "RTX 4090 48GB"),
        ("shadeform", line("denvr_A100-sxm4x8", "A100", "8.0", "11.2", gpu=info("A100", 8.0, 40)), "A100 40GB"),
        ("seeweb", line("ECS1GPU12", "RTX PRO 6000 96GB", 1, "1.25", gpu=info("RTX PRO 6000 96GB", 1.0, 0)),
         "RTX PRO 6000 96GB"),
        ("shadeform", line("crusoe_H100x2", "H100", "2.0", "6.6"), "H100"),
    ],
)  # fmt: skip
def test_a_label_has_the_memory_of_one_chip(scope: str, text: str, label: str):
    """SizeInMiB is of one chip or of all, in MiB or in GB, or unknown; where the name has the memory, that stays."""
    assert one(scope, text)["accelerator_label"] == label


@pytest.mark.parametrize(
    ("machine", "chip", "count", "memory", "size", "label"),
    [
        ("gpu-h100-sxm_8gpu-128vcpu-1600gb", "H100", 8, 1600, 204800, "H100 SXM"),
        ("gpu-l40s-a_1gpu-8vcpu-32gb", "L40S", 1, 32, 32768, "L40S"),
        ("gpu-b200-sxm_8gpu-160vcpu-1792gb", "B200", 8, 1792, 184320, "B200 SXM 180GB"),
    ],
)
def test_nebius_stated_the_memory_of_the_machine(
    machine: str, chip: str, count: int, memory: int, size: int, label: str
):
    """In v6 and v7 (2025) SizeInMiB is the machine's memory for each chip: no chip has it, and a slice would have less.

    catalogs/v7/nebius/vms.csv at 22fd1feab9aa97a155f0f5a9d39351d9aa8ae9be; v8 has the chip's.
    """
    found = one("nebius", f"{machine},{chip},{count},128,{memory},23.60,eu-north1,{info(chip, count, size)},\n")
    chips = resolve(found["accelerator_label"], "Nebius")

    assert found["accelerator_label"] == label
    assert chips is not None
    assert (chips.accelerator_name, chips.accelerator_share) == (chip, 1)


@pytest.mark.parametrize(
    ("scope", "text", "reason"),
    [
        ("lambda", line("gpu_8x_h100_sxm5", "H100", "1.0", "27.52"), "another count than its name"),
        ("nebius", line("gpu-h100-sxm_8gpu-128vcpu-1600gb", "H100", 1, "23.60"), "another count than its name"),
        ("fluidstack", line("rec3", "RTXA6000", 1, "3.2", gpu=info("RTXA6000", 4, 49152)),
         "another count than GpuInfo"),
        ("lambda", line("gpu_8x_a100_80gb_sxm4", "A100", "8.0", "16.48", gpu=info("A100", 8.0, 40960)),
         "another memory than its name"),
        ("fluidstack", line("recg", "A100-80GB", 8, "14.4", gpu=info("A100-80GB", 8, 40960)),
         "another memory than GpuInfo"),
        ("spheron", line("gpu_1x_a100_SXM4_us-central-3", "A100_80G_PCIE", "1.0", "1.068"),
         "another form than its name"),
        ("shadeform", line("denvr_A100-sxm4x8", "H100", "8.0", "11.2"), "another chip than its name"),
        ("vast", line("1x-H100_NVL-64", "H100", 1, "2.67", spot="2.67"), "an ask for a single machine"),
    ],
)  # fmt: skip
def test_a_machine_that_contradicts_itself_is_left_out(scope: str, text: str, reason: str):
    """A wrong count or memory makes a price wrong by a whole factor: one of twenty is counted, no row is guessed."""
    sound = {
        "lambda": line("gpu_1x_a10", "A10", "1.0", "1.29"),
        "nebius": line("gpu-l40s-a_1gpu-8vcpu-32gb", "L40S", 1, "1.5"),
        "shadeform": line("vultr_A16", "A16", "1.0", "1.02"), "vast": line("1x-A40-32-65536", "A40", 1, "0.67"),
    }.get(scope, line("machine", "A40", "1.0", "1.29"))  # fmt: skip
    body = HEADER + sound * 20 + text

    assert ignored(scope, body)[reason] == 1
    assert len(read(scope, body)) == 1
    if reason != "an ask for a single machine":
        with pytest.raises(LayoutChanged, match="contradict"):
            read(scope, HEADER + sound + text)


def test_an_a100_of_sesterce_needs_its_memory_in_its_name(shared: Path):
    """Denvr's machines of 40 GB are labelled A100_80G_SXM4; of the 36 lines three are not what they are called."""
    body = (shared / SAMPLES / "spheron/skypilot_spheron_vms_excerpt.csv").read_bytes()
    found = read("spheron", body)

    assert not [row for row in found if row["region_id"] == "calgary-canada-1"]
    assert SOURCE.parse(document("spheron", body)).ignored == {
        "an A100 labelled 80 GB whose machine does not say so": 2, "another form than its name": 1,
    }  # fmt: skip
    assert [
        (row["purchase_option"], row["unit_price"], row["host_provider_name"], row["tier"])
        for row in found
        if row["instance_type"] == "1H100.80S.32V_FIN-03_500"
    ] == [("on_demand", "2.9124", "data-crunch", "DEDICATED"), ("spot", "0.8015", "data-crunch", "DEDICATED")]


def test_vast_is_a_median_over_all_regions(shared: Path):
    """A price of a marketplace says so; a bid of 0.00 is none, the highest of several bids neither."""
    found = read("vast", (shared / SAMPLES / "vast/skypilot_vast_vms_336ccee.csv").read_bytes())

    assert len(found) == 64
    assert {(row["statistic"], row["purchase_option"], row["conditions"]) for row in found} == {
        ("median", "on_demand", "median over all regions")
    }
    assert ("2x-H200-32-65536", "5.65", ", US, NA") in {
        (row["instance_type"], row["unit_price"], row["region_id"]) for row in found
    }
    bid = line("4x-H100_SXM-32-65536", "H100", 4, "9.07", spot="8.00")
    assert ignored("vast", HEADER + bid) == {"the highest bid of several": 1}
    assert [(row["purchase_option"], row["unit_price"]) for row in read("vast", HEADER + bid)] == [
        ("on_demand", "9.07")
    ]


def test_a_reseller_names_the_host():
    """Prime Intellect and Shadeform sell machines of others; what stands for no spot price is none."""
    table = (
        "InstanceType,UpstreamCloudId,vCPUs,MemoryGiB,AcceleratorName,AcceleratorCount,GpuInfo,Region,Price,SpotPrice\n"
        "runpod__2xA100_80GB__32__250,NVIDIA A100-SXM4-80GB,32.0,250,A100,2.0,"
        + info("A100", 2, 163840, quote='"') + ",UNSPECIFIED,3.7967999999999997,99999999\n"
        "hyperstack__8xA100_80GB__252__1920,n3-A100x8-NVLink,252.0,1920,A100,8.0,"
        + info("A100", 8, 655360, quote='"') + ",CA - CANADA-1,11.2,99999999\n"
    )  # fmt: skip
    names = ("host_provider_name", "accelerator_label", "unit_price", "region_id", "conditions")

    assert [tuple(row.get(name) for name in names) for row in read("primeintellect", table)] == [
        ("runpod", "NVIDIA A100-SXM4-80GB", "3.7968", None, "NVIDIA A100-SXM4-80GB"),
        ("hyperstack", "A100 80GB", "11.2", "CA - CANADA-1", "n3-A100x8-NVLink"),
    ]
    assert ignored("primeintellect", table)["a spot price that means none"] == 2
    assert one("shadeform", line("massedcompute_L40", "L40", "1.0", "0.88"))["host_provider_name"] == "massedcompute"


def test_tiers_zones_and_currency():
    """RunPod's clouds and zones, Vast's kinds of hosts; Seeweb's figures are euros."""
    runpod = HEADER.replace("Region", "Region,AvailabilityZone") + (
        "1x_RTX4090_COMMUNITY,RTX4090,1.0,5.0,29.0,0.34,CA,CA-MTL-1,,0.20\n"
    )
    assert [(row["purchase_option"], row["tier"], row["region_id"], row["availability_zone"])
            for row in read("runpod", runpod)] == [
        ("on_demand", "community", "CA", "CA-MTL-1"), ("spot", "community", "CA", "CA-MTL-1"),
    ]  # fmt: skip
    vast = HEADER.replace("\n", ",HostingType\n") + line("1x-A40-32-65536", "A40", 1, "0.67").replace("\n", ",1\n")
    assert read("vast", vast)[0]["tier"] == "hosting type 1"
    assert one("seeweb", line("ECS1GPU10", "H200", 1, "2.6"))["pricing_currency"] == "EUR"


@pytest.mark.parametrize("name", ["ba0a209", "5738017", "69b86f0", "4c06102"])
def test_a_captured_table_gives_all_its_machines(name: str, shared: Path):
    """One row for each machine with chips in each region, and the row gate takes them all."""
    body = (shared / SAMPLES / f"lambda/skypilot_lambda_vms_{name}.csv").read_bytes()
    found = SOURCE.parse(document("lambda", body))
    accepted, refused = row_gate(found.rows)

    assert len(accepted) == body.count(b"\ngpu_")
    assert not refused
    assert accepted.n_unique([*IDENTITY]) == len(accepted)
    assert found.ignored["without accelerators"] == body.count(b"\ncpu_")


HARMS = {
    "nothing": "", "a page": "<!DOCTYPE html>\n<html></html>\n", "a header alone": HEADER, "null": "null\n",
    "a cut line": LAMBDA[:-2], "half of it": LAMBDA[: len(LAMBDA) // 2], "no UTF-8": LAMBDA.encode("utf-16"),
    "a column more": LAMBDA.replace("SpotPrice", "SpotPrice,Discount"),
    "a cell more": LAMBDA.replace("1.48,", "1.48,2,"), "a cell less": LAMBDA.replace(",1.48", ""),
    "a negative price": LAMBDA.replace("1.48", "-1.48"), "words for a price": LAMBDA.replace("1.48", "Contact us"),
    "a currency sign": LAMBDA.replace("1.48", "$1.48"), "another GpuInfo": LAMBDA.replace("'Gpus'", "'Chips'"),
    "two chips in GpuInfo": LAMBDA.replace("}}], ", "}}, {'Name': 'A10', 'Count': 1.0}], "),
    "a stray quote": LAMBDA.replace("us-west-2", '"us-west-2"x'),
    "a cut price": HEADER + line("gpu_1x_a10", "A10", "1.0", "1.29", spot="0.85")[:-2],
    "a count without a chip": LAMBDA.replace(",H100,8.0", ",,8.0"),
    "a chip without a count": LAMBDA.replace(",H100,8.0", ",H100,"),
    "no name of a machine": LAMBDA.replace("gpu_8x_h100_sxm5", ""),
    "spot prices above": HEADER + line("gpu_1x_a10", "A10", "1.0", "0.5", spot="1.29"),
    "prices of zero": HEADER + line("gpu_1x_a10", "A10", "1.0", "0.0"),
    "a column twice": LAMBDA.replace("vCPUs", "Price"),
} | {f"{name} renamed": LAMBDA.replace(name, "Zzz", 1) for name in
     ("InstanceType", "AcceleratorName", "AcceleratorCount", "Price", "Region", "SpotPrice", "GpuInfo")}  # fmt: skip


@pytest.mark.parametrize("harm", HARMS)
def test_another_table_is_refused(harm: str):
    """Never a row of a table that is cut short, or has other columns or cells; the error says which."""
    with pytest.raises(LayoutChanged) as raised:
        read("lambda", HARMS[harm])
    assert raised.value.source == SOURCE.name
    assert raised.value.field


def test_harmless_changes_change_nothing():
    """Order of lines and columns, ends of lines, spaces in GpuInfo, an unknown chip beside the others."""
    expected = read("lambda", LAMBDA)
    table = [text.partition(",")[::2] for text in LAMBDA.replace("'Count': ", "'Count':").splitlines()]
    header, first = table[0]
    moved = "\r\n".join(f"{rest},{name}" for name, rest in [(header, first), *reversed(table[1:])]) + "\r\n"

    assert sorted(read("lambda", moved), key=str) == sorted(expected, key=str)
    new = line("gpu_1x_z900", "Z900", "1.0", "9.99")
    assert [row["accelerator_label"] for row in read("lambda", LAMBDA + new)][-1] == "Z900"


def test_no_edit_makes_a_row_up():
    """Lines and cells dropped, doubled, moved and emptied at random: what still comes out was there before."""
    expected = {tuple(sorted(row.items())) for row in read("lambda", LAMBDA)}
    rng = random.Random(20261121)  # noqa: S311 - edits are no secrets
    read_whole = refused = 0
    for _ in range(400):
        lines = [text.split(",") for text in LAMBDA.splitlines()]
        one, other = rng.sample(range(1, len(lines)), 2)
        cell = rng.randrange(9)
        match rng.randrange(6):
            case 0:
                del lines[one]
            case 1:
                lines.append(lines[one])
            case 2:
                lines[one], lines[other] = lines[other], lines[one]
            case 3:
                del lines[one][cell]
            case 4:
                lines[one].insert(cell, lines[one][cell])
            case 5:
                lines[one][2:3] = [lines[other][2]]
        try:
            found = read("lambda", "\n".join(",".join(cells) for cells in lines) + "\n")
        except LayoutChanged:
            refused += 1
            continue
        assert {tuple(sorted(row.items())) for row in found} <= expected
        read_whole += 1
    assert read_whole > 100
    assert refused > 100


def test_only_known_catalogues_are_read():
    """Another provider's table has habits that nobody looked at."""
    with pytest.raises(SourceError, match="no such scope"):
        SOURCE.parse(replace(document("lambda", LAMBDA), scope="mithril"))


def test_amounts_are_exact():
    """No price goes through binary fractions."""
    found = one("lambda", line("gpu_1x_a10", "A10", "1.0", "0.1000000001"))
    assert Decimal(found["unit_price"]) == Decimal("0.1000000001")
