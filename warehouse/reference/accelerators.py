"""The vocabulary of chips, and the one resolver from a provider's text to a chip of it.

`data/accelerator.csv` has one row for each chip, `data/accelerator_label.csv` says what a provider means by a label
that does not name one chip by itself. `data/README.md` says how both are filled.

Rules of reading:

1. The vocabulary is closed. A text is read to its last letter, longest word first, and one word that is not known makes
   the whole of it unreadable: the X of "H100X" may be another chip, so no chip is named.
2. Case and separators do not matter; any run of spaces, hyphens, underscores and the like is one. A point between two
   digits is a decimal point.
3. Words are glued where price lists do so, and nowhere else: a brand to its chip (geforcertx3090), a form factor or a
   count to a chip or a memory (H100_sxm5x8, RTXPRO6000WS, A100-80Gx8), a count before a chip (8xH100).
4. Counts are read over: they have a column of their own. A bare number is a count up to 16 (H100-SXM-2-80G), above that
   it must be a memory the chip is sold with (a100-sxm-40), which the reader of the words decides.
5. A fraction is a part of a chip: 1/2 L40S. One that four decimals do not hold is of unknown size.
6. Of "H100 [some words]" the words before the bracket count where the whole cannot be read: so an import writes what
   its collector read in words that nobody can read.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache, partial
from typing import NamedTuple, get_type_hints

from warehouse.reference.table import Broken, Model, Rule, Values, reader

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
    *("gpu", "gpus", "chip", "tensor core", "graphics card", "ai accelerator", "accelerator", "generation"),
    *("vram", "memory", "gpu ram", "gpu memory", "high memory", "standard memory", "low ram", "high performance"),
    *("instance", "vm", "virtual machine", "node", "cluster", "instant cluster", "dedicated", "cloud", "per gpu"),
    *("on demand", "spot", "preemptible", "reserved", "cc", "confidential computing", "ac", "air cooled", "lc"),
    *("ib", "infiniband", "ethernet", "roce", "with intel cpu", "with amd cpu", "n1", "n2", "n3", "form unstated"),
    *("nps1", "spx", "tdp"),
)
"""Words about the machine and its sale: cc is confidential computing, ac and lc are cooling by air and liquid, n3 is a
generation of Hyperstack's flavours, NPS1 and SPX are an MI300X as one. RAM alone is not among them: a memory next to it
may be the machine's."""

LINK_WORDS = ("nvlink",)
SLICE_WORDS = ("mig", "vgpu")
WHOLE_WORDS = ("bare metal",)
MEMORY_TYPES = ("hbm2", "hbm2e", "hbm3", "hbm3e", "gddr6", "gddr7")

MACHINE_IDS = (
    (re.compile(r"vcg (?P<chip>.+) \d+c \d+g (?P<memory>\d+)vram"), "{chip} {memory}gb"),
    (re.compile(r"vbm \d+c \d+gb (?:\d+ )?(?P<chip>.+) gpu"), "bare metal {chip}"),
    (re.compile(r"rtx pro (?P<number>\d{4}) s(?P<rest>(?: \d+ ?gb)?)"), "rtx pro {number} server{rest}"),
    (re.compile(r"(?P<head>(?:nvidia )?gh200) (?:120|480) ?gb"), "{head}"),
)
"""Vultr's plan ids (https://api.vultr.com/v2/plans, /v2/plans-metal), in which most numbers are about the machine,
Vast's name of the Server Edition, RTX PRO 6000 S: an S that stands alone says so there, and nowhere else; and the
driver's name of a GH200, which has the memory of its CPU in it
(https://github.com/NVIDIA/open-gpu-kernel-modules/blob/015742d32fa615353199b11589ecaba828040859/README.md)."""

