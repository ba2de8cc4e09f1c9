"""Together's page: three tables of the same GPUs, one of them hidden, and cells that span columns."""

from extract.neoclouds import together
from neoclouds.case import Case

EACH = {"accelerator_count": "1", "capacity_unit": "GPU", "region_id": None, "statistic": "price"}
TERMS = (("7-30 days", 168), ("31-90 days", 744), ("91-180 days", 2184))


def cluster(chip: str, on_demand: str, *reserved: str) -> list[dict[str, object]]:
    """Return the rows of one GPU of clusters: on demand, then by term."""
    common = EACH | {"accelerator_label": f"NVIDIA {chip}"}
    on_demand_row = {"tier": "GPU Clusters", "purchase_option": "on_demand", "commitment_term_hours": None}
    return [
        common | on_demand_row | {"unit_price": on_demand},
        *(
            common
            | {"tier": f"GPU Clusters, {term}", "purchase_option": "reserved", "commitment_term_hours": hours}
            | {"unit_price": price}
            for (term, hours), price in zip(TERMS, reserved, strict=True)
        ),
    ]


def inference(chip: str, price: str) -> dict[str, object]:
    """Return the row of one GPU of dedicated inference."""
    how = {"tier": "Dedicated Inference", "purchase_option": "on_demand", "commitment_term_hours": None}
    return EACH | how | {"accelerator_label": f"NVIDIA {chip}", "unit_price": price}


CASE = Case(
    source=together.SOURCE,
    fixture="together.html",
    origin=(
        "Figures of https://www.together.ai/pricing as captured in August 2026 in the test fixtures of "
        "getcomputable/gpu-index (Apache-2.0, commit 055204a), read on 2026-11-21"
    ),
    samples={
        "data/neocloud_samples/together/pricing_2026-08.html": [
            *cluster("HGX B200", "8.19", "7.99", "7.79", "6.79"),
            *cluster("HGX H100", "3.99", "3.69", "3.45", "3.19"),
            *cluster("HGX H200", "5.99", "4.99", "4.15", "3.99"),
            inference("HGX H100", "5.49"),
            inference("HGX B200", "8.99"),
        ]
    },
    renamed=(
        "Dedicated Inference",
        ">GPU Clusters</h2>",
        "Hardware",
        "On-demand</p></div></div><div",
        "ON-Demand",
        "Reserved",
        "7-30 days",
        "31-90 days",
        "91-180 days",
        "181+ days",
        ">Pay as you go",
        "All prices per gpu per hour",
        "All prices are per GPU per hour.",
        "Contact us",
    ),
    inserted=(
        ("<th>", "<th>Per node</th><th>"),
        ('<p class="caption-m">181+ days</p>', '<p class="caption-m">181+ days</p><p class="caption-m">per node</p>'),
        ('<p data-batch="" class="body-m">$3.69</p>', '<p data-batch="" class="body-m">$3.69</p><p>$29.52</p>'),
        ("<td>", "<td>$1.00</td><td>"),
        (
            '<p class="h4">On-demand hourly',
            "<table><tr><th>Hardware</th><th>Monthly</th></tr></table><p>On-demand hourly",
        ),
    ),
    swapped=(
        (">Dedicated Inference</h2>", ">GPU Clusters</h2>"),
        (">Dedicated Inference</h2>", ">Serverless Inference</h2>"),
        ("7-30 days", "91-180 days"),
        ("ON-Demand", "Reserved"),
        ("Hourly", "ON-Demand"),
        ("$3.69", "$3.45"),
        ("$3.99", "$8.99"),
    ),
    harmless=(
        ("pricing_table", "c17"),
        ("is-right-border", "c18"),
        ('class="hide"', 'class="c19"'),
        (" $3.45", "&nbsp;$3.45 "),
        ("Code Sandbox", "Bare metal"),
        ("ON-Demand", "On-demand"),
        ('<div role="listitem" class="w-dyn-item"><tr', "<tr"),
        ("<td>", '<td data-new="1">'),
        ("\n", "\n\n   "),
    ),
)
