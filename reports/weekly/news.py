"""What a week says, in words: the subject, the sentences of what happened, and those of what was not seen.

All is plain text on one line without control characters; where it goes, it is escaped.
"""

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date

import polars as pl

from reports import wording
from reports.queries import Row
from reports.weekly.facts import WeekFacts

MAX_SUBJECT = 78
MAX_NAME = 80
MAX_REASON = 200
MIN_RATE = 0.005
"""Smaller moves of a rate of exchange are not shown."""
MAX_OTHERS = 3
"""Other providers that a sentence names."""
MAX_SCOPES = 3
MIN_COVERAGE = 0.95
"""The share of a provider's list prices that a week must have confirmed, to say that the list did not change."""
TROUBLED = {"missing": "never read", "stale": "not read in time", "retry": "not read last time"}


def line(text: object) -> str:
    """Return text from outside on one line, without control, format or private characters."""
    joined = " ".join(str(text).split())
    return "".join(c for c in joined if unicodedata.category(c)[0] != "C")


def brief(text: object, most: int = MAX_NAME) -> str:
    """Return a name from outside on one line, cut where it is longer than any name is; a dash where it is unknown."""
    return wording.UNKNOWN if text is None else wording.short(line(text), most=most)


def chip_of(row: Row) -> str:
    """Return the chip of a row with its form: H100 SXM; a dash where it is unknown."""
    return brief(wording.chip(row) or None)


def name_of(row: Row) -> str:
    """Return what moved: AWS's instance type with its chip, or the chip with its form."""
    chip = wording.chip(row)
    if row["offered"] is None:
        return brief(chip or None)
    return brief(f"{row['offered']} ({chip})" if chip and chip != row["offered"] else row["offered"])


def terms_of(row: Row) -> str:
    """Return provider, purchase option and tier of a move."""
    return brief(wording.listed(row["service_provider_name"], wording.option_of(row), row["tier"]))


def amounts(row: Row) -> tuple[str, str]:
    """Return the two prices of a move with as many places as it takes to distinguish them."""
    places = wording.places_of_pairs([(row["price_before"], row["price_after"])])
    return wording.amount(row["price_before"], places), wording.amount(row["price_after"], places)


def currency(row: Row) -> str:
    """Return the currency of a row's prices."""
    return brief(row["pricing_currency"] or "in an unknown currency", most=24)


def withdrawn(row: Row, page: date) -> str:
    """Return what was said of a price that was withdrawn, what it was, and why: of a row of the SELECT withdrawn.

    Days are without the year where it is that of the page.
    """
    wrong, right = row["said_price"], row["price"]
    places = wording.places_of_pairs([(wrong, right)])
    chip = wording.chip(row) or row["offered"]
    option = "" if row["purchase_option"] == "on_demand" else f", {wording.option(row['purchase_option'])}"
    first, last, until = (wording.near(row[name], page) for name in ("said_from", "said_until", "withdrawn_at"))
    days = first if first == last else f"{first} to {last}"
    was = "what it was is not known" if right is None else f"it was {wording.amount(right, places)}"
    of = f" ({wording.count(row['n_offers'], 'offer')})" if row["n_offers"] > 1 else ""
    return (
        f"{brief(chip)} at {brief(row['service_provider_name'])}{option}{of}: until {until} we published "
        f"{wording.amount(wrong, places)} {currency(row)} of {days}; {was}, because: "
        f"{brief(row['reason'], most=MAX_REASON).rstrip('.')}."
    ).replace(wording.NBSP, " ")


def on(moment: date | None, found: WeekFacts) -> str:
    """Return a day as a reader says it, with the year where it is not the week's: 31 May; a dash where unknown."""
    return wording.near(moment, date(found.week.year, 1, 1)).replace(wording.NBSP, " ")