MARKS = re.compile(r"[®™©]|\((?:r|tm|c)\)", re.IGNORECASE)
SEPARATORS = re.compile(r"[\s!-\-/:-@\[-`{-~\u00b7\u2010-\u2015\u2022]+")
"""Punctuation of ASCII but the point, dashes and bullets."""
POINTS = re.compile(r"(?<!\d)\.|\.(?!\d)|(?<=[a-z])(?P<digits>\d+)\.")
SFF_ADA = re.compile(r"(?<=\d) ?sff ?ada\b")

PART = re.compile(r"(?<![\d.])(?P<part>\d{1,2}) ?[/\u2044] ?(?P<of>\d{1,2})(?![\d.]| ?g)", re.IGNORECASE)
BRACKET = re.compile(r"(?P<words>.+?) \[.*\]", re.DOTALL)
COUNT = r"\d{1,4} ?x(?= |$|[a-z])|x ?\d{1,4}(?= |$)|\d{1,4} ?gpus?(?= |$)"
MEMORY = r"(?P<memory>\d+(?:\.\d+)?) ?g(?:b|i|ib)?(?= |$|x\d)"
PROFILE = r"\dg (?P<slice>\d+) ?gb(?= |$)"  # of MIG: 1g.24gb is one of the compute slices, with 24 GB
NUMBER = r"(?P<number>\d{1,4})(?= |$)|\d{2,4} ?w(?= |$)"  # watts say nothing of the chip


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


MAX_COUNT = 16
"""Bare numbers up to this are counts of chips: no machine has more. No two chips differ by 16 GB or less."""

SHARE_DECIMALS = Decimal("0.0001")
"""Of DECIMAL(10,4) in `warehouse.schema.columns`: a share that these cannot hold exactly is unknown."""


class Accelerator(NamedTuple):
    """One chip of the vocabulary, in the order of the columns of the table."""

    accelerator_name: str
    accelerator_vendor: str
    accelerator_kind: str
    spellings: tuple[str, ...]
    memory_gib: tuple[Decimal, ...]
    form_factors: tuple[str, ...]
    architectures: tuple[str, ...]
    source_url: str
    accessed_on: date

    def has(self, memory: Decimal) -> bool:
        """Return whether a whole chip has this memory: sold, or shown by a driver, at least nine tenths of it."""
        return any(whole * 9 / 10 <= memory <= whole for whole in self.memory_gib)


class Label(NamedTuple):
    """What one provider means by a label, in the order of the columns of the table."""

    provider: str | None
    label: str
    accelerator_name: str
    form_factor: str | None
    is_sliced: bool | None
    note: str
    source_url: str
    accessed_on: date


class Chip(NamedTuple):
    """What a text says of a chip.

    `form_factor` and `accelerator_memory_gib` (GiB of one unit, whole or slice) are None where the text is silent.
    `accelerator_share` is the part of one chip that one unit is, by memory: 1, or 0.25 for 24 of 96 GB; None where it
    is a slice of unknown size, or not known to be whole.
    """

    accelerator_name: str
    accelerator_vendor: str
    form_factor: str | None
    accelerator_memory_gib: Decimal | None
    accelerator_share: Decimal | None


