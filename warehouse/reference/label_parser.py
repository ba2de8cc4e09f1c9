"""The words of a label: what a text such as "8x NVIDIA H100_sxm5 (80 GB)" says, word for word, before it is judged.

Rules:

1. The vocabulary is closed. A text is read to its last letter, longest word first, and one word that is not known makes
   the whole of it unreadable: the X of "H100X" may be another chip, so no chip is named.
2. Case and separators do not matter; any run of spaces, hyphens, underscores and the like is one. A point between two
   digits is a decimal point.
3. Words are glued where price lists do so, and nowhere else: a brand to its chip (geforcertx3090), a form factor or a
   count to a chip or a memory (H100_sxm5x8, RTXPRO6000WS, A100-80Gx8), a count before a chip (8xH100).
4. Counts are read over: they have a column of their own. A bare number is a count up to 16 (H100-SXM-2-80G), above that
   it must be a memory the chip is sold with (a100-sxm-40), which the reader of the words decides.
"""

import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal
from typing import NamedTuple

FORM_FACTORS = {
    "SXM": ("sxm", "sxm2", "sxm3", "sxm4", "sxm5", "sxm6", "hgx"),
    "PCIe": ("pcie",),
    "NVL": ("nvl",),
    "NVL4": ("nvl4",),
    "NVL36": ("nvl36",),
    "NVL72": ("nvl72",),
    "OAM": ("oam",),
    "FHHL": ("fhhl",),
    "SFF": ("sff",),
    "Server": ("server", "server edition", "se"),
    "Workstation": ("workstation", "workstation edition", "ws", "wk", "we"),
    "Max-Q": ("max q",),
}
"""Form factors and how they are written. HGX is NVIDIA's baseboard of SXM modules, so it says SXM:
https://github.com/huataihuang/cloud-atlas/blob/master/source/machine_learning/hardware/nvidia_gpu/nvidia_sxm_socket.rst
NVLink is no form factor: it links PCIe cards as well.
"""

MORE_PRECISE: dict[str, tuple[str, ...]] = {
    "NVL": ("PCIe",),
    "FHHL": ("PCIe",),
    "SFF": ("PCIe",),
    "Server": ("PCIe",),
    "Workstation": ("PCIe",),
    "Max-Q": ("PCIe", "Workstation"),
}
"""Form factors that are kinds of others: an H100 NVL is a PCIe card, "Max-Q Workstation Edition" is the Max-Q one."""

VENDORS = {
    "nvidia": ("NVIDIA",),
    "amd": ("AMD", "Xilinx"),
    "xilinx": ("Xilinx",),
    "intel": ("Intel", "Habana"),
    "habana": ("Habana", "Intel"),
    "aws": ("AWS",),
    "amazon": ("AWS",),
    "google": ("Google",),
    "qualcomm": ("Qualcomm",),
}
"""Words for vendors and the vendors that each may mean: AMD bought Xilinx, Intel bought Habana."""

BRANDS = ("tesla", "quadro", "geforce", "instinct", "radeon", "dgx")
"""Product lines that change nothing about the chip. A DGX is a machine, and its first had PCIe kin: no form factor."""

PLAIN_WORDS = (
    *(
        "gpu",
        "gpus",
        "chip",
        "tensor core",
        "graphics card",
        "ai accelerator",
        "accelerator",
        "generation",
        "superchip",
    ),
    *("vram", "memory", "gpu ram", "gpu memory", "high memory", "standard memory", "low ram", "high performance"),
    *("instance", "vm", "virtual machine", "node", "cluster", "instant cluster", "dedicated", "cloud", "per gpu"),
    *("on demand", "spot", "preemptible", "reserved", "cc", "confidential computing", "ac", "air cooled", "lc"),
    *("ib", "infiniband", "ethernet", "roce", "with intel cpu", "with amd cpu", "n1", "n2", "n3"),
)
"""Words about the machine and its sale: cc is confidential computing, ac and lc are cooling by air and liquid, n3 is a
generation of Hyperstack's flavours. RAM alone is not among them: a memory beside it may be the machine's."""

LINK_WORDS = ("nvlink",)
SLICE_WORDS = ("mig", "vgpu")
WHOLE_WORDS = ("bare metal",)
MEMORY_TYPES = ("hbm2", "hbm2e", "hbm3", "hbm3e", "gddr6", "gddr7")

MACHINE_IDS = (
    (re.compile(r"vcg (?P<chip>.+) \d+c \d+g (?P<memory>\d+)vram"), "{chip} {memory}gb"),
    (re.compile(r"vbm \d+c \d+gb (?:\d+ )?(?P<chip>.+) gpu"), "bare metal {chip}"),
    (re.compile(r"rtx pro (?P<number>\d{4}) s(?P<rest>(?: \d+ ?gb)?)"), "rtx pro {number} server{rest}"),
)
"""Vultr's plan ids (https://api.vultr.com/v2/plans, /v2/plans-metal), in which most numbers are about the machine, and
Vast's name of the Server Edition, RTX PRO 6000 S: an S that stands alone says so there, and nowhere else."""

MARKS = re.compile(r"[®™©]|\((?:r|tm|c)\)", re.IGNORECASE)
SEPARATORS = re.compile(
    r"[\s!-\-/:-@\[-`{-~\u00b7\u2010-\u2015\u2022]+"
)  # punctuation of ASCII but the point, dashes and bullets
POINTS = re.compile(r"(?<!\d)\.|\.(?!\d)|(?<=[a-z])(?P<digits>\d+)\.")
SFF_ADA = re.compile(r"(?<=\d) ?sff ?ada\b")

