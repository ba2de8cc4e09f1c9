"""Checks of what is said of a chip or a machine: peaks, memory, cores, counts, generation and year."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from transform.audit.evidence import Chip, Evidence, chip_words, model_named
from transform.audit.finding import EXACT_UNITS, Finding, Range, claimed, exactly, figure, found, number, scale, unknown
from transform.audit.verdicts import CONSISTENT, IMPOSSIBLE, INCONSISTENT
from warehouse.reference import claim_text
from warehouse.reference.claims import Claim
from warehouse.reference.instance_types import machine_facts

_PEAK = re.compile(r"spec_(bf16|fp16|fp8|fp4|int8)(_sparse)?_[tp]flops")
PLAIN_FACTS = {
    "spec_memory_gb": "memory_gb",
    "spec_accelerator_memory_gb": "memory_gb",
    "spec_memory_bandwidth_tb_s": "memory_bandwidth_tb_s",
    "spec_tdp_w": "tdp_w",
    "spec_tensor_cores": "cores_per_accelerator",
    "spec_cores_per_chip": "cores_per_accelerator",
    "spec_general_availability": "release_year",
}
"""Metrics that are one fact of a chip."""
OF_EACH = ("cores_per_accelerator", "release_year")
"""Facts that a system has as its chips have them; of others it has the sum."""
TENSOR_CORES = 4.0
"""Tensor cores of an SM since Ampere, by NVIDIA's papers on the A100 and the H100."""
TENSOR_CORE_CHIPS = re.compile(r"A100|A10G|L4|L40S?|H100|H200|GH200|G?B[23]00|RTX-PRO")
MACHINE_FACTS = {"spec_vcpus": "vcpus", "spec_host_memory_gib": "host_memory_gib"}
"""Metrics that are one figure of a machine."""
PUBLISHED_ROUNDING = 0.001
"""Share by which what is published of a chip may be rounded: AMD's 2,614.9 TFLOP/s stand as 2,615 elsewhere."""
NOW = re.compile(r"\bnow\b", re.IGNORECASE)
PRINTED_WRONG = ("sparse figure", "as dense", "without a word", "of the ", "as of the", "as announced", "as first")
"""Notes by which a source of lower rank is no second opinion of the same thing."""
MIN_FIRST = ("fp4", "fp8", "bf16")
"""Precisions to try where a claim names none."""
Reading = tuple[str, float, str]
"""What a figure was compared with: in words, its value in the first unit of its kind, and where it stands."""


def chip_fact(claim: Claim, evidence: Evidence) -> Finding:
    """Check a published figure of a chip against what its vendor and others publish of it."""
    fact = PLAIN_FACTS.get(claim.metric) or _peak_fact(claim)
    if fact is None:
        return unknown(f"no figure of a chip is kept for {claim.metric}")
    chips = evidence.named(claim.thing.chips)
    readings = [reading for chip in chips for reading in _readings(chip, fact, evidence)]
    if claim.metric == "spec_tensor_cores":
        # The table counts SMs, so another vendor's cores are no reading of it.
        readings = [
            (f"{words} x {number(TENSOR_CORES)} tensor cores", value * TENSOR_CORES, url)
            for chip in chips
            if TENSOR_CORE_CHIPS.match(chip[0])
            for words, value, url in _readings(chip, fact, evidence)
        ]
    if fact == "release_year" and NOW.search(claim.conditions_text):
        # "Now available in 2026" holds of what came out in 2025 too.
        year = figure(claim).low
        held = [(f"on sale since {value:.0f}", year, url) for _, value, url in readings if value < year]
        return replace(_compared(claim, [*readings, *held], fact), recomputed=readings[0][1] if readings else None)
    counts = [count for _, count, _ in _system_counts(claim, evidence)]
    if fact in OF_EACH or not counts:
        return _compared(claim, readings, fact)
    if fact == "tdp_w":
        return unknown("a system draws more than its chips do, and how much is not known here")
    totals = [(f"{number(n)} x {words}", n * value, url) for n in counts for words, value, url in readings]
    return _compared(claim, [*readings, *totals], fact)


def link_bandwidth(claim: Claim, evidence: Evidence) -> Finding:
    """Check a bandwidth between chips, which may be stated of one direction or of both."""
    readings = [
        (f"{chip_words(chip)} {words}", value * factor / 1000, url)
        for chip in evidence.named(claim.thing.chips)
        for value, url, _ in evidence.sources(chip, "interconnect_gb_s")
        for words, factor in (("in both directions", 2), ("in one direction", 1))
    ]
    return _compared(claim, readings, "interconnect_gb_s")


