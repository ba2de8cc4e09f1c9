"""The resolver of chip names: a text names the chip it says, whole or in part, or none; it is never guessed."""

import re
import string
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warehouse.errors import ChipledgerError
from warehouse.reference import accelerators, instance_types
from warehouse.reference.accelerators import BRANDS, FORM_FACTORS, PLAIN_WORDS, VENDORS, Chip, normalised, resolve

ONE = Decimal(1)

CHIPS = [
    # text, name, form factor, memory, share
    ("8x H100", "H100", None, None, "1"),
    ("H100 x 8", "H100", None, None, "1"),
    ("8xH100", "H100", None, None, "1"),
    ("H100 GPU - 8X", "H100", None, None, "1"),
    ("gpu_8x_h100_sxm5", "H100", "SXM", None, "1"),
    ("H100_sxm5x8", "H100", "SXM", None, "1"),
    ("1x H100 SXM5 80GB", "H100", "SXM", "80", "1"),
    ("h100-sxm5-80gb", "H100", "SXM", "80", "1"),
    ("H100-SXM-2-80G", "H100", "SXM", "80", "1"),
    ("NVIDIA H100 80GB HBM3", "H100", "SXM", "80", "1"),
    ("NVIDIA\u00ae H100(TM) (80 GiB)", "H100", None, "80", "1"),
    ("HGX H100", "H100", "SXM", None, "1"),
    ("H100_PCIE_BAREMETAL", "H100", "PCIe", None, "1"),
    ("NVIDIA H100 NVLink", "H100", None, None, "1"),
    ("H100 NVL", "H100", "NVL", None, "1"),
    ("H100-NVL-94GB", "H100", "NVL", "94", "1"),
    ("gpu_2x_h100_nvl_nvlink", "H100", "NVL", None, "1"),
    ("gpu-h100x8-640gb", "H100", None, "80", "1"),  # of all eight together
    ("gpu-mi300x8-1536gb", "MI300X", None, "192", "1"),
    ("GH200", "GH200", None, None, "1"),
    ("NVIDIA GH200 480GB", "GH200", None, None, "1"),  # the driver's name: the memory is the CPU's
    ("GH200 480GB", "GH200", None, None, "1"),
    ("NVIDIA GH200 Grace Hopper Superchip 144GB", "GH200", None, "144", "1"),
    ("h200 143GB", "H200", None, "143", "1"),
    ("H200 140GB", "H200", None, "140", "1"),  # 143771 MiB of the driver, in GiB
    ("H200 NVL (141GB) NVLink", "H200", "NVL", "141", "1"),
    ("GB300", "GB300", None, None, "1"),
    ("B300 SXM6 AC", "B300", "SXM", None, "1"),
    ("1x B300 CC SXM6 268GB", "B300", "SXM", "268", "1"),
    ("8x B300 SXM6 262GB", "B300", "SXM", "262", "1"),
    ("B300 263GB", "B300", None, "263", "1"),  # 268800 MiB of Verda's machines of two and four, 268288 of one
    ("H100 NVL 93GB", "H100", "NVL", "93", "1"),  # 95830 MiB, rounded down
    ("L4 23GB", "L4", None, "23", "1"),  # 23034 MiB, rounded up
    ("K80 11GB", "K80", None, "11", "1"),  # 11441 MiB
    ("B300-SXM-8-288G", "B300", "SXM", "288", "1"),
    ("B200 180GB", "B200", None, "180", "1"),
    ("H200 141GB (form unstated)", "H200", None, "141", "1"),  # of a public history: toolshedlabs-hash/gpu-price-feed
    ("B200 192GB", "B200", None, "192", "1"),
    ("GB200 NVL72", "GB200", "NVL72", None, "1"),
    ("GB200 (Grace-Blackwell)", "GB200", None, None, "1"),
    ("L40S", "L40S", None, None, "1"),
    ("L40s 48GB", "L40S", None, "48", "1"),
    ("L40S 45GB", "L40S", None, "45", "1"),  # with error correction: 46068 MiB
    ("NVIDIA A40 45GB", "A40", None, "45", "1"),
    ("RTX 6000Ada 45GB", "RTX-6000-Ada", None, "45", "1"),
    ("GB200 185GB", "GB200", None, "185", "1"),  # 189471 MiB of the driver, in GiB
    ("GB300 278GB", "GB300", None, "278", "1"),  # 284208 MiB
    ("A100 SXM4 79GB", "A100-80GB", "SXM", "79", "1"),  # 81251 MiB
    ("A100 SXM4 39GB", "A100-40GB", "SXM", "39", "1"),  # 39936 MiB at Vast in October 2026
    ("A10G 22GB", "A10G", None, "22", "1"),  # 22888 MiB of EC2's API, 22731 of the driver
    ("RTXA6000 47GB", "RTX-A6000", None, "47", "1"),  # 48384 MiB of Seeweb's
    ("L4 22GB", "L4", None, "22", "1"),
    ("Tesla T4 15GB", "T4", None, "15", "1"),
    ("NVIDIA L40S with Intel CPU", "L40S", None, None, "1"),
    ("L40", "L40", None, None, "1"),
    ("H800", "H800", None, None, "1"),
    ("A800 SXM4 80GB", "A800", "SXM", "80", "1"),
    ("Tesla P40", "P40", None, None, "1"),
    ("L4-1-24G", "L4", None, "24", "1"),
    ("A100", "A100", None, None, "1"),
    ("A100 40", "A100-40GB", None, "40", "1"),
    ("a100-pcie-80", "A100-80GB", "PCIe", "80", "1"),
    ("A100-80Gx8", "A100-80GB", None, "80", "1"),
    ("A100_40GB_SXM_8x", "A100-40GB", "SXM", "40", "1"),
    ("A100-80GB gpu_8x_a100_80gb_sxm4", "A100-80GB", "SXM", "80", "1"),
    ("A10 (24 GB)", "A10", None, "24", "1"),
    ("A10G", "A10G", None, None, "1"),
    ("T4G", "T4G", None, None, "1"),
    ("Tesla V100-SXM2-16GB", "V100", "SXM", "16", "1"),
    ("V100 32G PCIe", "V100", "PCIe", "32", "1"),
    ("V100S", "V100S", None, None, "1"),
    ("AMD Instinct MI300X OAM", "MI300X", "OAM", None, "1"),
    ("amd_mi300x", "MI300X", None, None, "1"),
    ("AMD Instinct MI300X-NPS1-SPX-192GB-750W", "MI300X", None, "192", "1"),  # of MLPerf Inference v4.1
    ("NVIDIA H100-SXM5-80GB (700W TDP)", "H100", "SXM", "80", "1"),
    ("NVIDIA  RTX A4500", "RTX-A4500", None, None, "1"),
    ("NVIDIA A6000", "RTX-A6000", None, None, "1"),
    ("n3-RTX-A4000x10", "RTX-A4000", None, None, "1"),
    ("RTX 6000 (Turing)", "RTX-6000", None, None, "1"),
    ("NVIDIA Quadro RTX 6000", "RTX-6000", None, None, "1"),
    ("RTX 6000Ada", "RTX-6000-Ada", None, None, "1"),
    ("NVIDIA RTX 6000 Ada Generation", "RTX-6000-Ada", None, None, "1"),
    ("RTX PRO 6000 WS", "RTX-PRO-6000", "Workstation", None, "1"),
    ("RTXPRO6000WS", "RTX-PRO-6000", "Workstation", None, "1"),
    ("RTX PRO 6000 S 96GB", "RTX-PRO-6000", "Server", "96", "1"),
    ("RTX 6000 Pro (Blackwell)", "RTX-PRO-6000", None, None, "1"),
    ("nvidia pro6000se 96Gi PCIe", "RTX-PRO-6000", "Server", "96", "1"),
    ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "RTX-PRO-6000", "Max-Q", None, "1"),
    ("RTX 5000", "RTX-5000", None, None, "1"),
    ("RTX A5000", "RTX-A5000", None, None, "1"),
    ("rtx5000ada pcie 32gb", "RTX-5000-Ada", "PCIe", "32", "1"),
    ("RTX PRO 5000", "RTX-PRO-5000", None, None, "1"),
    ("NVIDIA RTX 4000 SFF Ada Generation", "RTX-4000-Ada", "SFF", None, "1"),
    ("gpu-4000adax1-20gb", "RTX-4000-Ada", None, "20", "1"),
    ("geforcertx3070ti pcie 8gb", "RTX-3070-Ti", "PCIe", "8", "1"),
    ("RTX 4070S Ti", "RTX-4070-Ti-SUPER", None, None, "1"),
    ("GAUDI2", "Gaudi2", None, None, "1"),
    ("AWS Trainium2", "Trainium2", None, None, "1"),
    ("TPU v6e (Trillium)", "TPU-v6e", None, None, "1"),
    # slices, and memories that no whole chip has
    ("RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb", "RTX-PRO-6000", "Server", "24", "0.25"),
    ("PRO 6000 MIG 48GB", "RTX-PRO-6000", None, "48", "0.5"),
    ("RTX PRO 6000 MIG 4g.96gb", "RTX-PRO-6000", None, "96", "1"),
    ("NVIDIA A100-SXM4-80GB MIG 1g.10gb", "A100-80GB", "SXM", "10", "0.125"),
    ("A100 80GB MIG 40GB", "A100-80GB", None, "40", "0.5"),
    ("A100 MIG 3g.40gb", "A100", None, "40", None),  # of 40 or of 80
    ("H100 MIG 1g.10gb", "H100", None, "10", None),  # of 80 or of 94
    ("H100 80GB MIG", "H100", None, None, None),
    ("B300 MIG", "B300", None, None, None),
    ("A100 4 GB", "A100", None, "4", None),
    ("A100 64GB", "A100", None, "64", None),
    ("vcg-a100-1c-6g-4vram", "A100", None, "4", None),
    ("L40S 24GB", "L40S", None, "24", None),
    ("V100 24GB", "V100", None, "24", None),  # sold with 16 or 32
    ("P100 12GB", "P100", None, "12", None),  # another product than that of 16
]

