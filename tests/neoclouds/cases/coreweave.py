"""CoreWeave's page, of two regions, with a machine that has no price and the section of CPU machines behind it."""

from extract.neoclouds import coreweave
from neoclouds.case import Case

REGION = "NORTH AMERICA"


def machine(
    name: str, gigabytes: int, count: int, *, on_demand: str = "", spot: str = "", single: str = ""
) -> list[dict[str, object]]:
    """Return the rows of one machine: those that have a price."""
    common = {"accelerator_label": f"{name} {gigabytes}GB", "region_id": REGION}
    whole = {"instance_type": name, "accelerator_count": str(count), "capacity_unit": "instance", "tier": None}
    one = {"instance_type": None, "accelerator_count": "1", "capacity_unit": "GPU", "tier": "Inference Single GPU"}
    return [
        *([common | whole | {"purchase_option": "on_demand", "unit_price": on_demand}] if on_demand else []),
        *([common | whole | {"purchase_option": "spot", "unit_price": spot}] if spot else []),
        *([common | one | {"purchase_option": "on_demand", "unit_price": single}] if single else []),
    ]


SAMPLE = [
    *machine("NVIDIA GB200 NVL72", 186, 4, on_demand="42", single="10.5"),
    *machine("NVIDIA HGX B300", 270, 8, spot="35.84"),
    *machine("NVIDIA HGX B200", 180, 8, on_demand="68.8", spot="34.11", single="8.6"),
    *machine(
        "NVIDIA RTX PRO 6000 Blackwell Server Edition", 96, 8, on_demand="20", spot="11.09", single="2.5"
    ),
    *machine("NVIDIA HGX H100", 80, 8, on_demand="49.24", spot="19.71", single="6.16"),
    *machine("NVIDIA HGX H200", 141, 8, on_demand="50.44", spot="20.93", single="6.31"),
    *machine("NVIDIA GH200", 96, 1, on_demand="6.5", single="6.5"),
    *machine("NVIDIA L40", 48, 8, on_demand="10", spot="6.27", single="1.25"),
    *machine("NVIDIA L40S", 48, 8, on_demand="18", spot="7.88", single="2.25"),
    *machine("NVIDIA A100", 80, 8, on_demand="21.6", spot="9.65", single="2.7"),
]  # fmt: skip

CASE = Case(
    source=coreweave.SOURCE,
    fixture="coreweave.html",
    origin=(
        "Figures of https://www.coreweave.com/pricing as captured in August 2026 in the test fixtures of "
        "getcomputable/gpu-index (Apache-2.0, commit 055204a), read on 2026-11-21"
    ),
    samples={"data/neocloud_samples/coreweave/pricing_na_2026-08.html": SAMPLE},
    renamed=(
        "On-demand GPU instances", "On-demand CPU instances", "REGION: ", "GPU Model", "GPU Count", "VRAM (GB)",
        ">VRAM<", "System RAM<br/>(GB)", "On-Demand Price (Per Hour)", "Spot Price (Per Hour)",
        "Inference Single GPU Price(Per Hour)", "On-Demand Price:", "Spot Price:", "Inference Single CPU Price:",
        "/ Hour", "NVIDIA HGX H100</h3></div>",
    ),
    inserted=(
        (
            "On-Demand Price (Per Hour)</div></div>",
            'On-Demand Price (Per Hour)</div></div><div class="table-v2-cell"><div>Reserved (Per Hour)</div></div>',
        ),
        ("Spot Price: ", 'Reserved Price: <span class="item-value">$9.00</span> / Hour</span><span>Spot Price: '),
        (
            '  <div class="table-v2-cell"><div>$42.00</div>',
            '  <div class="table-v2-cell"><div>$31.00</div></div><div class="table-v2-cell"><div>$42.00</div>',
        ),
    ),
    swapped=(
        ("On-demand GPU instances", "On-demand CPU instances"),
        ("On-Demand Price (Per Hour)", "Spot Price (Per Hour)"),
        ("On-Demand Price:", "Spot Price:"),
        ("GPU Count", "VRAM"),
        ("<div>$19.71</div>", "<div>$19.51</div>"),
        (">NVIDIA GB200 NVL72</h3></div>", ">NVIDIA HGX B300</h3></div>"),
    ),
    harmless=(
        ("table-v2-cell", "c17"),
        ("table-meta-value", "c18"),
        ("eyebrow", "c19"),
        ("\n", "\n\n   "),
        ('role="listitem" class="table-row-v2 w-dyn-item"', 'class="w-dyn-item" data-new="1" role="listitem"'),
        ("Inference Single CPU Price:", "Inference Single GPU Price:"),
        ("4^1", "4<sup>1</sup>"),
        ("<h2>Storage</h2><p>$0.06 per GB</p>", "<h2>Bare metal</h2><p>$9.00</p>"),
    ),
)  # fmt: skip
