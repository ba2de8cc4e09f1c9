"""What our small EC2 knows: regions with their zones, machines, spot records and Capacity Blocks.

Machines are cut from a DescribeInstanceTypes capture of 2026. Spot and Capacity Block amounts are those observed on
2026-10-03 (us-east-2, ap-southeast-4, ap-south-2); the hours of the records, the names that zones have in this account,
and m5's record are invented.
"""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from standin.catalogue import sku_of

NOW = datetime(2026, 10, 3, 2, 19, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Zone:
    """One zone: its id, and the name that it has in this account, which another account has for another zone."""

    name: str
    zone_id: str
    kind: str = "availability-zone"


@dataclass(frozen=True, kw_only=True)
class Spot:
    """One record of a spot price; AWS writes one about daily, whether or not the price moved."""

    zone_id: str
    instance_type: str
    price: str
    at: datetime
    product: str = "Linux/UNIX"

    @property
    def series(self) -> tuple[str, str, str]:
        return (self.zone_id, self.instance_type, self.product)


@dataclass(frozen=True, kw_only=True)
class Block:
    """One offer of a Capacity Block: found by the hours that were asked for, paid for its minutes."""

    instance_type: str
    zone_id: str
    asked_hours: int
    minutes: int
    fee: str
    start: datetime
    count: int = 1
    ultraserver_type: str = ""
    currency: str = "USD"
    states_minutes: bool = True

    @property
    def end(self) -> datetime:
        return self.start + timedelta(minutes=self.minutes)

    @property
    def offering_id(self) -> str:
        """Return an id in AWS's form, the same for the same offer."""
        return "cb-0" + sku_of(self.instance_type, self.zone_id, str(self.start), str(self.minutes), self.fee).lower()


@dataclass(frozen=True, kw_only=True)
class Region:
    """One region; `offered` gives the zone ids of each type, `block_types` those that Capacity Blocks are sold of."""

    name: str
    zones: tuple[Zone, ...]
    machines: tuple[Mapping[str, object], ...] = ()
    offered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    spot: tuple[Spot, ...] = ()
    blocks: tuple[Block, ...] = ()
    block_types: tuple[str, ...] = ()
    opted_in: bool = True


@dataclass(kw_only=True)
class Cloud:
    """All regions, and how they answer; may be changed while the stand-in runs.

    `page_sizes` are the most items that the first, second, ... page holds, over and over; empty: as many as are asked
    for. `zone_ids_in_spot` is whether spot records carry zone ids, as they do since 2025. Of Capacity Blocks an account
    may ask `block_burst` times at once in each region, then `block_refill_per_s`, as a public client measured in 2026;
    a burst of 0 is an account without quota.
    """

    regions: dict[str, Region]
    now: datetime = NOW
    page_sizes: tuple[int, ...] = ()
    zone_ids_in_spot: bool = True
    ultraservers_authorized: bool = False
    block_burst: int = 2
    block_refill_per_s: float = 0.5
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def may_ask_for_blocks(self, region: str) -> bool:
        """Return whether the account may ask once more now; see `block_burst`."""
        with self._lock:
            now = time.monotonic()
            left, at = self._buckets.get(region, (float(self.block_burst), now))
            left = min(float(self.block_burst), left + (now - at) * self.block_refill_per_s)
            self._buckets[region] = (left - 1 if left >= 1 else left, now)
            return left >= 1

    def change(self, name: str, **fields: object) -> None:
        """Replace fields of a region, or add one."""
        region = self.regions.get(name) or Region(name=name, zones=())
        self.regions[name] = replace(region, **fields)  # type: ignore[arg-type]


# --- machines, as boto3 shows them


def machine(instance_type: str, *usage: str, **info: object) -> dict[str, object]:
    """Return a machine with what DescribeInstanceTypes says of its accelerators."""
    return {
        "InstanceType": instance_type,
        "CurrentGeneration": True,
        "SupportedUsageClasses": list(usage or ("on-demand", "spot")),
        "VCpuInfo": {"DefaultVCpus": 8},
        "MemoryInfo": {"SizeInMiB": 32768},
        **info,
    }


def gpus(name: str, count: int, mib: int, *, share: float = 1.0, manufacturer: str = "NVIDIA") -> dict[str, object]:
    """Return a GpuInfo; of a fraction the count is 0 and the share says how much of one it is."""
    gpu = {
        "Name": name,
        "Manufacturer": manufacturer,
        "Count": count,
        "LogicalGpuCount": count or 1,
        "GpuPartitionSize": share,
        "Workloads": ["ml-ai"],
        "MemoryInfo": {"SizeInMiB": mib},
    }
    return {"Gpus": [gpu], "TotalGpuMemoryInMiB": mib * (count or 1)}


def neuron(name: str, count: int, mib: int, *, cores: int, version: int) -> dict[str, object]:
    """Return a NeuronInfo."""
    device = {
        "Count": count,
        "Name": name,
        "CoreInfo": {"Count": cores, "Version": version},
        "MemoryInfo": {"SizeInMiB": mib},
    }
    return {"NeuronDevices": [device], "TotalNeuronDeviceMemoryInMiB": mib * count}


def inference(name: str, count: int, mib: int, manufacturer: str = "AWS") -> dict[str, object]:
    """Return an InferenceAcceleratorInfo, which inf1 and inf2 have beside a NeuronInfo."""
    accelerator = {"Count": count, "Name": name, "Manufacturer": manufacturer, "MemoryInfo": {"SizeInMiB": mib}}
    return {"Accelerators": [accelerator], "TotalInferenceMemoryInMiB": mib * count}


_BLOCK = ("capacity-block", "on-demand", "spot")
MACHINES: tuple[Mapping[str, object], ...] = (
    machine("m5.xlarge"),
    machine("g4dn.xlarge", GpuInfo=gpus("T4", 1, 16384)),
    machine("g6f.large", GpuInfo=gpus("L4", 0, 2861, share=0.125)),
    machine("p5.48xlarge", *_BLOCK, GpuInfo=gpus("H100", 8, 81920)),
    machine("p6-b200.48xlarge", *_BLOCK, GpuInfo=gpus("B200", 8, 183359)),
    machine("trn1.32xlarge", *_BLOCK, NeuronInfo=neuron("Trainium", 16, 32768, cores=2, version=2)),
    machine("trn1.2xlarge", NeuronInfo=neuron("Trainium", 1, 32768, cores=2, version=2)),
    machine("trn2.48xlarge", *_BLOCK, NeuronInfo=neuron("Trainium2", 16, 524288, cores=8, version=3)),
    machine("trn2.3xlarge", *_BLOCK, NeuronInfo=neuron("Trainium2", 1, 524288, cores=8, version=3)),
    machine("trn2u.48xlarge", "capacity-block", "on-demand"),
    machine(
        "inf2.48xlarge",
        NeuronInfo=neuron("Inferentia2", 12, 32768, cores=2, version=2),
        InferenceAcceleratorInfo=inference("Inferentia2", 12, 32768),
    ),
    machine("dl2q.24xlarge", InferenceAcceleratorInfo=inference("Qualcomm AI100", 8, 16000, "Qualcomm")),
    machine(
        "f2.6xlarge",
        FpgaInfo={
            "Fpgas": [
                {
                    "Name": "Virtex UltraScale+ (VU47P)",
                    "Manufacturer": "Xilinx",
                    "Count": 1,
                    "MemoryInfo": {"SizeInMiB": 81920},
                }
            ],
            "TotalFpgaMemoryInMiB": 81920,
        },
    ),
)

# --- the regions


def _zones(region: str, short: str, *letters_and_numbers: tuple[str, int]) -> tuple[Zone, ...]:
    return tuple(
        Zone(name=f"{region}{letter}", zone_id=f"{short}-az{number}") for letter, number in letters_and_numbers
    )


def _spot(zone_id: str, instance_type: str, *prices: str, product: str = "Linux/UNIX") -> tuple[Spot, ...]:
    """Return a series with a record a day, the last of which came two hours ago."""
    newest = NOW - timedelta(hours=2)
    days = range(len(prices) - 1, -1, -1)
    return tuple(
        Spot(zone_id=zone_id, instance_type=instance_type, price=price, product=product, at=newest - timedelta(days=d))
        for d, price in zip(days, prices, strict=True)
    )


def cloud() -> Cloud:
    """Return a cloud of five regions, one of which is not opted in; zone names and ids are in no order."""
    start = datetime(2026, 10, 3, 11, 30, tzinfo=UTC)
    regions = (
        Region(
            name="us-east-1",
            zones=(
                *_zones("us-east-1", "use1", ("a", 6), ("b", 1), ("c", 4)),
                Zone(name="us-east-1-atl-2a", zone_id="use1-atl2-az1", kind="local-zone"),
            ),
            machines=MACHINES,
            offered={"p5.48xlarge": ("use1-az6", "use1-az4"), "g4dn.xlarge": ("use1-az1",), "m5.xlarge": ("use1-az1",)},
            spot=(
                *_spot("use1-az1", "p5.48xlarge", "55.040000", "55.040000"),
                *_spot("use1-az6", "p5.48xlarge", "9.370000", "12.500000", "12.500000"),
                *_spot("use1-az6", "p5.48xlarge", "12.600000", product="Linux/UNIX (Amazon VPC)"),
                *_spot("use1-az6", "p5.48xlarge", "13.100000", product="Red Hat Enterprise Linux"),
                *_spot("use1-az1", "m5.xlarge", "0.071000"),
            ),
        ),
        Region(
            name="us-east-2",
            zones=_zones("us-east-2", "use2", ("a", 1), ("b", 2), ("c", 3)),
            machines=MACHINES,
            offered={
                "trn2.48xlarge": ("use2-az3",),
                "inf2.48xlarge": ("use2-az1", "use2-az2"),
                "trn1.2xlarge": ("use2-az3",),
            },
            spot=(
                *_spot("use2-az3", "trn2.48xlarge", "8.991400", "8.991400", "14.559300"),
                *_spot("use2-az3", "trn1.32xlarge", "2.150000", "2.150000"),
                *_spot("use2-az3", "trn1.2xlarge", "0.134400"),
                *_spot("use2-az1", "inf2.48xlarge", "1.298100"),
                *_spot("use2-az2", "inf2.48xlarge", "1.298100"),
            ),
            block_types=("trn2.48xlarge", "p5.48xlarge"),
        ),
        Region(
            name="ap-south-2",
            zones=_zones("ap-south-2", "aps2", ("b", 1), ("a", 2)),
            machines=MACHINES,
            offered={"trn2.48xlarge": ("aps2-az1",)},
            blocks=(
                # 8 h 37 min from now to the end of the day at 11:30: 35.7608 an hour.
                Block(
                    instance_type="trn2.48xlarge",
                    zone_id="aps2-az1",
                    asked_hours=24,
                    minutes=8 * 60 + 37,
                    fee="308.14",
                    start=start - timedelta(hours=8, minutes=37),
                ),
                Block(
                    instance_type="trn2.48xlarge",
                    zone_id="aps2-az1",
                    asked_hours=24,
                    minutes=24 * 60,
                    fee="858.26",
                    start=start,
                ),
            ),
            block_types=("trn2.48xlarge",),
        ),
        Region(
            name="ap-southeast-4",
            zones=_zones("ap-southeast-4", "apse4", ("c", 1), ("a", 2)),
            machines=MACHINES,
            offered={"trn2.3xlarge": ("apse4-az1",)},
            spot=_spot("apse4-az1", "trn2.3xlarge", "2.257900", "6.984600", "2.268700"),
        ),
        Region(name="me-south-1", zones=_zones("me-south-1", "mes1", ("a", 1)), machines=MACHINES, opted_in=False),
    )
    return Cloud(regions={region.name: region for region in regions})
