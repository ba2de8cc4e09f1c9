"""What the providers answer that gpuhunt asks for us, and where.

Figures are those of gpuhunt's own tests (MPL-2.0): Daytona's rates of 2026-09-23, Seeweb's plans; CloudRift's are made
up.
"""

from typing import Any

DAYTONA: dict[str, Any] = {
    "currency": "USD",
    "gpus": [
        {"type": "H100", "onDemandPricePerHour": 3.95, "spotPricePerHour": 2.27},
        {"type": "RTX-PRO-6000", "onDemandPricePerHour": 3.03, "spotPricePerHour": 1.74},
    ],
    "resources": {
        "onDemand": {"vcpuPerHour": 0.0504, "memoryGiBPerHour": 0.0162, "diskGiBPerHour": 0.000108},
        "spot": {"vcpuPerHour": 0.03, "memoryGiBPerHour": 0.0093, "diskGiBPerHour": 0.000062},
    },
}
SEEWEB: dict[str, Any] = {
    "plans": [
        {
            "name": "ECS2GPU3", "cpu": "32", "ram": "245760", "disk": "2000", "gpu": "2", "gpu_label": "A100 80GB",
            "hourly_price": 1.98, "available": True, "available_regions": [{"location": "it-fr2"}],
        },
    ],
}  # fmt: skip
CLOUDRIFT: dict[str, Any] = {
    "data": {
        "instance_types": [
            {
                "brand_short": "RTX 4090",
                "variants": [
                    {
                        "name": "rtx49-8c-nr.2", "cost_per_hour": 78, "cpu_count": 16, "dram": 100 << 30,
                        "disk": 500 << 30, "gpu_count": 2, "vram": 24 << 30, "nodes_per_dc": {"us-east-nc-nr-1": 3},
                    },
                ],
            },
        ],
    },
}  # fmt: skip

PATHS = {"daytona": "/gpu-pricing", "seeweb": "/plans", "cloudrift": "/api/v1/instance-types/list"}
