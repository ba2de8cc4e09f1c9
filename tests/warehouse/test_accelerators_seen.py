"""The resolver on every text that was seen: in the price history of the neoclouds, and in their captured answers."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from warehouse.reference.accelerators import Chip, resolve

OWN_WORDS = {"1x GB300 SXM6 288GB": "verda"}
"""Texts of the history that only what their provider means by them settles."""

UNREADABLE = {"V100 gpu_8x_v100_n": "the n of Lambda's instance type is a word that no page of Lambda explains"}

DIFFERENCES = {
    "the text says HGX or SXM; the history names no form of chips with one": """
        1x B200 SXM6 180GB | 1x B300 SXM6 268GB | B200 gpu_1x_b200_sxm6 | B200 gpu_2x_b200_sxm6
        B200 gpu_4x_b200_sxm6 | B200 gpu_8x_b200_sxm6 | NVIDIA HGX B200 | NVIDIA HGX B300""",
    "the text says NVL72, which the history leaves out": "GB200 NVL72 | NVIDIA GB200 NVL72",
    "the text says PCIe or SXM of a chip that the history does not divide": """
        v100-pcie | v100-sxm2 | geforcertx2060super pcie 8gb | geforcertx3070ti pcie 8gb | geforcertx5090 pcie 32gb
        rtx5000ada pcie 32gb | rtxa4000 pcie 16gb | rtxa5000 pcie 24gb""",
    "the edition is the form of an RTX PRO 6000: Server, Workstation and Max-Q are three cards": """
        rtx-pro-6000-maxq | rtx-pro-6000-server | rtx-pro-6000-wk | RTXPRO6000WS
        NVIDIA RTX PRO 6000 Blackwell Server Edition (High Memory)
        NVIDIA RTX PRO 6000 Blackwell Server Edition (Standard Memory)""",
    "SFF is the small card of the RTX 4000 Ada": "RTX 4000 Ada SFF",
    "a slice is its share of the chip, not another chip": "B300 MIG | PRO 6000 MIG 24GB | PRO 6000 MIG 48GB",
    "the RTX 5880 exists of the Ada generation only": "RTX5880-Ada",
    "Vast writes S for SUPER": "RTX 4070S Ti",
}
"""Why our answer differs from the history's own column, and the texts for which it does."""

FIELDS = frozenset(
    {
        *("gpu", "gpu_label", "gpu_type", "gpuType", "gpu_name", "gpu_model", "gpuModel", "baseGpuType", "displayName"),
        *("GPU", "GPU Model", "AcceleratorName", "Hardware", "model", "plan", "description"),
    }
)
"""Fields of JSON and CSV that name chips in some source, beside the ids and names of the sources below."""

IDS = {
    "lambda": {"InstanceType"},
    "runpod": {"id"},
    "shadeform": {"shade_instance_type", "cloud_instance_type"},
    "vultr": {"id"},
    "digitalocean": {"slug"},
    "coreweave": {"name"},
    "crusoe": {"name"},
    "verda": {"name", "instance_type"},
}

PAGES = {
    "coreweave/pricing_na_2026-08.html": r'class="table-model-name">([^<]+)',
    "crusoe/pricing_2026-08.html": r'class="pricing-item-heading">([^<]+)',
    "hyperstack/gpu-pricing_2026-10.html": r"<span>(NVIDIA [^<]+)",
    "lambda/pricing_2026-08.html": r'data-plan="([^"]+)"',
    "massedcompute/pricing_rsc_2026-08.html": r'\\"([^"\\]+)-mobile-x',
    "together/pricing_2026-08.html": r"<span>NVIDIA </span><span>([^<]+)",
    "hotaisle/pricing_2026-08.html": r">(MI\d+x)<",
    "nebius/prices_layout2_2026-08.escaped_json.txt": r'\[\\"((?:NVIDIA|AMD|Intel) [^"\\]+)',
    "verda/pricing_jsonld_2026-08.html": r'"name":"([^"]*)"',
}

