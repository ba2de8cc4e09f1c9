"""What our small world knows of AWS's regions, machines and prices.

On-demand prices are those of the public price list on 2025-11-30 and of GetProducts in September 2026, and, before
2025-06-05, those that AWS lowered on that day. China's are of 2023-09-18. Of the reserved terms the amounts of
1 year standard No Upfront are AWS's; the discounts of the other eleven are invented.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

BEFORE_THE_CUT = "20250520163012"
AFTER_THE_CUT = "20250605190226"
CURRENT = "20261001200000"
CAPACITY_BLOCK_ONLY = "capacity block only"
"""Stands for the on-demand price of a type that has none."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A region as the price list names it; usage types carry its prefix."""

    location: str
    prefix: str
    kind: str = "AWS Region"


PLACES = {
    "us-east-1": Place(location="US East (N. Virginia)", prefix=""),
    "us-west-2": Place(location="US West (Oregon)", prefix="USW2-"),
    "eu-west-1": Place(location="EU (Ireland)", prefix="EU-"),
    "us-gov-west-1": Place(location="AWS GovCloud (US-West)", prefix="UGW1-"),
    "us-east-1-atl-1": Place(location="US East (Atlanta)", prefix="ATL1-", kind="AWS Local Zone"),
    "cn-north-1-pkx-1": Place(location="China (Beijing) 2", prefix="PKX1-"),  # in the global index, without machines
    "cn-north-1": Place(location="China (Beijing)", prefix="CNN1-"),
    "aws-cn-other": Place(location="AWS China (other)", prefix="CN-"),  # in China's index, without machines
}


def place_of(region: str) -> Place:
    """Return a region's place; an invented one for a region that we do not know, for worlds of any size."""
    return PLACES.get(region) or Place(location=f"Invented ({region})", prefix=f"{region.upper()}-")


@dataclass(frozen=True, kw_only=True)
class Machine:
    """What the price list says of an instance type, in its own words."""

    vcpu: int
    memory: str
    family: str
    gpu: str = ""
    gpu_memory: str = "NA"
    capacity_block: bool = False


_GPU, _ASIC = "GPU instance", "Machine Learning ASIC Instances"
MACHINES = {
    "p3.16xlarge": Machine(vcpu=64, memory="488 GiB", family=_GPU, gpu="8", gpu_memory="128 GB"),
    "p4d.24xlarge": Machine(
        vcpu=96, memory="1152 GiB", family=_GPU, gpu="8", gpu_memory="320 GB HBM2", capacity_block=True
    ),
    "p5.48xlarge": Machine(
        vcpu=192, memory="2048 GiB", family=_GPU, gpu="8", gpu_memory="640 GB HBM3", capacity_block=True
    ),
    "p5e.48xlarge": Machine(
        vcpu=192, memory="2048 GiB", family=_GPU, gpu="8", gpu_memory="1128 GB HBM3", capacity_block=True
    ),
    "p5en.48xlarge": Machine(
        vcpu=192, memory="2048 GiB", family=_GPU, gpu="8", gpu_memory="1128 GB HBM3", capacity_block=True
    ),
    "p6-b200.48xlarge": Machine(
        vcpu=192, memory="2048 GiB", family=_GPU, gpu="8", gpu_memory="1440 GB HBM3e", capacity_block=True
    ),
    "trn1.2xlarge": Machine(vcpu=8, memory="32 GiB", family=_ASIC, gpu="1", gpu_memory="32 GB"),
    "trn1.32xlarge": Machine(
        vcpu=128, memory="512 GiB", family=_ASIC, gpu="16", gpu_memory="512 GB", capacity_block=True
    ),
    "trn2.48xlarge": Machine(vcpu=192, memory="2048 GiB", family=_ASIC, capacity_block=True),
    "inf1.24xlarge": Machine(vcpu=96, memory="192 GiB", family=_ASIC, gpu="16"),
    "inf2.xlarge": Machine(vcpu=4, memory="16 GiB", family=_ASIC, gpu="1", gpu_memory="32 GB"),
    "inf2.48xlarge": Machine(vcpu=192, memory="768 GiB", family=_ASIC, gpu="12", gpu_memory="384 GB"),
    "g4dn.xlarge": Machine(vcpu=4, memory="16 GiB", family=_GPU, gpu="1", gpu_memory="16 GB"),
    "g4dn.2xlarge": Machine(vcpu=8, memory="32 GiB", family=_GPU, gpu="1", gpu_memory="16 GB"),
    "g4dn.metal": Machine(vcpu=96, memory="384 GiB", family=_GPU, gpu="8", gpu_memory="128 GB"),
    "g6.xlarge": Machine(vcpu=4, memory="16 GiB", family=_GPU, gpu="1", gpu_memory="24 GB"),
    "g6f.large": Machine(vcpu=2, memory="8 GiB", family=_GPU, gpu="0.125", gpu_memory="3 GB"),
    "m5.xlarge": Machine(vcpu=4, memory="16 GiB", family="General purpose"),
}