def subject(found: WeekFacts) -> str:
    """Return the news in at most 78 characters: the biggest move on the reader's chips, or that there is none.

    Whether AWS's list changed, and that sources failed, stands behind it where there is space.
    """
    n = found.n_checked
    if not n:
        return f"No price was confirmed in {found.week}: {why_nothing(found)}"
    behind = _troubled(found).height
    last = [f"{wording.count(behind, 'scope')} not read"] if behind else []
    last += [f"{wording.count(n_held, 'move')} held"] if (n_held := sum(_held(found).values())) else []
    biggest = found["biggest"]
    if not biggest.height:
        large = " large" * any(row["is_of_chips"] for row in found["repriced"].to_dicts())
        start = f"No{large} change on your chips" if found.lists.height else "No change"
        return _joined([f"{start}, {wording.count(n, 'price')} checked", *last])
    row = biggest.row(0, named=True)
    more = row["n_biggest"] - 1
    tail = [*aws_words(found), *last, *([f"{wording.count(more, 'more move')}"] if more else [])]
    verb = "raised" if row["change_ratio"] > 0 else "cut"
    option = "" if row["purchase_option"] == "on_demand" else f"{wording.option(row['purchase_option'])} "
    unit = "" if row["pricing_currency"] == "USD" else f" {currency(row)}"
    end = f"{option}{chip_of(row)} {whole_percent(row['change_ratio'])} to {amounts(row)[1]}{unit}"
    who = brief(row["service_provider_name"], most=max(MAX_SUBJECT - len(verb) - len(end) - 2, 8))
    return _joined([f"{who} {verb} {end}", *tail])


def why_nothing(found: WeekFacts) -> str:
    """Return why no price is known of a week in which none was confirmed."""
    if found.is_before_all:
        return f"the first fetch was on {on(found.begun_at, found)}"
    n_refused = found["refused"].height
    return f"{wording.count(n_refused, 'row')} held or refused" if n_refused else "nothing was read"


def aws_words(found: WeekFacts) -> list[str]:
    """Return what may be said of AWS's list where none of it moved: unchanged only where nearly all was confirmed."""
    if found.lists.filter(pl.col("service_provider_name") == "AWS").height:
        return []
    rows = found["checked"].filter(pl.col("service_provider_name") == "AWS")
    if not rows.height or not rows["n_listed_checked"].item():
        return ["AWS list not read"]
    if rows["n_listed_checked"].item() < MIN_COVERAGE * rows["n_listed"].item():
        return ["AWS read in part"]
    return [] if "AWS" in _held(found) else ["AWS unchanged"]


def _held(found: WeekFacts) -> Mapping[str, int]:
    """Return of how many prices a move of the week waits to be confirmed, by provider, the most first."""
    rows = found["refused"].filter(gate="history").drop_nulls("offer_id").unique("offer_id", maintain_order=True)
    return dict(Counter(json.loads(text).get("service_provider_name") for text in rows["row_json"]).most_common())


def happened(found: WeekFacts) -> list[str]:
    """Return what happened in two or three sentences: the provider that moved most, the others, and AWS."""
    held = [
        f"{wording.count(n_moves, 'move')} of list prices at {brief(name)} held until confirmed, in no number."
        for name, n_moves in _held(found).items()
    ]
    n = found.n_checked
    if not n:
        return ["No price was confirmed in this week, so no price is known to have held.", *held]
    repriced, biggest = found["repriced"].to_dicts(), found["biggest"]
    rest = (*held, *_elsewhere(repriced), *_of_aws(found))
    if not biggest.height:
        seen = found["checked"].filter(pl.col("n_checked") > 0).height
        first = f"No list price of your chips moved{' by much' if any(r['is_of_chips'] for r in repriced) else ''}"
        at = wording.count(seen, "provider")
        return [f"{first}; {wording.count(n, 'price')} of {at} were confirmed.", *rest]
    row = biggest.row(0, named=True)
    own = next(each for each in repriced if each["service_provider_name"] == row["service_provider_name"])
    others = [each for each in repriced if each is not own and each["is_of_chips"]]
    return [_news(row, own), *_since(row, found), _others(others, found), *rest]