def accelerators(claim: Claim, evidence: Evidence) -> Finding:
    """Check how many chips a machine or a system has."""
    return _compared(claim, _system_counts(claim, evidence), "chips", exact=True)


def machine_figure(claim: Claim, evidence: Evidence) -> Finding:
    """Check vCPUs and host memory of a machine, or of a system of a chip, which may be of several generations."""
    thing, fact = claim.thing, MACHINE_FACTS[claim.metric]
    systems = tuple(f"{name} UltraServer" for name, _ in thing.chips) if "ultra" in thing.text.casefold() else ()
    readings = [
        (f"{one.machine} has {number(one.value)}", one.value, one.source_url)
        for one in machine_facts()
        if one.fact == fact
        and (one.machine == thing.instance_type if thing.instance_type else one.machine.startswith(systems or ("\0",)))
    ]
    return _compared(claim, readings, fact, exact=True)


def generation(claim: Claim, evidence: Evidence) -> Finding:
    """Check the generation of a chip or of a machine's chips, which is the number in the chip's name."""
    readings = [
        (f"the chip is {name}", float(digits[1]), "")
        for name, _ in claim.thing.chips
        if (digits := re.search(r"(?:Trainium|Inferentia|Gaudi|TPU-v)(\d+)", name))
    ]
    return _compared(claim, readings, "generation", exact=True)


def speed_ratio(claim: Claim, evidence: Evidence) -> Finding:
    """Check how much faster FP4 is than FP8 on one chip."""
    readings = [
        (f"{chip_words(chip)}: {number(four)} / {number(eight)} TFLOP/s", four / eight, "")
        for chip in evidence.named(claim.thing.chips)
        if (four := evidence.fact(chip, "dense_fp4_tflops")) and (eight := evidence.fact(chip, "dense_fp8_tflops"))
    ]
    return _compared(claim, readings, "the ratio of peaks")


def weights(claim: Claim, evidence: Evidence) -> Finding:
    """Check the memory that the weights of a model take in a precision."""
    size, precision = claim_text.parameters(claim.subject_text), claim.conditions.precision
    if size is None or precision is None:
        return unknown("size of the model or its precision is not stated")
    bytes_each = evidence.bytes_per_value(precision)
    (value,) = evidence.formula("physics.memory_needed_gb", (size * bytes_each, 1.0, 0.0))
    words = f"{number(size)} parameters x {number(bytes_each)} bytes"
    return _compared(claim, [(words, value, "")], "weights", basis="arithmetic")


def memory_fit(claim: Claim, evidence: Evidence) -> Finding:
    """Check whether a model fits into the memory of what is named: weights, and optimizer where training is meant."""
    thing = claim.thing
    words = " ".join((claim.words, *claim.subject.others))
    model, precision = model_named(claim.model_name), claim.conditions.precision
    size = float(model.parameters_total) if model else claim_text.parameters(words)
    forms = [chip for chip in evidence.named(thing.chips) if evidence.fact(chip, "memory_gb")]
    if size is None or not forms:
        return unknown("size of the model or memory of the chip is not known here")
    name = model.model_name if model else f"{number(size / 1e9)} billion parameters"
    widths = [evidence.bytes_per_value(one) for one in ((precision,) if precision else MIN_FIRST)]
    optimizer = bool(re.search(r"optimi[sz]er", words))
    needs = []
    for width in widths:
        (gigabytes,) = evidence.formula("physics.memory_needed_gb", (size * width, 1.0, 0.0))
        needs.append((f"weights of {name} at {number(width)} bytes a parameter: {number(gigabytes)} GB", gigabytes))
        if optimizer:
            (state,) = evidence.formula("physics.training_memory_gb", (size, 16.0))
            needs[-1] = (needs[-1][0] + f"; with gradients and Adam {number(state)} GB", gigabytes)
    readings, fits = [], False
    for chip in forms:
        chips = thing.count or (evidence.fact(chip, "scale_up_domain") if thing.is_system else None) or 1
        memory = (evidence.fact(chip, "memory_gb") or 0.0) * chips
        for text, gigabytes in needs:
            fits |= gigabytes <= memory
            sign = "<=" if gigabytes <= memory else ">"
            readings.append(f"{text} {sign} {number(memory)} GB of {number(chips)} x {chip_words(chip)}")
    return found(
        CONSISTENT if fits else IMPOSSIBLE,
        "bound",
        f"{next((one for one in readings if '<=' in one), readings[0])}: {'it fits' if fits else 'it cannot fit'}",
        recomputed=min(gigabytes for _, gigabytes in needs),
        readings=tuple(readings),
        bounds=("memory of one chip in its vendor's own number",),
        documents=tuple(dict.fromkeys(url for chip in forms for _, url, _ in evidence.sources(chip, "memory_gb")[:1])),
    )