COUNT = r"\d{1,4} ?x(?= |$|[a-z])|x ?\d{1,4}(?= |$)|\d{1,4} ?gpus?(?= |$)"
MEMORY = r"(?P<memory>\d+(?:\.\d+)?) ?g(?:b|i|ib)?(?= |$|x\d)"
PROFILE = r"\dg (?P<slice>\d+) ?gb(?= |$)"  # of MIG: 1g.24gb is one of the compute slices, with 24 GB
NUMBER = r"(?P<number>\d{1,4})(?= |$)"


class Words(NamedTuple):
    """What a text says: spellings without spaces, memories in GB as stated; `slices` are those of MIG profiles."""

    chips: frozenset[str]
    form_factors: frozenset[str]
    vendors: frozenset[str]
    architectures: frozenset[str]
    memories: frozenset[Decimal]
    slices: frozenset[Decimal]
    numbers: frozenset[Decimal]
    counts: frozenset[int]
    memory_types: frozenset[str]
    is_linked: bool
    is_slice: bool
    is_whole: bool


class Reader:
    """Reads texts with the spellings of chips and architectures of a table."""

    def __init__(self, spellings: Iterable[str], architectures: Iterable[str]) -> None:
        forms = {word: form for form, words in FORM_FACTORS.items() for word in words}
        glued = rf"(?= |$|x\d|(?:{_any(forms)})(?= |$|x\d))"
        # A count glued to a chip shares its x with MI300X: gpu-mi300x8-1536gb.
        shared = r"|(?<=x)(?=\d{1,2}(?: |$))"
        self._forms = {squeezed(word): form for word, form in forms.items()}
        self._pattern = re.compile(
            "|".join(
                (
                    rf"(?P<chip>{_any(spellings)})(?:{glued}{shared})",
                    rf"(?P<profile>{PROFILE})",
                    rf"(?P<count>{COUNT})",
                    MEMORY,
                    NUMBER,
                    rf"(?P<form>{_any(forms)})(?= |$|x\d)",
                    rf"(?P<architecture>{_any(architectures)})(?= |$)",
                    rf"(?P<link>{_any(LINK_WORDS)})(?= |$)",
                    rf"(?P<part>{_any(SLICE_WORDS)})(?= |$)",
                    rf"(?P<whole>{_any(WHOLE_WORDS)})(?= |$)",
                    rf"(?P<memory_type>{_any(MEMORY_TYPES)})(?= |$)",
                    rf"(?P<plain>{_any(PLAIN_WORDS)})(?= |$)",
                    rf"(?P<vendor>{_any(VENDORS)})(?!\d)",
                    rf"(?P<brand>{_any(BRANDS)})(?!\d)",
                )
            ),
            re.ASCII,
        )

    def read(self, label: str) -> Words | None:
        """Return what a text says, or None where one of its words is not known."""
        text = normalised(label)
        for pattern, plain in MACHINE_IDS:
            if match := pattern.fullmatch(text):
                text = plain.format(**match.groupdict())
        found: dict[str, set[str]] = {name: set() for name in self._pattern.groupindex}
        at = 0
        while at < len(text):
            word = self._pattern.match(text, at)
            if word is None:
                return None
            for name, value in word.groupdict().items():
                if value is not None:
                    found[name].add(value)
            at = word.end() + text[word.end() :].startswith(" ")
        return Words(
            chips=frozenset(map(squeezed, found["chip"])),
            form_factors=_most_precise({self._forms[squeezed(word)] for word in found["form"]}),
            vendors=frozenset(found["vendor"]),
            architectures=frozenset(map(squeezed, found["architecture"])),
            memories=frozenset(map(Decimal, found["memory"])),
            slices=frozenset(map(Decimal, found["slice"])),
            numbers=frozenset(map(Decimal, found["number"])),
            counts=frozenset(int(digits) for count in found["count"] for digits in re.findall(r"\d+", count)),
            memory_types=frozenset(found["memory_type"]),
            is_linked=bool(found["link"]),
            is_slice=bool(found["part"] or found["profile"]),
            is_whole=bool(found["whole"]),
        )


def normalised(label: str) -> str:
    """Return a text in lower case with one space for each run of separators, and no marks of trade."""
    text = unicodedata.normalize("NFKC", MARKS.sub(" ", label)).lower().replace("\u00d7", "x")
    text = SEPARATORS.sub(" ", text)
    text = POINTS.sub(lambda match: f"{match['digits'] or ''} ", text)
    # The one name that is written around its form factor: RTX 4000 SFF Ada Generation.
    return SFF_ADA.sub(" ada sff", " ".join(text.split()))


def squeezed(word: str) -> str:
    """Return a spelling without its spaces, as spellings are compared."""
    return word.replace(" ", "")


def _any(words: Iterable[str]) -> str:
    """Return a pattern of any of these words, the longest first; a space in one may be absent from the text."""
    return "|".join(
        re.escape(word).replace(r"\ ", " ?") for word in sorted({*words}, key=lambda word: (-len(word), word))
    )


def _most_precise(form_factors: set[str]) -> frozenset[str]:
    implied = {wider for form in form_factors for wider in MORE_PRECISE.get(form, ())}
    return frozenset(form_factors - implied)
