"""Spheron's offers, on two pages."""

import json

from extract.neoclouds.answers import PAGES
from extract.neoclouds.spheron import SOURCE
from neoclouds.case import Answer, Case


def answers(path: str) -> Answer:
    """Return one page of the fixture, as the API would give it."""
    number = int(path.split("page=")[1].split("&")[0])
    return json.dumps(json.loads(CASE.body)[PAGES][number - 1]).encode()


CASE = Case(
    source=SOURCE,
    fixture="spheron.json",
    origin=(
        "Offers of the Spheron catalogue of skypilot-org/skypilot-catalog (catalogs/v8/spheron/vms.csv, commit "
        "3898983) in the form that SkyPilot's fetcher reads; no answer of the API itself was at hand. Invented are the "
        "CPU machine, and what is unavailable or in maintenance"
    ),
    renamed=(
        "totalPages", "displayName", "offerId", "gpuCount", "gpu_memory", "instanceType", "clusters",
        "maintenance", "gpuType",
    ),
    inserted=(
        ('"data":', '"z_data":'),
        ('"total":', '"z_total":'),
        ('"offers":', '"z_offers":'),
        ('"provider":', '"z_provider":'),
        ('"price":', '"z_price":'),
        ('"available":', '"z_available":'),
        ('"DEDICATED"', '"RESERVED"'),
        ('"lowestPrice"', '"spotFloorPrice": 0.5, "lowestPrice"'),
        ('"vcpus"', '"hourlyRate": 0.5, "vcpus"'),
        ('"price": 2.0135', '"price": "2.0135"'),
        ('"price": 2.0135', '"price": -2.0135'),
        ('"gpuCount": 8', '"gpuCount": "8"'),
        ('"totalPages": 2', '"totalPages": 3'),
        ('"total": 5', '"total": 6'),
        ('"available": false', '"available": "no"'),
        ('"spot_price": 0.8015', '"spot_price": 8.8015'),
    ),
    swapped=(('"price"', '"spot_price"'), ('"displayName"', '"gpuCount"')),
    harmless=(
        ('"popularity"', '"isNew": true, "popularity"'),
        ('"os_options"', '"supportsCloudInit": true, "os_options"'),
        ("\n    ", "\n\t"),
        ('"lowestPrice": 0.96', '"lowestPrice": 0.01'),
    ),
    answers=answers,
)  # fmt: skip