SIGNS = [
    # signs between words that say something: a part of a chip, and what an import read in other words
    ("1/2 L40S", "L40S", None, None, "0.5"),
    ("\u00bd L40S", "L40S", None, None, "0.5"),
    ("A100 80GB 1/8", "A100-80GB", None, "80", "0.125"),
    ("2/3 L40S", "L40S", None, None, None),  # four decimals do not hold it
    ("4/2 L40S", "L40S", None, None, None),
    ("H100-SXM [NVIDIA H100 SXM 80 GB 208 1800 GiB 22 TiB SSD]", "H100", "SXM", None, "1"),  # what an import writes
]

NO_CHIPS = [
    *("", " ", "unknown", "CPU NODE", "AMD EPYC Genoa", "cpu_4x_general", "CPU.120V.480G", "Basic"),
    *("NVIDIA", "GeForce RTX", "RTX 9999", "A1000", "RTX A1000", "R100", "Trainium", "Gaudi", "MI300"),
    *("H100X", "H100C", "H1000", "A100X", "A100 0", "GH100", "AH100", "xH100", "H 100", "L4S", "L400", "B2000"),
    *("H100 / H200", "A100 H100", "RTX 4090 RTX 3090", "A10 or A100", "GB200 B200"),
    *("GB200 Superchip", "NVIDIA GB300 Superchip"),  # two chips
    *("RTX PRO 6000s", "H100 S", "RTX PRO 6000 S Max"),
    *("H100 Lite", "H100 (refurbished)", "RTX 3080 Laptop", "RTX 2080 with Max-Q Design", "H100\u00e9", "H100\u0301"),
    *("MI300X-NPS4-CPX", "NVIDIA H200-SXM-141GB-CTS"),  # an eighth of a chip, and one with more power than is sold
    *("AMD H100", "Intel H100", "NVIDIA MI300X", "H100 Blackwell", "RTX 6000 Blackwell"),
    *("L4 SXM", "A100 NVL", "H100 NVL72", "H100 SXM PCIe", "HGX GB200", "B200 PCIe", "H100 Server Edition"),
    *("RTX 6000 48GB", "RTX 4000 20GB", "A10 80GB", "H100 96GB", "GH200 500GB", "A100 40GB 80GB", "A100 78"),
    *("4x A100 320GB", "PRO 6000 MIG 128GB", "H100 MIG 1g.10gb 2g.20gb", "H100 80GB RAM", "H100 79.6"),
    *("1x-Tesla_V100-32-65536", "H100_668d6762247d03149a4c946f_newyork-usa-1", "gpu-h200-sxm|1gpu-16vcpu-200gb"),
]

