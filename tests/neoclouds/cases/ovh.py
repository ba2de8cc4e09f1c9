"""OVHcloud's order catalogue of its French subsidiary."""

from extract.neoclouds.ovh import SOURCE
from neoclouds.case import Case

CASE = Case(
    source=SOURCE,
    fixture="ovh.json",
    origin="the catalogue of FR on 2026-08-22, as getcomputable/gpu-index (Apache-2.0) tells of it in its tests: code, "
    "price, formattedPrice, GPU and tags of each machine; the amounts of the AI plan and the partner's are made up",
    renamed=(
        '"addons"', '"locale"', '"currencyCode"', '"subsidiary"', '"planCode"', '"pricings"', '"price"',
        '"formattedPrice"', '"blobs"', '"commercial"', '"technical"', '"gpu":', '"model"', '"number"', '"memory"',
        '"size"', '"os"', '"family"', '"EUR"', ".monthly.postpaid",
    ),
    inserted=(
        ('"formattedPrice"', '"discountedPrice": 1, "formattedPrice"'),
        ('"formattedPrice"', '"setupFee": 1, "formattedPrice"'),
    ),
    swapped=(("280000000", "194000000000"), ('"linux"', '"windows"'), ('"price"', '"tax"')),
    harmless=(
        ("\n", " "),
        ('"catalogId": 4242, ', ""),
        ('"cpu": {"cores": 30}, ', '"vrack": true, '),
        ('"intervalUnit": "hour"', '"intervalUnit": "none"'),
    ),
)  # fmt: skip