def _peak_fact(claim: Claim) -> str | None:
    match = _PEAK.fullmatch(claim.metric)
    if match is None:
        return None
    sparse = match[2] or claim.conditions.is_sparse or claim.thing.is_sparse
    return f"{'sparse' if sparse else 'dense'}_{match[1]}_{'tops' if match[1] == 'int8' else 'tflops'}"


def _readings(chip: Chip, fact: str, evidence: Evidence) -> Iterable[Reading]:
    for name in dict.fromkeys((fact, fact.replace("bf16", "fp16"))):
        for rank, (value, url, note) in enumerate(evidence.sources(chip, name), 1):
            if rank > 1 and note and any(words in note.casefold() for words in PRINTED_WRONG):
                continue
            remark = f" ({note})" if rank > 1 and note else ""
            yield f"{chip_words(chip)} {name}{remark}", value, url
    for value, url, note in evidence.sources(chip, fact)[:1]:
        if stacks := re.search(r"stacks hold (\d+)", note or ""):
            words = f"{chip_words(chip)} {fact} of its stacks, of which software sees {number(value)}"
            yield words, float(stacks[1]), url


def _system_counts(claim: Claim, evidence: Evidence) -> list[Reading]:
    """Return the chips that a machine has by its type, or a system by its words or the domain of its chip."""
    thing = claim.thing
    if facts := claim_text.machines().get(thing.instance_type or ""):
        return [(f"{thing.instance_type} in ref.instance_type", float(facts.accelerator_count), facts.source_url)]
    if thing.count:
        return [(f"its words say {thing.count}", float(thing.count), "")]
    if thing.instance_type or not thing.is_system:
        return []
    return [
        (f"the scale-up domain of {chip_words(chip)}", value, url)
        for chip in evidence.named(thing.chips)
        for value, url, _ in evidence.sources(chip, "scale_up_domain")
    ]


def _compared(
    claim: Claim, readings: Iterable[Reading], what: str, *, exact: bool = False, basis: str = "evidence"
) -> Finding:
    """Return whether a claim is any of the figures that it may mean."""
    tried = list(readings)
    if not tried:
        return unknown(f"no citable source of {what} of {claim.subject_text} is known here")
    unit = scale(claim)
    claimed_range = figure(claim) * exactly(unit) if exact else claimed(claim, reached=True)
    slack = 0.0 if exact or claim.unit in EXACT_UNITS else PUBLISHED_ROUNDING
    agreeing = [one for one in tried if claimed_range.meets(Range(one[1] * (1 - slack), one[1] * (1 + slack)))]
    words, value, _ = min(agreeing or tried, key=lambda one: abs(one[1] - claimed_range.middle))
    shown, verb = value / unit, "agrees with" if agreeing else "is not"
    # A year has no thousands.
    write = "{:.0f}".format if claim.unit in ("year", "date") else number
    return found(
        CONSISTENT if agreeing else INCONSISTENT,
        basis,
        f"claimed {claim.figure} {claim.unit} {verb} {write(shown)} {claim.unit}: {words}",
        recomputed=shown,
        readings=tuple(f"{text}: {write(each / unit)} {claim.unit}" for text, each, _ in tried),
        documents=tuple(dict.fromkeys(url for _, _, url in (agreeing or tried) if url)),
    )


CHECKS: dict[str, Callable[[Claim, Evidence], Finding]] = {
    _PEAK.pattern: chip_fact,
    "|".join(PLAIN_FACTS): chip_fact,
    r"spec_nvlink_[gt]b_s": link_bandwidth,
    r"spec_accelerators": accelerators,
    "|".join(MACHINE_FACTS): machine_figure,
    r"spec_generation": generation,
    r"spec_fp4_speedup": speed_ratio,
    r"spec_weights_gb": weights,
    r"capacity_fit": memory_fit,
}