LABELS = [
    # provider, text, name, form factor, memory, share
    ("hyperstack", "NVIDIA H100 NVLink", "H100", "PCIe", None, "1"),
    ("Hyperstack", "n3-H100x8-NVLink", "H100", "PCIe", None, "1"),
    ("hyperstack", "NVIDIA H100", "H100", "PCIe", None, "1"),
    ("hyperstack", "NVIDIA H100 SXM", "H100", "SXM", None, "1"),
    ("hyperstack", "NVIDIA A100 NVLink", "A100-80GB", "PCIe", None, "1"),
    ("hyperstack", "A100 40GB", "A100-40GB", None, "40", "1"),
    ("hyperstack", "NVIDIA A100 SXM", "A100-80GB", "SXM", None, "1"),
    ("digitalocean", "NVIDIA RTX 4000", "RTX-4000-Ada", None, None, "1"),
    ("DigitalOcean", "NVIDIA RTX 6000 48GB", "RTX-6000-Ada", None, "48", "1"),
    ("digitalocean", "RTX 6000 24GB", "RTX-6000", None, "24", "1"),
    ("digitalocean", "RTX 4000 (Turing)", "RTX-4000", None, None, "1"),
    ("verda", "RTX 6000", "RTX-6000", None, None, "1"),
    ("hyperstack", "H100 MIG 1g.10gb", "H100", None, "10", None),
    ("scaleway", "H100-1-80G", "H100", "PCIe", "80", "1"),
    ("Oracle Cloud", "NVIDIA H100", "H100", "SXM", None, "1"),
    ("Oracle Cloud", "NVIDIA H200", "H200", "SXM", None, "1"),
    ("Oracle Cloud", "NVIDIA A100 80GB", "A100-80GB", None, "80", "1"),
    ("scaleway", "H100-SXM-2-80G", "H100", "SXM", "80", "1"),
    ("lambda", "H100-1-80G", "H100", None, "80", "1"),
    ("spheron", "H100_NVL", "H100", None, None, "1"),
    ("runpod", "NVIDIA H200", "H200", "SXM", None, "1"),
    ("runpod", "H200 NVL", "H200", "NVL", None, "1"),
    ("runpod", "A100 SXM", "A100-80GB", "SXM", None, "1"),
    ("runpod", "A100 SXM 40GB", "A100-40GB", "SXM", "40", "1"),
    ("runpod", "NVIDIA H100 80GB HBM3", "H100", "SXM", "80", "1"),
    ("shadeform", "GH200 96GB pcie", "GH200", None, "96", "1"),
    ("shadeform", "GAUDI2 96GB pcie", "Gaudi2", None, "96", "1"),
    ("verda", "12x GB300 SXM6 288GB instant cluster", "GB300", None, "288", "1"),
    ("vultr", "vcg-a100-1c-6g-4vram", "A100-80GB", None, "4", "0.05"),
    ("vultr", "NVIDIA_A100 4GB", "A100-80GB", None, "4", "0.05"),
    ("vultr", "vcg-a100-6c-60g-40vram", "A100-80GB", None, "40", "0.5"),
    ("vultr", "vcg-a100-12c-120g-80vram", "A100-80GB", None, "80", "1"),
    ("vultr", "vcg-a100-24c-240g-160vram", "A100-80GB", None, "80", "1"),
    ("vultr", "NVIDIA_A100", "A100-80GB", None, None, None),
    ("vultr", "vcg-a40-1c-5g-2vram", "A40", None, "2", None),  # a 24th, which four decimals cannot hold
    ("vultr", "vcg-l40s-8c-90g-24vram", "L40S", None, "24", None),
    ("vultr", "vbm-24c-256gb-4-a100-gpu", "A100-80GB", None, None, "1"),
    ("vultr", "vbm-112c-2048gb-8-h100-gpu", "H100", None, None, "1"),
]

