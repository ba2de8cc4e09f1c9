"""The vocabulary of chips, and the one resolver from a provider's text to a chip of it.

`data/accelerator.csv` has one row for each chip. How it is filled:

1. `accelerator_name` follows `warehouse.reference.instance_types`: the chip alone, without form factor; memory is in
the name
   only where it makes another product, and then a further row without memory stands for texts that are silent on it:
   A100 beside A100-40GB and A100-80GB. Quadro, RTX A, RTX Ada and RTX PRO are four generations: RTX-6000 (Turing),
   RTX-A6000, RTX-6000-Ada and RTX-PRO-6000.
2. Lists are separated by semicolons. `spellings` are how texts write the chip, brands apart; a space in one may be
   any separator or none. Only what names one chip is a spelling: Trainium alone may be any of its generations.
3. `memory_gib` are the memories of a whole chip, the source's first, then what providers or drivers state of the same
   chip: of a B200 180, 179 or 192; of an L40S 48, or 45 where error correction keeps a sixteenth of its GDDR. NVIDIA's
   GB are GiB. They tell whole chips from slices and are no key. A stated memory that a whole chip has is one chip's; a
   greater one is of all chips of the text if that comes out even.
4. `form_factors` and `architectures` are those a text may name; one that names another is about some other chip.

`data/accelerator_label.csv` says what a provider means by words that do not settle it, with the source. A row holds
for texts of that provider (of anybody, where `provider` is empty) that say the same of chip, form factor, NVLink and
memory type; counts, brands and plain words do not matter. `provider` is service_provider_name in lower case. A label
may be the first words of its chip's name, where a provider leaves the generation out: DigitalOcean's RTX 4000 is the
Ada. `is_sliced` marks chips that are sold by the part under the whole chip's name.
"""

from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import NamedTuple

from warehouse.reference.fact_csv import Row, rows
from warehouse.reference.instance_types import ACCELERATOR_KINDS
from warehouse.reference.label_parser import FORM_FACTORS, VENDORS, Reader, Words, normalised, squeezed

DATA = resources.files("warehouse") / "data"
TABLE = DATA / "accelerator.csv"
LABELS = DATA / "accelerator_label.csv"
KINDS = (*ACCELERATOR_KINDS, "tpu")
RULES = "warehouse/reference/accelerators.py"

MAX_COUNT = 16
"""Bare numbers up to this are counts of chips: no machine has more. No two chips are told apart by 16 GB or less."""

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


class Label(NamedTuple):
    """What one provider means by a label, in the order of the columns of the table."""

    provider: str
    label: str
    accelerator_name: str
    form_factor: str | None
    is_sliced: bool
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


def resolve(label: str, provider: str | None = None) -> Chip | None:
    """Return the chip that a text names, or None where that is not certain: it is never guessed.

    `provider` is whose words they are, such as hyperstack. A memory that stands in a field of its own may be appended
    to the text: "NVIDIA A100 SXM 80 GB". The rules of reading stand in `warehouse.reference.label_parser`.
    """
    return _resolve(label, (provider or "").lower())


def names() -> tuple[str, ...]:
    """Return all names of the vocabulary, sorted."""
    return tuple(sorted(_tables()[0].by_name))


def read_table(path: Traversable = TABLE) -> list[Accelerator]:
    """Return the chips of a table. Raises ChipledgerError, naming line, field and value, where one is not usable."""
    seen: set[str] = set()
    kin: dict[str, list[Accelerator]] = {}
    chips = []
    for row in rows(path, Accelerator._fields, key="accelerator_name", rules=RULES):
        chip = _accelerator(row)
        if chip.accelerator_name in seen:
            raise row.error("accelerator_name", "a second row for the same chip")
        seen.add(chip.accelerator_name)
        for spelling in map(squeezed, chip.spellings):
            others = kin.setdefault(spelling, [])
            if any(
                {*chip.memory_gib} & {*other.memory_gib} or not chip.memory_gib + other.memory_gib for other in others
            ):
                raise row.error("spellings", f"{spelling} is another row's, and the memory does not tell them apart")
            others.append(chip)
        chips.append(chip)
    return chips


def read_labels(path: Traversable = LABELS, table: Traversable = TABLE) -> list[Label]:
    """Return what providers mean by labels. Raises ChipledgerError where a row is not usable."""
    return [reading.label for reading in _readings(path, Vocabulary(read_table(table)))]


