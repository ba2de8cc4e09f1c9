"""How a claim is read: what its subject names, and which conditions and hedges its words state.

Nothing is guessed: a word that names no chip, machine, model or provider known here stays a word.

1. A subject is one part or two: "A vs B"; each part may name, after " / ", what runs on it or who sells it:
   "H100 vs Trainium3", "Trainium3 / Llama 3 70B", "H200 SXM / Spheron", "trn1.32xlarge vs p5.48xlarge".
2. A chip without its form (H100) or without its generation (Trainium) is read as each there is, and never as one.
3. Hedges: "~", "about" and the like allow 5 %, "estimated" 10 %; "up to" bounds from above, "1M+" from below.
"""

import math
import re
from dataclasses import dataclass
from functools import cache

from warehouse.reference import accelerators, instance_types, models
from warehouse.schema.vocabulary import HOURS_PER_MONTH, HOURS_PER_YEAR

ABOUT_SHARE = 0.05
ESTIMATE_SHARE = 0.10
_ABOUT = re.compile(r"~|≈|\b(?:about|around|approx\w*|roughly|circa|near(?:ly)?|almost|close to)\b", re.IGNORECASE)
_ESTIMATE = re.compile(r"\b(?:est\.?|estimat\w+|illustrative|projected|expected)(?=\W|$)", re.IGNORECASE)
_UP_TO = re.compile(r"\b(?:up to|at most|as much as|no more than|less than)\b", re.IGNORECASE)
_SPARSE = re.compile(r"(?<!without )(?<!without structured )(?<!no )(?<!non-)\bspars", re.IGNORECASE)
_AT_LEAST = re.compile(r"\d[\d.,]*\s?[KMBT%]?\+(?![\w%])|\b(?:at least|more than)\b", re.IGNORECASE)