HEADER = ",".join(accelerators.Accelerator._fields)
ROW = "H100,NVIDIA,gpu,h100,80;94,SXM;PCIe,Hopper,https://example.com/h100,2026-11-21"
LABEL_HEADER = ",".join(accelerators.Label._fields)
LABEL_MODEL = accelerators.labels_of(accelerators.Vocabulary(accelerators.read_table()))
LABEL_ROW = "hyperstack,H100 NVLink,H100,PCIe,,of PCIe with bridges,https://example.com/h100,2026-11-21"


def told(chip: Chip | None) -> tuple[str | None, ...]:
    """Return an answer as the tables above write it."""
    assert chip is not None
    memory, share = chip.accelerator_memory_gib, chip.accelerator_share
    sizes = (None if size is None else str(size) for size in (memory, share))
    return chip.accelerator_name, chip.form_factor, *sizes


@pytest.mark.parametrize(("text", "name", "form", "memory", "share"), CHIPS, ids=[row[0] for row in CHIPS])
def test_a_text_names_its_chip(text: str, name: str, form: str | None, memory: str | None, share: str | None) -> None:
    assert told(resolve(text)) == (name, form, memory, share)


@pytest.mark.parametrize(("text", "name", "form_factor", "memory", "share"), SIGNS)
def test_a_fraction_and_a_bracket_are_no_separators(
    text: str, name: str, form_factor: str | None, memory: str | None, share: str | None
) -> None:
    """1/2 L40S is half a chip, and 1-2-L40S is not; a fraction that is none, or is not exact, has no size."""
    chip = resolve(text)
    assert chip is not None
    found = (chip.accelerator_name, chip.form_factor, chip.accelerator_memory_gib, chip.accelerator_share)
    assert found == (name, form_factor, memory and Decimal(memory), share and Decimal(share))