def _news(row: Row, own: Row) -> str:
    """Return the biggest move with what else its provider moved, in one sentence."""
    before, after = amounts(row)
    rose = row["change_ratio"] > 0
    unit = f"{currency(row)} per chip-hour"
    option = "" if row["purchase_option"] == "on_demand" else f" {wording.option(row['purchase_option'])}"
    moved = f"from {before} to {after} {unit} ({wording.percent(row['change_ratio'])})"
    who, chip = brief(row["service_provider_name"]), chip_of(row)
    if own["n_moved"] == 1:
        start = f"{who} {'raised' if rose else 'cut'} {chip}{option} {moved}"
    else:
        start = f"{who} {_repriced(own)}; {chip}{option} {'rose' if rose else 'fell'} {moved}"
    node = row["node_month_usd"]
    if node is None:
        return f"{start}."
    return f"{start}: {wording.amount(abs(node), 0)} USD {'more' if rose else 'less'} a month for a node of 8 chips."


def _repriced(row: Row) -> str:
    """Return how many list prices a provider moved: raised 11 list prices by 7 to 79 %."""
    ways = [(row["n_raised"] or 0, "raised"), (row["n_cut"] or 0, "cut")]
    shown = sorted((way for way in ways if way[0]), key=lambda way: -way[0]) or [(row["n_moved"], "set")]
    words = " and ".join(f"{verb} {n:,}" for n, verb in shown)
    words += f" list price{'s' if sum(n for n, _ in shown) > 1 else ''}"
    if row["most_change"] is None:
        return words
    least, most = whole_percent(row["least_change"]), whole_percent(row["most_change"])
    return f"{words} by {most}" if least == most else f"{words} by {least.removesuffix(' %')} to {most}"


def _since(row: Row, found: WeekFacts) -> list[str]:
    """Return when the price before was last seen, where that was before the week: it moved on some day since."""
    seen = min((window["seen_from"] for window in row["windows"] if window["seen_from"]), default=found.week.since)
    return [f"The price before was last seen on {on(seen, found)}."] if seen < found.week.since else []


def _others(rows: Sequence[Row], found: WeekFacts) -> str:
    """Return who else of those that were read moved list prices of the reader's chips."""
    if not rows:
        n = found["checked"].filter(pl.col("n_checked") > 0).height - 1
        none = f"Of {wording.count(n, 'other provider')} read in the week none moved a list price of your chips."
        return none if n > 0 else "No other provider was read in the week."
    shown = [f"{brief(row['service_provider_name'])} {_repriced(row)}" for row in rows[:MAX_OTHERS]]
    left = len(rows) - len(shown)
    return "; ".join([*shown, *([wording.count(left, "other provider") + " moved some"] if left else [])]) + "."


def _elsewhere(repriced: Sequence[Row]) -> list[str]:
    """Return what moved at providers that moved none of the reader's chips; empty where nothing did."""
    others = [row for row in repriced if not row["is_of_chips"]]
    n = sum(row["n_moved"] for row in others)
    at = wording.count(len(others), "provider")
    return [f"Other chips only: {wording.count(n, 'list price')} moved at {at}."] if n else []


def _of_aws(found: WeekFacts) -> list[str]:
    """Return what is known of AWS's list where none of it moved."""
    if found.lists.filter(pl.col("service_provider_name") == "AWS").height:
        return []
    rows = found["checked"].filter(pl.col("service_provider_name") == "AWS")
    if not rows["n_listed"].sum():
        return [f"AWS's list was not read in this week, nor in the {found.ranked_days} days before."]
    row = rows.row(0, named=True)
    last = on(row["last_listed_at"], found)
    if not row["n_listed_checked"]:
        return [f"AWS's list was not read in this week; last on {last}."]
    seen = f"{row['n_listed_checked']:,} of its {wording.count(row['n_listed'], 'list price')}"
    if row["n_listed_checked"] >= MIN_COVERAGE * row["n_listed"]:
        start = "AWS" if "AWS" in _held(found) else "AWS moved nothing"
        return [f"{start}: {seen} were confirmed, last on {last}."]
    return [f"AWS was read in part: {seen} were confirmed, last on {last}, and none of those moved."]