NOT_CHIPS = {
    "words of machines without a chip": r"""
        cpu_4x_generalx? | CPU | CPU\ NODE | CPU\ Node | CPU-only\ row.* | AMD\ EPYC(\ Genoa)? | Intel\ Ice\ Lake
        | s-1vcpu-512mb-10gb | Basic | DEV1-S | CPU\.120V\.480G | Dedicated\ Hardware\ Instance | dynamic
        | \d+\ CPU | \d+GB\ (RAM|NVME|GPU\ RAM) | \ ?(on-demand|spot)? | General-purpose | Storage-optimized
        | (Persistent|Shared)\ disks | Container\ registry\ usage | Cluster\ pricing | Finland\ \d | Iceland\ \d
        | DeepSeek | GPT-OSS | Kimi\ K2\.6 | Llama | Nemotron\ 3\.5 | unknown | [0-9] | (FIN|ICE)-\d+
        | (?:[0-9a-f]+-){4}[0-9a-f]+""",
    "machine ids beside which the chip has a field of its own": r"""
        1H100\.80S\.30V | 1V100\.6V | 2A6000\.20V | gpu-h200-sxm\|.* | n2-A100x8-NVLink-v2 | gpu_8x_v100_n
        | H200_sxm5(x8_NVLINK)?_eu""",
    "no vendor calls a chip so": r"R100 | GPU-3070-S",
}
"""Patterns of texts in these fields that name no chip for certain, and why."""


def as_in_history(chip: Chip) -> str:
    return "-".join((chip.accelerator_name, chip.form_factor or "")).strip("-")


def plain(name: str) -> str:
    return re.sub(r"\W", "", name).upper()


def listed(texts: str) -> set[str]:
    return {text.strip() for line in texts.splitlines() for text in line.split("|")} - {""}


def test_every_chip_of_the_price_history_is_found_and_no_difference_is_unexplained(shared: Path) -> None:
    with (shared / "data" / "neocloud_history.csv").open(newline="") as lines:
        seen = {(row["gpu_raw"], row["gpu"]) for row in csv.DictReader(lines)}
    assert len(seen) == 219  # one name for each text, so that each is compared once
    found = {text: resolve(text, OWN_WORDS.get(text)) for text, _ in seen}
    assert {text for text, chip in found.items() if chip is None} == UNREADABLE.keys()
    different = {
        text for text, name in seen if (chip := found[text]) is not None and plain(as_in_history(chip)) != plain(name)
    }
    explained = [listed(texts) for texts in DIFFERENCES.values()]
    assert different == set().union(*explained)
    assert len(different) == sum(map(len, explained))
    unsized = {text for text, chip in found.items() if chip is not None and chip.accelerator_share is None}
    assert unsized == {"B300 MIG"}


def values(node: Any, fields: frozenset[str], key: str = "") -> Iterator[str]:
    """Yield the texts under these fields, and the keys of Scaleway's products, which are names."""
    if isinstance(node, dict):
        yield from node.get("servers", {})
        for name, value in node.items():
            yield from values(value, fields, name)
    elif isinstance(node, list):
        for value in node:
            yield from values(value, fields, key)
    elif isinstance(node, str) and key in fields:
        yield node


def texts_of(path: Path, fields: frozenset[str], pattern: str | None) -> set[str]:
    if pattern is not None:
        return set(re.findall(pattern, path.read_text()))
    if path.suffix == ".json":
        return set(values(json.loads(path.read_text()), fields))
    if path.suffix == ".csv":
        with path.open(newline="") as lines:
            return {row[field] for row in csv.DictReader(lines) for field in fields & row.keys()}
    return set()


def test_every_chip_of_the_captured_answers_is_found(shared: Path) -> None:
    samples = shared / "data" / "neocloud_samples"
    known = re.compile("|".join(NOT_CHIPS.values()), re.VERBOSE)
    chips: dict[tuple[str, str], Chip] = {}
    unread: dict[str, set[str]] = {}
    for path in sorted(samples.glob("*/*")):
        provider = path.parent.name
        fields = FIELDS | IDS.get(provider, set())
        for text in texts_of(path, fields, PAGES.get(f"{provider}/{path.name}")):
            chip = resolve(text, provider)
            if chip is not None:
                assert not known.fullmatch(text), text
                chips[provider, text] = chip
            elif not known.fullmatch(text):
                unread.setdefault(str(path.relative_to(samples)), set()).add(text)
    assert unread == {}
    assert len(chips) == 513
    # A share is missing where a provider sells parts of a chip under its name, and of a slice of unknown size.
    assert {key for key, chip in chips.items() if chip.accelerator_share is None} == {("vultr", "NVIDIA_A100")}


def test_every_chip_with_specifications_is_in_the_vocabulary(shared: Path) -> None:
    with (shared / "data" / "accelerator_specs.csv").open(newline="") as lines:
        specified = {row["accelerator"]: row["vendor"] for row in csv.DictReader(lines)}
    assert len(specified) > 25
    for text, vendor in specified.items():
        chip = resolve(text)
        assert chip is not None and chip.accelerator_vendor == vendor, text