@pytest.mark.parametrize("text", NO_CHIPS)
def test_what_is_not_certain_is_none(text: str) -> None:
    assert resolve(text) is None


@pytest.mark.parametrize(("provider", "text", "name", "form", "memory", "share"), LABELS)
def test_a_provider_means_what_its_own_facts_say(
    provider: str, text: str, name: str, form: str | None, memory: str | None, share: str | None
) -> None:
    assert told(resolve(text, provider)) == (name, form, memory, share)


def test_a_part_that_is_no_multiple_is_none() -> None:
    assert resolve("vcg-a100-12c-120g-100vram", "vultr") is None


@given(
    st.sampled_from([row[0] for row in CHIPS]),
    st.lists(
        st.sampled_from([" ", "  ", "-", "_", "/", " - ", ", ", "\t", "(", "__", "\u2013"]), min_size=12, max_size=12
    ),
    st.lists(st.booleans(), min_size=60, max_size=60),
)
def test_case_and_separators_change_nothing(text: str, separators: list[str], upper: list[bool]) -> None:
    words = normalised(text).split(" ")
    other = separators[-1] + "".join(
        word + separator for word, separator in zip(words, [*separators, *separators], strict=False)
    )
    other = "".join(
        letter.upper() if up else letter.lower() for letter, up in zip(other, [*upper, *upper], strict=False)
    )
    # A slash between numbers says which part it is: L4/1 may be no whole L4.
    assert resolve(re.sub(r"(?<=\d)/(?=\d)", "-", other)) == resolve(text)


@given(
    st.sampled_from(accelerators.read_table()),
    st.data(),
    st.text(string.ascii_letters + "\u00e9\u0416", min_size=1, max_size=3)
    | st.sampled_from([*PLAIN_WORDS, *VENDORS, *BRANDS, "nvlink", "mig", "hbm3", "laptop", "mobile", "lite", "D", "H"]),
)
def test_an_unknown_suffix_never_names_the_shorter_chip(
    accelerator: accelerators.Accelerator, data: st.DataObject, suffix: str
) -> None:
    spelling = data.draw(st.sampled_from(accelerator.spellings))
    known = {word for words in FORM_FACTORS.values() for word in words}
    chip = resolve(spelling + suffix)
    assert suffix.lower() in known or chip is None or chip.accelerator_name != accelerator.accelerator_name


def test_each_spelling_names_its_own_chip() -> None:
    """No longer name swallows it, and no name of another chip is in it."""
    for accelerator in accelerators.read_table():
        for spelling in accelerator.spellings:
            memory = f" {accelerator.memory_gib[0]} GB" if accelerator.memory_gib else ""
            chip = resolve(spelling + memory)
            assert chip is not None, spelling
            assert (chip.accelerator_name, chip.accelerator_vendor, chip.accelerator_share) == (
                accelerator.accelerator_name,
                accelerator.accelerator_vendor,
                ONE,
            )


def test_the_vocabulary_holds_every_chip_of_the_instance_types_under_the_same_vendor_and_kind() -> None:
    vocabulary = {chip.accelerator_name: chip[:3] for chip in accelerators.read_table()}
    for fact in instance_types.read_table():
        expected = fact.accelerator_name, fact.accelerator_vendor, fact.accelerator_kind
        assert vocabulary[fact.accelerator_name] == expected
    assert accelerators.names() == tuple(sorted(vocabulary))


def test_memories_and_shares_of_instance_types_divide_whole_chips() -> None:
    """A type with part of a chip has that part of a memory the vocabulary knows; L4's 3 GiB are an eighth of 24."""
    wholes = {chip.accelerator_name: chip.memory_gib for chip in accelerators.read_table()}
    parts = [fact for fact in instance_types.read_table() if fact.accelerator_count < 1 and fact.accelerator_memory_gib]
    assert parts
    for fact in parts:
        assert fact.accelerator_memory_gib is not None
        assert fact.accelerator_memory_gib / fact.accelerator_count in wholes[fact.accelerator_name], fact


