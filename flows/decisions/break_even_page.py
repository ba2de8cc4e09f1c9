"""The answer of `decide move` for people; and sections as text, or as a page that needs nothing else."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from flows.decisions import regions
from flows.decisions.break_even_sides import described
from flows.shared import output
from reports import wording
from reports.pages import frame

words_of = partial(wording.words_of, package=__package__)
MAX_IN_FULL = 3
"""Points whose sums are shown in full, and lines of a long table; --json has all."""
MAX_LINES = 12
ENDS = ("soonest", "likely", "latest")


class Section(NamedTuple):
    """A title, lines of text, and a table, which a page shows on demand and on paper where it is `folded`."""

    title: str
    lines: Sequence[str]
    table: Sequence[Mapping[str, Any]] = ()
    folded: bool = False


def sections(found: Mapping[str, Any]) -> list[Section]:
    """Return the answer in sections, the conclusion first."""
    inputs = found["inputs"]
    verdict = words_of("answer")[found["answer"] or ""].format(horizon=wording.count(inputs["horizon_months"], "month"))
    lines = [verdict, *(f"unknown: {reason}" for reason in found["unknown"]), f"Formula: {found['formula']}"]
    lines += [f"Not included: {', '.join(found['not_included'])}.", *regions.lines(found["regions"])]
    weeks = inputs["weeks"]
    if inputs.get("effort"):
        lines.append(
            f"Weeks of work for one model: {weeks['low']:g} to {weeks['high']:g}, one author's estimate for a port "
            "from CUDA to Neuron, and no measurement (claims S2-047 to S2-049 of `chipledger audit`)."
        )
    parts = [Section("Does the move pay?", lines, [_summary(case) for case in found["cases"][:MAX_LINES]])]
    for case in found["cases"][:MAX_IN_FULL]:
        parts += _in_full(case, inputs)
    hidden = len(found["cases"]) - MAX_IN_FULL
    if hidden > 0:
        parts.append(Section("More points", [f"{hidden} more in full: name --model and --interactivity, or --json."]))
    if found["needed"]:
        parts.append(_needed(found["needed"], inputs))
    return parts


def _summary(case: Mapping[str, Any]) -> dict[str, Any]:
    likely, whole = case["likely"], case["whole_units"]
    return {
        "point": _point(case),
        "answer": case["answer"],
        **{
            f"{side} USD/M": " / ".join(_word(case[side][each]) for each in ("low", "likely", "high"))
            for side in ("from", "to")
        },
        "tokens": _end(likely, "break_even_tokens"),
        "months of running": _end(likely, "break_even_months"),
        "pays from USD/month": likely["spend_to_pay_usd_per_month"],
        **({} if whole is None else {"in whole machines": whole["verdict"]}),
    }


def _point(case: Mapping[str, Any]) -> str:
    return "given" if case["point"] is None else described(list(case["point"].values()))


def _in_full(case: Mapping[str, Any], inputs: Mapping[str, Any]) -> list[Section]:
    """Return the sums, the flips and the evidence of one point."""
    horizon = wording.count(inputs["horizon_months"], "month")
    names = {name: words.format(horizon=horizon) for name, words in words_of("sum").items()}
    sums = [{"": words, **{end: _end(case[end], name) for end in ENDS}} for name, words in names.items()]
    months = {end: case[end]["break_even_months"] for end in ENDS}
    sums[12:12] = [
        {"": words, **{end: None if each is None else each * factor for end, each in months.items()}}
        for words, factor in (("the same in days", 730 / 24), ("the same in years", 1 / 12))
    ]
    lines = [
        f"The {end} is unknown: the {price} price of a side is not known."
        for end, price in (("soonest", "dearest or cheapest"), ("latest", "cheapest or dearest"))
        if case[end]["saving_usd_per_million"] is None and case["likely"]["saving_usd_per_million"] is not None
    ]
    if case["whole_units"]:
        whole = case["whole_units"]
        lines.append(
            f"In whole machines, paid all month: {wording.count(whole['from_accelerators'], 'chip')} at "
            f"{_word(whole['from_usd_per_month'])} USD a month before, {whole['to_accelerators']:g} at "
            f"{_word(whole['to_usd_per_month'])} after: {whole['verdict']}"
            + (f", {_word(whole['break_even_months'])} months." if whole["break_even_months"] is not None else ".")
        )
    named = ({**flip, "input": words_of("input")[flip["name"]]} for flip in case["flips"])
    flips = [{words: flip[name] for name, words in words_of("flip").items()} for flip in named]
    evidence = [_evidence(case[side], side=side) for side in ("from", "to") if case[side]["basis"] == "measured"]
    note = "Each alone, all else unchanged; the nearest first." if flips else "No value of one input flips the answer."
    return [
        Section("Sums" if case["point"] is None else _point(case), lines, sums),
        *([Section("What would flip the answer", [note], flips)] if inputs["tokens_per_day"] else []),
        *([Section("Evidence", [], evidence)] if evidence else []),
    ]


def _end(row: Mapping[str, Any], name: str) -> Any:
    late = name in {"break_even_tokens", "break_even_months", "months_from_start"}
    return "never" if late and row["move_verdict"] == "never" else row[name]


def _evidence(of: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """Return what is shown of a price and, where there is one, of its run."""
    document = (of["price_document_sha256"] or "")[:12]
    known = {**of, **more, "chip": wording.chip(of), "seen_on": of["last_observed_at"].date(), "document": document}
    return {words: known[name] for name, words in words_of("evidence").items() if name in known}


def _needed(needed: Sequence[Mapping[str, Any]], inputs: Mapping[str, Any]) -> Section:
    """Return what the side that was not measured would have to reach at its price."""
    table = [
        {
            "side": one["side"],
            "at the point": _point(one),
            "other side USD/M": one["known"]["likely"],
            "tok/s a chip for equal cost": one["rate_to_be_equal"],
            f"to pay in {wording.count(inputs['horizon_months'], 'month')}": one["rate_to_pay"]
            or (None if inputs["tokens_per_day"] is None else "no rate"),
            "equal cost, of what compute allows": one["equal_share_of_bound"],
            **_evidence(one["price"]),
        }
        for one in needed[:MAX_LINES]
    ]
    lines = ["The to-side must reach at least, the from-side must not exceed, so many tokens per second and chip."]
    if len(needed) > MAX_LINES:
        lines.append(f"{len(needed) - MAX_LINES} more points in --json, or name --model.")
    return Section("What the side without a run would have to reach", lines, table)


def text(parts: Sequence[Section]) -> str:
    """Return sections as plain text, of tables too wide for the line the columns that matter most."""
    tables = (output.text_table(_shown(part), [*words_of("kept")], is_open=True) for part in parts)
    blocks = (filter(None, (part.title, *part.lines, table)) for part, table in zip(parts, tables, strict=True))
    return "\n\n".join(map("\n".join, blocks))


def render(parts: Sequence[Section], title: str) -> str:
    """Return sections as an HTML page; the same sections give the same bytes, and all text is escaped."""
    return frame.answer(title, [(part.title, part.lines, _shown(part), (), part.folded) for part in parts])


def _shown(part: Section) -> list[dict[str, str]]:
    return [{name: _word(value) for name, value in row.items()} for row in part.table]


def _word(value: object) -> str:
    """Return a value for reading: four digits that count, thousands apart."""
    rounded = float(f"{value:.4g}") if isinstance(value, float) else value
    if isinstance(rounded, float) and (abs(rounded) >= 1000 or rounded.is_integer()):
        return f"{rounded:,.0f}"
    return output.word(rounded)