def slice_chips(version: str, number: int) -> set[int]:
    """Return how many chips a slice of TPUs of a version, such as "5p", may have by the number in its name.

    That is of chips for v5e (5litepod) and v6e, of cores up to v4 and for v5p, two of a chip, and of either for v7
    (https://docs.cloud.google.com/tpu/docs/v5p, https://docs.cloud.google.com/tpu/docs/v6e).
    """
    return {number} if version[-1] in "ed" else {number // 2} | ({number} if version[0] == "7" else set())


def resolve(label: str, provider: str | None = None) -> Chip | None:
    """Return the chip that a text names, or None where that is not certain: it is never guessed.

    `provider` is who wrote it, such as hyperstack. A memory from a field of its own may be appended
    to the text: "NVIDIA A100 SXM 80 GB". The rules are those of the module.
    """
    text, who = unicodedata.normalize("NFKC", label), (provider or "").lower()
    part = PART.search(text)
    if part is not None:
        chip = resolve(f"{text[: part.start()]} {text[part.end() :]}", provider)
        share = _share(Decimal(part["part"]), Decimal(part["of"])) if int(part["part"]) < int(part["of"]) else None
        whole = chip.accelerator_share if chip else None
        return chip and chip._replace(accelerator_share=whole * share if whole and share else None)
    bracket = BRACKET.fullmatch(label)
    return _resolve(label, who) or (_resolve(bracket["words"], who) if bracket else None)


def has_count(label: str) -> bool:
    """Return whether a text says how many chips it means, as "8xH100" and "H100-8" do."""
    words = _tables()[0].read(label)
    return words is not None and bool(words.counts or any(number <= MAX_COUNT for number in words.numbers))


def names() -> tuple[str, ...]:
    """Return all names of the vocabulary, sorted."""
    return tuple(sorted(_tables()[0].by_name))


def _wrong_chips(rows: list[Values]) -> Broken:
    kin: dict[str, list[Values]] = {}
    for place, row in enumerate(rows):
        if not row["spellings"] or any(normalised(spelling) != spelling for spelling in row["spellings"]):
            yield place, "spellings", "none, or not in lower case with single spaces"
        if any(memory <= 0 for memory in row["memory_gib"]):
            yield place, "memory_gib", "not above 0"
        if not {*row["form_factors"]} <= FORM_FACTORS.keys():
            yield place, "form_factors", f"not of {', '.join(FORM_FACTORS)}"
        for spelling in map(squeezed, row["spellings"]):
            memories = [{*other["memory_gib"]} for other in kin.setdefault(spelling, [])]
            if any({*row["memory_gib"]} & other or not {*row["memory_gib"]} | other for other in memories):
                yield place, "spellings", f"{spelling} is another row's, and the memory does not separate them"
            kin[spelling].append(row)


MODEL = Model(
    file="accelerator.csv",
    key="accelerator_name",
    fields=get_type_hints(Accelerator),
    unique=("accelerator_name",),
    repeated="a second row for the same chip",
    rows=_wrong_chips,
)

read_table = reader(Accelerator, MODEL)


def labels_of(vocabulary: "Vocabulary") -> Model:
    """Return the model of tables of labels of the chips of a vocabulary."""
    return Model(
        file="accelerator_label.csv",
        key="label",
        fields=get_type_hints(Label),
        rules=(Rule("provider", "not in lower case", "provider = lower(provider)"),),
        rows=partial(_wrong_labels, vocabulary),
    )


class Vocabulary:
    """The chips of a table by name and by spelling, and the reader of texts that name them."""

    def __init__(self, chips: Iterable[Accelerator]) -> None:
        self.by_name = {chip.accelerator_name: chip for chip in chips}
        self._kin: dict[str, tuple[Accelerator, ...]] = {}
        for chip in self.by_name.values():
            for spelling in map(squeezed, chip.spellings):
                self._kin[spelling] = (*self._kin.get(spelling, ()), chip)
        spellings = (spelling for chip in self.by_name.values() for spelling in chip.spellings)
        architectures = (word.lower() for chip in self.by_name.values() for word in chip.architectures)
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
        forms = {self._forms[squeezed(word)] for word in found["form"]}
        return Words(
            chips=frozenset(map(squeezed, found["chip"])),
            form_factors=frozenset(forms.difference(*(MORE_PRECISE.get(form, ()) for form in forms))),
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

    def kin(self, words: Words) -> tuple[Accelerator, ...]:
        """Return the chips that share the one name in a text, separated by memory.

        None where it names no chip or two, or a vendor or an architecture that the chip is not of.
        """
        families = {self._kin[spelling] for spelling in words.chips}
        if len(families) != 1:
            return ()
        [kin] = families
        chip = kin[0]
        agrees = all(chip.accelerator_vendor in VENDORS[word] for word in words.vendors)
        return kin if agrees and self.is_of(chip, words.architectures) else ()

    @staticmethod
    def is_of(chip: Accelerator, architectures: frozenset[str]) -> bool:
        """Return whether a chip is of all architectures that a text names."""
        return architectures <= {squeezed(word.lower()) for word in chip.architectures}


class _Reading(NamedTuple):
    label: Label
    kin: tuple[Accelerator, ...]
    words: Words

    def covers(self, kin: tuple[Accelerator, ...], words: Words) -> bool:
        """Return whether a text says the same as the label."""
        same = _gist(self.kin, self.words) == _gist(kin, words)
        return same and self.words.memories <= words.memories


def _gist(kin: tuple[Accelerator, ...], words: Words) -> tuple[object, ...]:
    return kin, words.form_factors, words.is_linked, words.memory_types, words.is_slice


def _reading(vocabulary: Vocabulary, label: Label) -> _Reading | None:
    """Return what a label says; None where it does not name one chip."""
    words = vocabulary.read(label.label)
    kin = vocabulary.kin(words) if words else ()
    return _Reading(label, kin, words) if words and kin else None


def _wrong_labels(vocabulary: Vocabulary, rows: list[Values]) -> Broken:
    before: list[_Reading] = []
    for place, row in enumerate(rows):
        label, chip = Label(**row), vocabulary.by_name.get(row["accelerator_name"])
        reading = _reading(vocabulary, label)
        if chip is None:
            yield place, "accelerator_name", "not in the vocabulary of chips"
            continue
        if label.form_factor and label.form_factor not in chip.form_factors:
            yield place, "form_factor", f"not one of {', '.join(chip.form_factors)}"
        if label.is_sliced and not chip.memory_gib:
            yield place, "is_sliced", "shares need a chip whose memory is known"
        if reading is None:
            yield place, "label", "does not name one chip"
            continue
        if chip not in reading.kin and not _shortens(reading.words, chip):
            yield place, "accelerator_name", "not a chip that the label names, whole or in short"
        same = [known for known in before if known.label.provider == label.provider]
        if any(known.covers(reading.kin, reading.words) for known in same):
            yield place, "label", "says the same as a row before it"
        before.append(reading)


def _shortens(words: Words, chip: Accelerator) -> bool:
    """Return whether a text has the first words of a chip's name: "RTX 4000" of RTX 4000 Ada, never H100 of H200."""
    starts = (spelling.split(" ")[:end] for spelling in chip.spellings for end in range(1, spelling.count(" ") + 1))
    return any(squeezed(" ".join(start)) in words.chips for start in starts)


@cache
def _tables() -> tuple[Vocabulary, Mapping[str, tuple[_Reading, ...]]]:
    """Return the vocabulary, and the readings of labels by provider."""
    vocabulary = Vocabulary(read_table())
    by_provider: dict[str, tuple[_Reading, ...]] = {}
    readings = (_reading(vocabulary, Label(**row)) for row in labels_of(vocabulary).read())
    for reading in filter(None, readings):
        provider = reading.label.provider or ""
        by_provider[provider] = (*by_provider.get(provider, ()), reading)
    return vocabulary, by_provider


@lru_cache(maxsize=65_536)
def _resolve(text: str, provider: str) -> Chip | None:
    vocabulary, by_provider = _tables()
    words = vocabulary.read(text)
    kin = vocabulary.kin(words) if words else ()
    memories = _memories(words, kin) if words and kin else None
    if words is None or memories is None:
        return None
    # What the provider says of itself goes before what holds for everybody.
    for key in dict.fromkeys((provider, "")):
        for reading in by_provider.get(key, ()):
            chip = vocabulary.by_name[reading.label.accelerator_name]
            if not reading.covers(kin, words) or not vocabulary.is_of(chip, words.architectures):
                continue
            if reading.label.is_sliced:
                return _part_of(chip, words, memories)
            if len(memories) <= 1 and all(map(chip.has, memories)):
                return _whole(chip, reading.label.form_factor, next(iter(memories), None))
    return _as_written(kin, words, memories)


def _as_written(kin: tuple[Accelerator, ...], words: Words, memories: frozenset[Decimal]) -> Chip | None:
    """Return what the words say by themselves."""
    form = next(iter(words.form_factors), None)
    if len(words.form_factors) > 1 or (form and form not in kin[0].form_factors):
        return None
    by_memory = {memory: chip for chip in kin for memory in chip.memory_gib}
    silent = next((chip for chip in kin if not chip.memory_gib), kin[0])
    if words.is_slice:
        return _slice(silent, form, by_memory, memories, words.slices)
    if len(memories) > 1:
        return None
    memory = next(iter(memories), None)
    if memory is None:
        return _whole(silent, form, None)
    if whole := next((chip for chip in kin if chip.has(memory)), None):
        return _whole(whole, form, memory)
    if not by_memory or memory < max(by_memory):
        # No whole chip has it: a slice whose size the text omits, or an error of the text.
        return Chip(silent.accelerator_name, silent.accelerator_vendor, form, memory, None)
    # The memory of all chips together, perhaps; but which of two products they are, it may not decide.
    counts = {*words.counts, *(int(number) for number in words.numbers)} if len(kin) == 1 else set()
    each = {memory / count for count in counts if count and silent.has(memory / count)}
    return _whole(silent, form, each.pop()) if len(each) == 1 else None


def _slice(
    silent: Accelerator,
    form: str | None,
    by_memory: Mapping[Decimal, Accelerator],
    memories: frozenset[Decimal],
    slices: frozenset[Decimal],
) -> Chip | None:
    """Return a slice. Its share is known where both its memory and that of the whole chip are."""
    wholes, parts = {*memories} & by_memory.keys(), {*slices, *(memories - by_memory.keys())}
    if not parts and len(wholes) == 2:
        parts = {min(wholes)}
        wholes -= parts
    if len(parts) > 1 or len(wholes) > 1:
        return None
    part = next(iter(parts), None)
    if part is None or not wholes:
        # A memory that is a whole chip's may be the card's or the slice's.
        chip, whole = silent, next(iter(by_memory)) if len(by_memory) == 1 else None
    else:
        [whole] = wholes
        chip = by_memory[whole]
    if part is not None and part > (whole or max(by_memory, default=part)):
        return None
    share = None if part is None or whole is None else _share(part, whole)
    return Chip(chip.accelerator_name, chip.accelerator_vendor, form, part, share)


def _part_of(chip: Accelerator, words: Words, memories: frozenset[Decimal]) -> Chip | None:
    """Return what part of a chip is sold by a provider that names the whole chip whatever the part.

    Its memory decides: a multiple of the whole is whole chips, and silence may be anything but for bare metal.
    """
    form = next(iter(words.form_factors), None)
    if len(memories) > 1 or len(words.form_factors) > 1 or (form and form not in chip.form_factors):
        return None
    whole = chip.memory_gib[0]
    memory = next(iter(memories), None)
    if memory is None:
        share = Decimal(1) if words.is_whole else None
        return Chip(chip.accelerator_name, chip.accelerator_vendor, form, None, share)
    if memory >= whole:
        return None if memory % whole else _whole(chip, form, whole)
    return Chip(chip.accelerator_name, chip.accelerator_vendor, form, memory, _share(memory, whole))


def _whole(chip: Accelerator, form: str | None, memory: Decimal | None) -> Chip:
    return Chip(chip.accelerator_name, chip.accelerator_vendor, form, memory, Decimal(1))


def _share(part: Decimal, whole: Decimal) -> Decimal | None:
    share = (part / whole).quantize(SHARE_DECIMALS)
    return share.normalize() if share * whole == part else None


def _memories(words: Words, kin: tuple[Accelerator, ...]) -> frozenset[Decimal] | None:
    """Return the memories that a text states, bare numbers among them; None where a bare number is neither."""
    known = {memory for chip in kin for memory in chip.memory_gib}
    bare = {number for number in words.numbers if number > MAX_COUNT}
    if 0 in words.numbers | words.memories or not bare <= known:
        return None
    return frozenset(words.memories | bare)