def test_ten_thousand_labels_take_well_under_a_second() -> None:
    """Of the processor, and a second of it here, as whatever else runs slows that down too."""
    texts = [row[0] for row in CHIPS]
    started = time.process_time()
    for number in range(10_000):
        resolve(texts[number % len(texts)])
    assert time.process_time() - started < 1


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: str) -> Path:
        path = tmp_path / "table.csv"
        path.write_text("\n".join(lines) + "\n")
        return path

    return write


@pytest.mark.parametrize(
    ("rows", "field", "value"),
    [
        ([ROW, ROW], "accelerator_name", "H100"),
        ([ROW, ROW.replace("H100", "H100-80GB", 1).replace("80;94", "80")], "spellings", "h100"),
        ([ROW.replace("80;94", ""), ROW.replace("H100", "H101", 1).replace("80;94", "")], "spellings", "h100"),
        ([ROW.replace(",gpu,", ",toaster,")], "accelerator_kind", "toaster"),
        ([ROW.replace("h100,", "H100,")], "spellings", "H100"),
        ([ROW.replace(",h100,", ",,")], "spellings", ""),
        ([ROW.replace("80;94", "80;eighty")], "memory_gib", "80;eighty"),
        ([ROW.replace("80;94", "80;80")], "memory_gib", "80;80"),
        ([ROW.replace("80;94", "80;-1")], "memory_gib", "80;-1"),
        ([ROW.replace("80;94", "80;NaN")], "memory_gib", "80;NaN"),
        ([ROW.replace("SXM;PCIe", "SXM; PCIe")], "form_factors", "SXM; PCIe"),
        ([ROW.replace("SXM;PCIe", "SXM;Cube")], "form_factors", "SXM;Cube"),
        ([ROW.replace("https", "http")], "source_url", "http://example.com/h100"),
        ([ROW.replace("2026-11-21", "today")], "accessed_on", "today"),
    ],
)
def test_a_chip_that_is_not_usable_is_named(
    table: Callable[..., Path], rows: list[str], field: str, value: str
) -> None:
    with pytest.raises(ChipledgerError, match=f"line {len(rows) + 1}:") as caught:
        accelerators.read_table(table(HEADER, *rows))
    assert (field, value) == (caught.value.field, caught.value.value)


@pytest.mark.parametrize(
    ("rows", "field", "value"),
    [
        ([LABEL_ROW.replace(",H100,", ",H9000,")], "accelerator_name", "H9000"),
        ([LABEL_ROW.replace(",H100,PCIe,", ",H200,NVL,")], "accelerator_name", "H200"),
        ([LABEL_ROW.replace(",PCIe,", ",OAM,")], "form_factor", "OAM"),
        ([LABEL_ROW.replace(",,of", ",yes,of")], "is_sliced", "yes"),
        ([LABEL_ROW.replace(",,of", ",no,of")], "is_sliced", "no"),
        ([LABEL_ROW.replace("hyperstack", "Hyperstack")], "provider", "Hyperstack"),
        ([LABEL_ROW.replace("H100 NVLink", "the usual")], "label", "the usual"),
        ([LABEL_ROW, LABEL_ROW.replace("H100 NVLink", "8x NVIDIA H100-NVLink")], "label", "8x NVIDIA H100-NVLink"),
        ([LABEL_ROW.replace("of PCIe with bridges", "")], "note", ""),
        ([LABEL_ROW.replace("https", "http")], "source_url", "http://example.com/h100"),
    ],
)
def test_a_label_that_is_not_usable_is_named(
    table: Callable[..., Path], rows: list[str], field: str, value: str
) -> None:
    with pytest.raises(ChipledgerError, match=f"line {len(rows) + 1}:") as caught:
        LABEL_MODEL.read(table(LABEL_HEADER, *rows))
    assert (field, value) == (caught.value.field, caught.value.value)


def test_every_label_in_use_comes_from_the_table() -> None:
    labels = [accelerators.Label(**row) for row in LABEL_MODEL.read()]
    assert {label.provider for label in labels} >= {None, "hyperstack", "scaleway", "vultr"}
    assert all(label.accelerator_name in accelerators.names() for label in labels)