_US = {
    "p5.48xlarge": "55.04",
    "p5en.48xlarge": "63.296",
    "p6-b200.48xlarge": "113.9328",
    "trn1.2xlarge": "1.34375",
    "trn1.32xlarge": "21.50",
    "inf2.xlarge": "0.7582",
    "inf2.48xlarge": "12.98127",
    "g4dn.xlarge": "0.526",
    "g4dn.metal": "7.824",
    "g6.xlarge": "0.8048",
    "g6f.large": "0.2024",
    "m5.xlarge": "0.192",
}
PRICES: Mapping[str, Mapping[str, str]] = {
    "us-east-1": {**_US, "p4d.24xlarge": "21.957642", "p5e.48xlarge": CAPACITY_BLOCK_ONLY},
    "us-west-2": {
        **_US,
        "p4d.24xlarge": "21.95764",
        "trn2.48xlarge": CAPACITY_BLOCK_ONLY,
    },  # differs in the sixth place
    # Ireland lists no g6, p5 or trn1; its premium over Virginia differs by family: 1.08, 1.25, 1.115.
    "eu-west-1": {"p4d.24xlarge": "23.71569", "inf2.48xlarge": "16.22659", "m5.xlarge": "0.214"},
    "us-gov-west-1": {
        "p5.48xlarge": "66.048",
        "p4d.24xlarge": "26.3511",
        "g4dn.xlarge": "0.663",
        "g4dn.metal": "9.862",
        "g6.xlarge": "1.0144",
    },
    "us-east-1-atl-1": {"p5.48xlarge": "55.04", "p6-b200.48xlarge": "113.9328", "g4dn.2xlarge": "1.015"},
    "cn-north-1-pkx-1": {},
}
CHINA_PRICES_CNY: Mapping[str, Mapping[str, str]] = {
    "cn-north-1": {"p3.16xlarge": "288.627", "inf1.24xlarge": "47.342", "g4dn.xlarge": "5.223", "m5.xlarge": "2.026"},
    "aws-cn-other": {},
}
DEARER_BEFORE_THE_CUT: Mapping[str, Mapping[str, str]] = {
    "us-east-1": {"p5.48xlarge": "98.32", "p4d.24xlarge": "32.7726"},
    "us-west-2": {"p5.48xlarge": "98.32", "p4d.24xlarge": "32.7726"},
    "us-gov-west-1": {"p5.48xlarge": "117.984", "p4d.24xlarge": "39.33"},
}
NOT_YET_IN_2025 = ("p6-b200.48xlarge", "g6f.large")

# --- reserved terms: p5 and p6 have none

ONE_YEAR_STANDARD_NO_UPFRONT = {
    "p4d.24xlarge": {
        "us-east-1": "13.921094",
        "us-west-2": "13.921092",
        "us-gov-west-1": "16.706536",
    },
    "trn1.2xlarge": {"us-east-1": "0.82681", "us-west-2": "0.82681"},
    "trn1.32xlarge": {"us-east-1": "13.22895", "us-west-2": "13.22895"},
    "inf2.48xlarge": {"us-east-1": "8.1782", "us-west-2": "8.1782"},
    "g4dn.xlarge": {"us-east-1": "0.331", "us-west-2": "0.331", "us-gov-west-1": "0.418"},
    "g4dn.metal": {"us-east-1": "4.929", "us-west-2": "4.929"},
}


@dataclass(frozen=True)
class Reservation:
    """One of the twelve reserved terms: AWS's code, what it is, and the discount that our world gives."""

    code: str
    years: int
    payment: str
    offering_class: str
    discount: str

    @property
    def share_upfront(self) -> Decimal:
        """Return the part of the whole cost that is paid at the start."""
        return {"No Upfront": Decimal(0), "Partial Upfront": Decimal("0.5"), "All Upfront": Decimal(1)}[self.payment]


RESERVATIONS = (
    Reservation("4NA7Y494T4", 1, "No Upfront", "standard", "0.37"),
    Reservation("HU7G6KETJZ", 1, "Partial Upfront", "standard", "0.40"),
    Reservation("6QCMYABX3D", 1, "All Upfront", "standard", "0.41"),
    Reservation("BPH4J8HBKS", 3, "No Upfront", "standard", "0.56"),
    Reservation("38NPMPTW36", 3, "Partial Upfront", "standard", "0.59"),
    Reservation("NQ3QZPMQV9", 3, "All Upfront", "standard", "0.61"),
    Reservation("7NE97W5U4E", 1, "No Upfront", "convertible", "0.29"),
    Reservation("CUZHX8X6JH", 1, "Partial Upfront", "convertible", "0.32"),
    Reservation("VJWZNREJX2", 1, "All Upfront", "convertible", "0.33"),
    Reservation("Z2E3P23VKM", 3, "No Upfront", "convertible", "0.49"),
    Reservation("R5XV2EPZQZ", 3, "Partial Upfront", "convertible", "0.52"),
    Reservation("MZU6U2429S", 3, "All Upfront", "convertible", "0.53"),
)