class Vocabulary:
    """The chips of a table by name and by spelling, and the reader of texts that name them."""

    def __init__(self, chips: Iterable[Accelerator]) -> None:
        self.by_name = {chip.accelerator_name: chip for chip in chips}
        self._kin: dict[str, tuple[Accelerator, ...]] = {}
        for chip in self.by_name.values():
            for spelling in map(squeezed, chip.spellings):
                self._kin[spelling] = (*self._kin.get(spelling, ()), chip)
        self.reader = Reader(
            (spelling for chip in self.by_name.values() for spelling in chip.spellings),
            (word.lower() for chip in self.by_name.values() for word in chip.architectures),
        )

    def kin(self, words: Words) -> tuple[Accelerator, ...]:
        """Return the chips that share the one name in a text, told apart by memory.

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


def _readings(path: Traversable, vocabulary: Vocabulary) -> list[_Reading]:
    readings: list[_Reading] = []
    for row in rows(path, Label._fields, key="label", rules=RULES):
        label = _label(row, vocabulary)
        words = vocabulary.reader.read(label.label)
        kin = vocabulary.kin(words) if words else ()
        if words is None or not kin:
            raise row.error("label", "does not name one chip")
        chip = vocabulary.by_name[label.accelerator_name]
        if chip not in kin and not _shortens(words, chip):
            raise row.error("accelerator_name", "not a chip that the label names, whole or in short")
        if any(known.label.provider == label.provider and known.covers(kin, words) for known in readings):
            raise row.error("label", "says the same as a row before it")
        readings.append(_Reading(label, kin, words))
    return readings


def _shortens(words: Words, chip: Accelerator) -> bool:
    """Return whether a text has the first words of a chip's name: "RTX 4000" of RTX 4000 Ada, never H100 of H200."""
    starts = (spelling.split(" ")[:end] for spelling in chip.spellings for end in range(1, spelling.count(" ") + 1))
    return any(squeezed(" ".join(start)) in words.chips for start in starts)


@cache
def _tables() -> tuple[Vocabulary, Mapping[str, tuple[_Reading, ...]]]:
    """Return the vocabulary, and the readings of labels by provider."""
    vocabulary = Vocabulary(read_table())
    by_provider: dict[str, tuple[_Reading, ...]] = {}
    for reading in _readings(LABELS, vocabulary):
        provider = reading.label.provider
        by_provider[provider] = (*by_provider.get(provider, ()), reading)
    return vocabulary, by_provider


@lru_cache(maxsize=65_536)
def _resolve(text: str, provider: str) -> Chip | None:
    vocabulary, by_provider = _tables()
    words = vocabulary.reader.read(text)
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
            if len(memories) <= 1 and memories <= {*chip.memory_gib}:
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
    if memory in by_memory:
        return _whole(by_memory[memory], form, memory)
    if not by_memory or memory < max(by_memory):
        # No whole chip has it: a slice whose size the text does not tell, or an error of the text.
        return Chip(silent.accelerator_name, silent.accelerator_vendor, form, memory, None)
    # The memory of all chips together, perhaps; but which of two products they are, it may not decide.
    counts = {*words.counts, *(int(number) for number in words.numbers)} if len(kin) == 1 else set()
    each = {memory / count for count in counts if count} & by_memory.keys()
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

    Its memory tells: a multiple of the whole is whole chips, and silence may be anything but for bare metal.
    """
    form = next(iter(words.form_factors), None)
    if len(memories) > 1 or len(words.form_factors) > 1 or (form and form not in chip.form_factors):
        return None
    [whole] = chip.memory_gib
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


def _accelerator(row: Row) -> Accelerator:
    chip = Accelerator(
        accelerator_name=row.text("accelerator_name"),
        accelerator_vendor=row.text("accelerator_vendor"),
        accelerator_kind=row.one_of("accelerator_kind", KINDS),
        spellings=_list(row, "spellings"),
        memory_gib=tuple(_memory(row, text) for text in _list(row, "memory_gib")),
        form_factors=_list(row, "form_factors"),
        architectures=_list(row, "architectures"),
        source_url=_source(row),
        accessed_on=row.day("accessed_on"),
    )
    if not chip.spellings or any(normalised(spelling) != spelling for spelling in chip.spellings):
        raise row.error("spellings", "none, or not in lower case with single spaces")
    if not {*chip.form_factors} <= FORM_FACTORS.keys():
        raise row.error("form_factors", f"not of {', '.join(FORM_FACTORS)}")
    return chip


def _label(row: Row, vocabulary: Vocabulary) -> Label:
    chip = vocabulary.by_name.get(row.text("accelerator_name"))
    if chip is None:
        raise row.error("accelerator_name", "not in the vocabulary of chips")
    form = row.one_of("form_factor", ("", *chip.form_factors)) or None
    is_sliced = row.one_of("is_sliced", ("", "yes")) == "yes"
    if is_sliced and len(chip.memory_gib) != 1:
        raise row.error("is_sliced", "shares need a chip of one memory")
    if row.cells["provider"] != row.cells["provider"].lower():
        raise row.error("provider", "not in lower case")
    return Label(
        provider=row.cells["provider"],
        label=row.text("label"),
        accelerator_name=chip.accelerator_name,
        form_factor=form,
        is_sliced=is_sliced,
        note=row.text("note"),
        source_url=_source(row),
        accessed_on=row.day("accessed_on"),
    )


def _list(row: Row, field: str) -> tuple[str, ...]:
    """Return the items of a cell. Raises ChipledgerError where one is empty, padded or stands twice."""
    items = tuple(row.cells[field].split(";")) if row.cells[field] else ()
    if len({*items}) < len(items) or any(not item or item != item.strip() for item in items):
        raise row.error(field, "an item is empty, padded or stands twice")
    return items


def _memory(row: Row, text: str) -> Decimal:
    try:
        memory = Decimal(text)
    except InvalidOperation:
        raise row.error("memory_gib", "not a number") from None
    if not memory.is_finite() or memory <= 0:
        raise row.error("memory_gib", "not above 0")
    return memory


def _source(row: Row) -> str:
    if not row.cells["source_url"].startswith("https://"):
        raise row.error("source_url", "no public address to check the fact at")
    return row.cells["source_url"]
