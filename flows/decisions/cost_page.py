"""The answer of `cost` for people: its lines and table in text, and the same as a page that needs nothing else."""

from collections.abc import Mapping, Sequence
from typing import Any

from flows.decisions import cost
from flows.shared import output
from reports.pages import frame


def shown(found: Mapping[str, Any], *, everything: bool) -> list[dict[str, Any]]:
    """Return the rows that a table shows, with short heads: all, or the cheapest of each point, chip and option."""
    if found["inputs"]["task"] == "training":
        rows = found["rows"] if everything else cost.cheapest(found["rows"])
        return [_training(row) for row in rows]
    full = [row for row in found["rows"] if row["utilisation"] == 1]
    rows = full if everything else cost.cheapest(full)
    others: dict[tuple[Any, ...], dict[float, Mapping[str, Any]]] = {}
    for row in found["rows"]:
        others.setdefault(_key(row), {})[row["utilisation"]] = row
    return [_serving(row, others[_key(row)]) for row in rows]


def sums(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the figures of a bare sum, one a line; from 1,000 on to the unit: a month of 15,695 USD is no 15,700."""
    return [
        {"what": name, "value": f"{value:,.0f}" if isinstance(value, float) and value >= 1000 else value}
        for name, value in found["rows"][0].items()
    ]


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["throughput_id"], row["offer_id"], row["interactivity"], row["scenario"], row["reach"]


def _serving(row: Mapping[str, Any], by_use: Mapping[float, Mapping[str, Any]]) -> dict[str, Any]:
    loaded = "usd_per_month_at_load" in row
    value = "usd_per_month_at_load" if loaded else "all_in_output_usd_median"
    head = "USD/month at" if loaded else "at"
    return {
        "scenario": _scenario(row),
        "tok/s/user": row["interactivity"],
        **_option(row),
        "low": row["all_in_output_usd_low"],
        "median": _median(row),
        "high": row["all_in_output_usd_high"],
        "total": row["total_usd_median"],
        "input": row["input_usd"],
        "output": row["output_usd"],
        **({"chips paid": row["paid_accelerators"]} if loaded else {}),
        **{f"{head} {used:.0%}": by_use[used][value] for used in (*((1.0,) if loaded else ()), 0.7, 0.5, 0.3)},
        **_ends(row),
    }


def _median(row: Mapping[str, Any]) -> object:
    """Return the cost, or how it is known where it is none that may be ranked."""
    if row["reach"] == "unreachable":
        return "unreachable"
    median = row["all_in_output_usd_median"]
    return f"at most {output.rounded(median)}" if row["reach"] == "at most" and median is not None else median


def _scenario(row: Mapping[str, Any]) -> str:
    lengths = [row["input_length"], row["output_length"]]
    words = "lengths " + " / ".join("?" if length is None else f"{length:g}" for length in lengths)
    return ", ".join(filter(None, (row["scenario"], row["precision"], words, row["decoding"], row["benchmark"])))


def _training(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "training": f"{row['benchmark']}, {row['accelerator_count']:g} chips",
        **_option(row),
        "USD/M": row["usd_per_million_tokens_median"],
        "low": row["training_usd_low"],
        "median": row["training_usd_median"],
        "high": row["training_usd_high"],
        "days": row["training_days"],
        **_ends(row),
    }


def _option(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "chip": " ".join(filter(None, (row["accelerator_name"], row["form_factor"]))),
        "provider": row["service_provider_name"],
        "type": row["instance_type"],
        "region": row["region_id"],
        "option": row["purchase_option"],
        "USD/chip-h": row["median_price_usd"],
        "price of": row["last_observed_at"].date(),
        "ranked": row["is_price_ranked"],
        "paid": row["price_basis"],
    }


def _ends(row: Mapping[str, Any]) -> dict[str, Any]:
    beaten = (
        {"price to beat": row["price_to_beat"], "rate to beat": row["rate_to_beat"]} if "price_to_beat" in row else {}
    )
    if beaten and (row["rate_to_beat_share_of_bound"] or 0) > 1:
        beaten["rate to beat"] = "IMPOSSIBLE"
    added = {name.removesuffix("_usd").replace("_", " "): row[name] for name in row if name.startswith("added_")}
    if "usd_with_added" in row:
        added["with added"] = row["usd_with_added"]
    return {
        **beaten,
        **added,
        "of bound": row["share_of_bound"],
        "grade": row["evidence_grade"],
        "measured": row["measured_on"],
    }


def head(found: Mapping[str, Any]) -> list[str]:
    """Return the lines before the table: inputs, unit, formula."""
    inputs = {name: value for name, value in found["inputs"].items() if value not in (None, (), [], "")}
    words = ", ".join(f"{name} {_word(value)}" for name, value in inputs.items())
    unit = {
        "training": "USD of the whole training; low, median, high over price and submitters",
        "serving": "USD per million output tokens, all of the machine charged to them, at full load",
    }
    is_sum = found["inputs"].get("price") is not None or found["inputs"].get("throughput") is not None
    return (
        [words, f"Formula: {found['formula']}"]
        if is_sum
        else [words, unit[inputs["task"]], f"Formula: {found['formula']}"]
    )


def nothing(found: Mapping[str, Any]) -> str:
    """Return the sentence for an answer without rows."""
    return (
        f"No measured run of {found['inputs']['model']} fits the question on a chip that is sold: nothing is "
        "estimated, and nothing near it is shown instead."
    )


def foot(found: Mapping[str, Any], n_shown: int) -> list[str]:
    """Return the lines after the table: what is not included, what is not shown and what is left out."""
    lines = [f"Not included: {', '.join(found['not_included'])}."] if found["not_included"] else []
    if found["added"]:
        lines.append(f"Added: {'; '.join(each['words'] for each in found['added'])}.")
    if len(found["rows"]) > 1:
        lines.append(f"{n_shown} rows of {len(found['rows'])} in all (--all, --json). Compare only equal scenarios.")
        lines.append("Grades: A official, B a vendor's document, C others, D without configuration or assumed.")
    lines += [f"Left out: {one['n_left_out']} {one['left_out_kind']}s: {one['reason']}." for one in found["left_out"]]
    return lines


def render(found: Mapping[str, Any], table: Sequence[Mapping[str, Any]]) -> str:
    """Return the answer as an HTML page; the same answer gives the same bytes, and all text is escaped."""
    shown = [{name: _word(row[name]) for name in table[0]} for row in table]
    before = head(found) + ([] if table else [nothing(found)])
    return frame.answer("Cost per token", [("Cost per token", before, shown, foot(found, len(table)))])


def _word(value: object) -> str:
    plain = output.plain(output.rounded(value))
    return "-" if plain is None or plain == "" else str(plain)