INSTANCE = re.compile(r"\b(?:u-)?[a-z]{1,4}\d[a-z0-9-]*\.\d*x?(?:large|metal)\b|\bu-[a-z0-9-]+x\d+\b", re.IGNORECASE)
_REGION = re.compile(r"\b[a-z]{2}(?:-gov|-iso[a-z]?)?-(?:north|south|east|west|central)(?:east|west)?-\d\b")
_REGION_NAMES = (
    (re.compile(r"N\. Virginia|Northern Virginia", re.IGNORECASE), ("us-east-1",)),
    (re.compile(r"\bOhio\b", re.IGNORECASE), ("us-east-2",)),
    (re.compile(r"\bOregon\b", re.IGNORECASE), ("us-west-2",)),
    (re.compile(r"N\. California|Northern California", re.IGNORECASE), ("us-west-1",)),
    (re.compile(r"\bUS East\b", re.IGNORECASE), ("us-east-1", "us-east-2")),
    (re.compile(r"\bUS West\b", re.IGNORECASE), ("us-west-1", "us-west-2")),
)
AWS_PLACES = dict(
    re.findall(
        r"([^,]+) ([a-z-]+\d)",
        "cape town af-south-1,hong kong ap-east-1,taipei ap-east-2,tokyo ap-northeast-1,seoul ap-northeast-2,"
        "osaka ap-northeast-3,mumbai ap-south-1,hyderabad ap-south-2,singapore ap-southeast-1,sydney ap-southeast-2,"
        "jakarta ap-southeast-3,melbourne ap-southeast-4,malaysia ap-southeast-5,thailand ap-southeast-7,"
        "canada(?! .?west) ca-central-1,calgary ca-west-1,frankfurt eu-central-1,zurich eu-central-2,"
        "stockholm eu-north-1,milan eu-south-1,spain eu-south-2,ireland eu-west-1,london eu-west-2,paris eu-west-3,"
        "tel aviv il-central-1,uae me-central-1,bahrain me-south-1,mexico mx-central-1,new zealand ap-southeast-6,"
        "são paulo sa-east-1,sao paulo sa-east-1",
    )
)
"""AWS's regions outside the United States by the places in their names: what others sell there is of no AWS region."""
_OPTIONS = (
    ("capacity_block", re.compile(r"capacity[ -]?block", re.IGNORECASE)),
    ("savings_plan", re.compile(r"savings? plan", re.IGNORECASE)),
    ("reserved", re.compile(r"\breserved\b|\bRIs?\b|reserved instance", re.IGNORECASE)),
    ("spot", re.compile(r"\bspot\b|preemptible|interruptible", re.IGNORECASE)),
    ("on_demand", re.compile(r"on[- ]demand|pay as you go", re.IGNORECASE)),
)
_PRECISION = re.compile(r"\b(nvfp4|mxfp4|fp4|mxfp8|fp8|int8|int4|bf16|fp16|tf32|fp32)\b", re.IGNORECASE)
_BATCH = re.compile(r"\b(?:batch(?:[ _-]size)?|bs)(?: of)?[ =:]*(\d+)", re.IGNORECASE)
_TERM = re.compile(r"\b(\d|one|two|three)[ -]?y(?:(?:ea)?rs?)?\b|\b(\d+)[ -]?mo(?:nth)?s?\b", re.IGNORECASE)
OTHER_NUMBERS = re.compile(
    r"(?:(?:[a-z]+ (?:to|than|least|most)|about|around|roughly) |~ ?)?[^\s$]*\d[^\s$]*", re.IGNORECASE
)
"""Numbers that are no dollars, and their hedges: "181+ days" and "up to 8 GPUs" say nothing of a price."""
_TOKENS = re.compile(r"(\d+(?:\.\d+)?)[\s-]?([MBT])(?:r?illion)?[ -]tokens?\b", re.IGNORECASE)
_TRAINING = re.compile(r"\bpre-?train\w*|\btraining\b|\bfine-?tun\w*", re.IGNORECASE)
_FROM_SCRATCH = re.compile(r"\bpre-?train\w*", re.IGNORECASE)
_ADAPTERS = re.compile(r"\blora\b|\badapters?\b", re.IGNORECASE)
SCALE = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
FAMILIES = ("Trainium", "Inferentia", "Gaudi", "TPU")
"""Names under which several generations are sold."""
_SYSTEM = re.compile(r"\b(?:ultra ?server|trn\d-ultra|hgx|dgx|nvl ?\d+|node|cluster|\d+[- ]?gpu|\d+x)\b", re.IGNORECASE)
_SHORT = re.compile(r"\b(trn|inf)\s?(\d)(?:[- ]?ultra)?\b(?!\.|\d)", re.IGNORECASE)
_FAMILY_OF = {"trn": "Trainium", "inf": "Inferentia"}
_SILENT = re.compile(
    r"\b(?:sparse|dense|single|one|per neuron ?core|per core|per chip|aws|amazon|ultraserver)\b", re.IGNORECASE
)
_COUNT = re.compile(
    r"\b(\d+)[- ]?(?:gpus?|chips?|accelerators?)\b|\b(\d+)\s?x(?:\s|(?=(?:GB|MI|[ABHLV])\d))", re.IGNORECASE
)
_WORDS = {"one": 1, "two": 2, "three": 3, "four": 4, "eight": 8, "sixteen": 16}
_NUMBER = rf"(\d{{1,3}}(?:,\d{{3}})+|\d+|{'|'.join(_WORDS)})"
_CHIPS_OF = re.compile(
    rf"\b(?:{_NUMBER}(?:\s?x\s|\s(?:nodes?|machines?|servers?|instances?) (?:of|with) ))?{_NUMBER}"
    r"(?:[- ]?(?:gpus?|chips?|accelerators?)\b|(?:\s?x?\s|x)(?=(?:GB|MI|[ABHLV])\d{2,3}))",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Thing:
    """What one side of a subject names: a machine, chips that it may mean, and how many of them it is."""

    text: str
    instance_type: str | None = None
    chips: tuple[tuple[str, str | None], ...] = ()
    count: int | None = None
    is_system: bool = False
    is_sparse: bool = False
    is_core: bool = False

    @property
    def key(self) -> str:
        """Return what stands for the thing where two claims are compared: machine, chips, or its own words."""
        if self.instance_type:
            return self.instance_type
        names = "|".join(sorted({name for name, _ in self.chips}))
        system = f" {'ultraserver' if 'ultra' in self.text.casefold() else 'system'}" if self.is_system else ""
        sparse = " sparse" if self.is_sparse else ""
        return f"{names or ' '.join(self.text.casefold().split())}{system}{sparse}"


@dataclass(frozen=True)
class Subject:
    """What a claim is about: one thing or two that are compared, a model that runs on it, and what else is named."""

    things: tuple[Thing, ...]
    model_name: str | None
    others: tuple[str, ...]
    """Words after a slash that name no model here: a provider, a family of models."""

    @property
    def key(self) -> str:
        """Return the same text for the same subject, however it is written."""
        rest = [self.model_name, *(" ".join(word.casefold().split()) for word in self.others)]
        return " / ".join([" vs ".join(thing.key for thing in self.things), *filter(None, rest)])


@dataclass(frozen=True)
class Hedge:
    """How loosely a figure is stated: a share that it may be off, and whether it bounds from above or from below."""

    share: float = 0.0
    is_upper: bool = False
    is_lower: bool = False


@dataclass(frozen=True)
class Conditions:
    """What the words of a claim state; None where they are silent."""

    purchase_option: str | None = None
    term_hours: int | None = None
    regions: tuple[str, ...] = ()
    instance_type: str | None = None
    batch_size: int | None = None
    precision: str | None = None
    tokens: float | None = None
    is_training: bool | None = None
    is_adapters: bool | None = None
    """False where a whole model is trained, None where it may be either."""
    is_sparse: bool | None = None


@cache
def subject(text: str) -> Subject:
    """Return what a subject names."""
    models_named: list[str] = []
    others: list[str] = []
    sides: list[str] = []
    for side in re.split(r"\s+(?:vs\.?|versus)\s+", text.strip()):
        first, *rest = (part.strip() for part in side.split(" / "))
        for word in rest:
            name = model(word)
            models_named.append(name) if name else others.append(word)
        name = model(first)
        if name and _chips(first) == ():
            models_named.append(name)
        sides.append(first)
    # "Trn3 vs Trn2 UltraServer": both are.
    is_core = bool(re.search(r"per (?:neuron ?)?core", text, re.IGNORECASE))
    systems = [bool(_SYSTEM.search(side)) for side in sides]
    is_ultra = len(sides) > 1 and bool(re.search(r"ultraserver\s*$", sides[-1], re.IGNORECASE))
    things = tuple(
        _thing(side, is_core=is_core, is_system=own or (is_ultra and bool(_SHORT.search(side))))
        for side, own in zip(sides, systems, strict=True)
    )
    return Subject(things, models_named[0] if models_named else None, tuple(others))


@cache
def model(text: str) -> str | None:
    """Return the name in ref.model of a model that a text names; a size that follows its name does not matter."""
    found = models.find(text) or models.find(re.sub(r"\s[\d.]+[MBT]\s*$", "", text))
    return found.model_name if found else None


def chips_of(text: str) -> int | None:
    """Return the chips that a text such as "8x H100" or "two nodes of 8 GPUs" states, None where it states none."""
    found = _CHIPS_OF.search(text)
    each = [_WORDS.get(one.lower()) or int(one.replace(",", "")) for one in found.groups() if one] if found else []
    return math.prod(each) if each else None


def parameters(text: str) -> float | None:
    """Return the parameters that a text such as "70B model" states, None where it states none."""
    found = re.search(r"(?<![\w.])(\d+(?:\.\d+)?)\s?([MBT])\b(?! tokens)", text)
    return float(found[1]) * SCALE[found[2].lower()] if found else None


def hedge(*texts: str) -> Hedge:
    """Return how loosely texts tell a figure."""
    text = " ".join(texts)
    share = ESTIMATE_SHARE if _ESTIMATE.search(text) else ABOUT_SHARE if _ABOUT.search(text) else 0.0
    return Hedge(share, is_upper=bool(_UP_TO.search(text)), is_lower=bool(_AT_LEAST.search(text)))


@cache
def conditions(text: str) -> Conditions:
    """Return what the words of a claim state."""
    option = next((name for name, pattern in _OPTIONS if pattern.search(text)), None)
    term = _TERM.search(text)
    years, months = term.groups() if term else (None, None)
    of_years = int(_WORDS.get(years.lower(), years)) * HOURS_PER_YEAR if years else None
    hours = int(months) * HOURS_PER_MONTH if months else of_years
    named = tuple(_REGION.findall(text)) or next((ids for pattern, ids in _REGION_NAMES if pattern.search(text)), ())
    machine = INSTANCE.search(text)
    batch = _BATCH.search(text)
    precision = _PRECISION.search(text)
    tokens = _TOKENS.search(text)
    return Conditions(
        purchase_option=option,
        term_hours=hours,
        regions=named,
        instance_type=machine[0].lower() if machine else None,
        batch_size=int(batch[1]) if batch else None,
        precision=precision[1].lower() if precision else None,
        tokens=float(tokens[1]) * SCALE[tokens[2].lower()] if tokens else None,
        is_training=bool(_TRAINING.search(text)) or None,
        is_adapters=True if _ADAPTERS.search(text) else False if _FROM_SCRATCH.search(text) else None,
        is_sparse=True if _SPARSE.search(text) else False if re.search(r"\bdense\b|spars", text) else None,
    )


def _thing(text: str, *, is_core: bool, is_system: bool) -> Thing:
    machine = INSTANCE.search(text)
    if machine:
        name = machine[0].lower()
        facts = machines().get(name)
        chips = ((facts.accelerator_name, facts.form_factor),) if facts else ()
        count = int(facts.accelerator_count) if facts and facts.accelerator_count >= 1 else None
        return Thing(text, name, chips or _chips(name.partition(".")[0]), count, is_system=True, is_core=is_core)
    count = next((int(found[1] or found[2]) for found in [_COUNT.search(text)] if found), None)
    return Thing(
        text, None, _chips(text), count, is_system=is_system, is_sparse="sparse" in text.casefold(), is_core=is_core
    )


@cache
def machines() -> dict[str, instance_types.InstanceType]:
    """Return the fact of each AWS type that is in force last."""
    return {fact.instance_type: fact for fact in sorted(instance_types.read_table(), key=lambda f: str(f.known_from))}


@cache
def _chips(text: str) -> tuple[tuple[str, str | None], ...]:
    """Return the chips that a text may mean: one, each generation of a family, or none."""
    short = _SHORT.search(text)
    candidates = [text, " ".join(_SILENT.sub(" ", text).split())]
    if short:
        candidates.append(_FAMILY_OF[short[1].lower()] + short[2])
    for words in candidates:
        chip = accelerators.resolve(words) if words else None
        if chip:
            return ((chip.accelerator_name, chip.form_factor),)
    bare = " ".join(_SILENT.sub(" ", text).split()).casefold()
    family = next((name for name in FAMILIES if name.casefold() == bare), None)
    if family is None:
        return ()
    return tuple((name, None) for name in accelerators.names() if re.fullmatch(rf"{family}-?(?:v?\d\w*)", name))