def not_seen(found: WeekFacts) -> list[str]:
    """Return what was not read or not seen, and is therefore in no conclusion; worst first, empty where nothing is."""
    shown = []
    for state, words in TROUBLED.items():
        rows = _troubled(found).filter(pl.col("state") == state).to_dicts()
        places = [
            wording.scope(row) + (f" (last on {on(row['last_good_at'], found)})" * bool(row["last_good_at"]))
            for row in rows
        ]
        if places:
            listed = wording.few([brief(place) for place in places], most=MAX_SCOPES)
            shown.append(f"{wording.count(len(places), 'scope')} {words}: {listed}.")
    silent = [brief(row["service_provider_name"]) for row in found["checked"].to_dicts() if not row["n_checked"]]
    if silent:
        shown.append(
            f"{wording.count(len(silent), 'provider')} not seen in the week, but in the "
            f"{found.ranked_days} days before: {wording.few(silent, most=4)}."
        )
    priced = set(found["cheapest"]["accelerator_name"])
    if missing := [line(chip) for chip in found.chips if chip not in priced]:
        shown.append(
            f"No price of {wording.few(missing, most=len(missing))} was confirmed within the limit of age, "
            f"{found.ranked_days} days."
        )
    if n := found["refused"].height:
        shown.append(f"{wording.count(n, 'row')} refused, in no number.")
    n_late, earliest = found["late"].row(0)
    if n_late:
        shown.append(f"{wording.count(n_late, 'change')} of earlier weeks learnt now, from {on(earliest, found)} on.")
    return shown + checks(found)


def checks(found: WeekFacts) -> list[str]:
    """Return how many truth checks newly differ, and the first, without counts that grow each day; or nothing."""
    if not found.checks:
        return []
    how = wording.count(len(found.checks), "truth check newly differs", "truth checks newly differ")
    return [line(f"{how}: {found.checks[0]['check_name']}, {brief(found.checks[0]['subject'])}.")]


def also(found: WeekFacts) -> str:
    """Return in a sentence what moves by itself, what came and went, and what was left out, for the page."""
    by_kind = dict(found["offer"].group_by("change_kind").agg(pl.col("n_offers").sum()).iter_rows())
    shown = [
        f"{wording.count(by_kind[kind], 'offer')} {word}" for kind, word in wording.CAME.items() if kind in by_kind
    ]
    if drifting := int(found["drifting"]["n_moves"].sum()):
        shown.append(f"{wording.count(drifting, 'move')} of spot and market prices")
    for row in found["currency"].iter_rows(named=True):
        if abs(row["rate_change"]) >= MIN_RATE:
            change = wording.percent(row["rate_change"])
            shown.append(f"{line(row['pricing_currency'])} prices {change} in dollars by the rate alone")
    if found.doubts.height:
        words = ("correction or suspected error left out", "corrections and suspected errors left out")
        shown.append(wording.count(found.doubts.height, *words))
    return f"{'; '.join(shown)}." if shown else "Nothing came and nothing went."


def whole_percent(ratio: float) -> str:
    """Return the size of a change in whole percent, or one decimal below one."""
    share = abs(ratio)
    return f"{share * 100:,.0f} %" if share >= 0.01 else f"{share * 100:.1f} %"


def _troubled(found: WeekFacts) -> pl.DataFrame:
    """Return the scopes of live sources that had no good fetch when the week ended."""
    return found["scope"].filter((pl.col("kind") == "live") & pl.col("state").is_in([*TROUBLED]))


def _joined(parts: Sequence[str]) -> str:
    """Return as many parts as fit into a subject, the first one cut where it must be."""
    text = parts[0]
    for part in parts[1:]:
        text = f"{text}; {part}" if len(f"{text}; {part}") <= MAX_SUBJECT else text
    return text if len(text) <= MAX_SUBJECT else f"{text[: MAX_SUBJECT - 3].rstrip()}..."
