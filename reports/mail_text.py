"""The plain-text part of the weekly mail: complete on its own, 72 columns wide, the news in its first ten lines."""

import textwrap
from collections.abc import Iterator, Sequence

from reports import weekly_news, wording
from reports.weekly_facts import WeekFacts

WIDTH = 72
LABEL = 7
"""Columns of a label at the head: NEWS, CHECK, DO, GAPS, MOVED, STAND, TOKEN."""
MOST_MOVED, MOST_STANDING, MOST_OFFERS = 25, 15, 15
MOST_PARTS = 12
"""More do not fit into two lines, and are not tried."""


def render(found: WeekFacts, *, least: float, page_url: str = "") -> str:
    """Return the text; a quiet week is three lines and a table of what was checked."""
    parts = [_quiet(found)]
    if not found.is_quiet:
        parts = [_head(found, least=least), *_of_fleet(found), *_moved(found), *_stand(found), *_offers(found)]
    return "\n\n".join([*parts, _checked(found), _foot(found, page_url)]) + "\n"


def head(found: WeekFacts, *, least: float) -> list[tuple[str, list[str]]]:
    """Return what stands first, label and parts: the news, the fleet, gaps, moves, where things stand, a token.

    YOU and DO are there where a fleet is known, CHECK where a truth check newly differs.
    """
    left = found.lists.height - len(weekly_news.items(found.moves, least=least))
    moved = weekly_news.moved(found, least=least) or ["no list price" + (", but for small moves" if left else "")]
    return [
        ("NEWS", [weekly_news.headline(found, least=least, short=True)]),
        *_checks(found),
        *_fleet(found),
        ("GAPS", weekly_news.gaps(found) or ["none: all that is known was read"]),
        ("MOVED", moved),
        ("STAND", weekly_news.stand(found) or ["no on-demand price was seen in this week"]),
        ("TOKEN", [weekly_news.token(found, whole=False)]),
    ]


def _fleet(found: WeekFacts) -> list[tuple[str, list[str]]]:
    return [("YOU", list(found.fleet.you)), ("DO", list(found.fleet.due))] if found.fleet else []


def _checks(found: WeekFacts) -> list[tuple[str, list[str]]]:
    return [("CHECK", told)] if (told := weekly_news.checks(found)) else []


def _head(found: WeekFacts, *, least: float) -> str:
    """Return the head: ten lines in all, two at most for a label; those of a fleet and of checks have one each."""
    most = {
        "NEWS": 2, "CHECK": 1, "YOU": 1, "DO": 1, "GAPS": 1 if found.fleet and found.checks else 2, "MOVED": 2,
        "STAND": 1 if found.fleet or found.checks else 2, "TOKEN": 1,
    }  # fmt: skip
    return "\n".join(fitted(label, parts, lines=most[label]) for label, parts in head(found, least=least))


def fitted(label: str, parts: Sequence[str], *, lines: int) -> str:
    """Return as many parts as fit into some lines after a label; how many are left out is said, a long one is cut."""

    def wrapped(text: str) -> list[str]:
        return textwrap.wrap(
            text, WIDTH, initial_indent=label.ljust(LABEL), subsequent_indent=" " * LABEL, break_on_hyphens=False
        )  # fmt: skip

    for n in range(min(len(parts), MOST_PARTS), 0, -1):
        left = len(parts) - n
        made = wrapped("; ".join(parts[:n]) + (f"; {left:,} more below" if left else ""))
        if len(made) <= lines:
            return "\n".join(made)
    left = len(parts) - 1
    end = "..." + (f" {left:,} more below" if left else "")
    words = parts[0].split()
    # Whole words only: half a number is another number.
    while words and len(wrapped(" ".join(words) + end)) > lines:
        words.pop()
    return "\n".join(wrapped(" ".join(words) + end))


def _quiet(found: WeekFacts) -> str:
    told = [weekly_news.headline(found)]
    if found.drifting.height:
        told.append(weekly_news.also(found))
    gaps = weekly_news.gaps(found)
    return "\n".join(
        (
            fitted("NEWS", [" ".join(told)], lines=1),
            *(fitted(label, parts, lines=1) for label, parts in (*_checks(found), *_fleet(found))),
            fitted("GAPS", gaps or ["none: all that is known was read"], lines=1),
            fitted("STAND", weekly_news.stand(found) or ["no on-demand price was seen in this week"], lines=1),
        )
    )


def _of_fleet(found: WeekFacts) -> Iterator[str]:
    """Yield what the head has no room for of the fleet, whole."""
    for label, parts in _fleet(found):
        if len(parts) > 1:
            lines = [textwrap.fill(part, WIDTH, initial_indent="- ", subsequent_indent="  ") for part in parts]
            yield "\n".join([{"YOU": "YOUR FLEET", "DO": "DUE"}[label], *lines])


def _moved(found: WeekFacts) -> Iterator[str]:
    """Yield the tables of moves: list prices, then what is left out as doubtful."""
    frames = (("MOVED (list prices)", found.lists), ("LEFT OUT (corrections and suspected errors)", found.doubts))
    for title, frame in frames:
        if not frame.height:
            continue
        lines = [title, f"{'':<31}{'was':>11} {'now':>10} {'change':>9}  when", "-" * WIDTH]
        for row in frame.head(MOST_MOVED).iter_rows(named=True):
            before, after = weekly_news.amounts(row)
            name = wording.short(weekly_news.name_of(row), most=31)
            change = wording.percent(row["change_ratio"])
            lines.append(f"{name:<31}{before:>11} {after:>10} {change:>9}  {row['event_at']:%m-%d}")
            unit = " a chip" if row["is_per_chip"] else " a machine"
            terms = f"{weekly_news.terms_of(row)}; {weekly_news.line(row['pricing_currency'])} per hour{unit}"
            lines += textwrap.wrap(f"{terms}; {_window(row)}", WIDTH, initial_indent="  ", subsequent_indent="  ")
        left = frame.height - MOST_MOVED
        yield "\n".join(lines + ([f"{left:,} more on the page"] if left > 0 else []))


def _window(row: dict[str, object]) -> str:
    before, after = row["event_from"], row["event_at"]
    told = f"after {before:%Y-%m-%d %H:%M}, by {after:%Y-%m-%d %H:%M}" if before else f"by {after:%Y-%m-%d %H:%M}"
    windows = row["windows"]
    return told + (f", {len(windows)} sightings" if isinstance(windows, list) and len(windows) > 1 else "")


def _stand(found: WeekFacts) -> Iterator[str]:
    rows = list(found.stand.head(MOST_STANDING).iter_rows(named=True))
    if not rows:
        return
    places = wording.places_of(row[name] for row in rows for name in ("cheapest_price_usd", "median_price_usd"))
    lines = ["STAND (on demand, USD per chip-hour, seen in this week)"]
    lines += [f"{'':<19}{'cheapest seen, by':<25}{'median':>8} {'AWS':>8}", "-" * WIDTH]
    for row in rows:
        chip = wording.short(" ".join(p for p in (row["accelerator_name"], row["form_factor"]) if p), most=18)
        who = wording.short(weekly_news.line(row["cheapest_provider"]), most=15)
        cheapest = wording.amount(row["cheapest_price_usd"], places)
        median, aws = wording.amount(row["median_price_usd"], places), wording.amount(row["aws_price_usd"], places)
        dated = weekly_news.dated(found, row).removeprefix(" of ") if row["aws_price_usd"] is not None else ""
        lines.append(f"{chip:<19}{cheapest:>8} {who:<16}{median:>8} {aws:>8} {dated}".rstrip())
        if found.rate and found.rate.usd_per_unit is not None:
            names = ("cheapest_price_usd", "median_price_usd", "aws_price_usd")
            other = [(found.rate.amount(row[name], places) or wording.UNKNOWN).split(" ")[0] for name in names]
            lines.append(f"{'':<19}{other[0]:>8} {found.rate.currency:<16}{other[1]:>8} {other[2]:>8}")
    if found.rate:
        lines += textwrap.wrap(found.rate.words(), WIDTH)
    yield "\n".join(lines)


def _offers(found: WeekFacts) -> Iterator[str]:
    rows = list(found.offers.head(MOST_OFFERS).iter_rows(named=True))
    if not rows:
        return
    kinds = {"new_offer": "new", "gone_offer": "gone", "returned_offer": "back"}
    lines = ["NEW AND GONE", "-" * WIDTH]
    for row in rows:
        option = wording.option(row["purchase_option"])
        what = f"{row['offered']}, {row['service_provider_name']}, {option}{', ' + row['tier'] if row['tier'] else ''}"
        told = wording.short(weekly_news.line(what), most=59)
        lines.append(f"{kinds[row['change_kind']]:<5}{row['n_offers']:>5,}  {told}")
    left = found.offers.height - len(rows)
    yield "\n".join(lines + ([f"{left:,} more rows on the page"] if left > 0 else []))


def _checked(found: WeekFacts) -> str:
    lines = ["CHECKED", f"{'':<28}{'prices':>8} {'of known':>9}  last seen", "-" * WIDTH]
    for row in found.checked.iter_rows(named=True):
        name = wording.short(weekly_news.line(row["service_provider_name"]), most=27)
        lines.append(f"{name:<28}{row['n_checked']:>8,} {row['n_known']:>9,}  {wording.day(row['last_observed_at'])}")
    if not found.checked.height:
        lines.append("nothing was known")
    return "\n".join(lines)


def _foot(found: WeekFacts, page_url: str) -> str:
    known = "was known when it ended" if found.known_then else "is known now"
    text = (
        f"Week {found.week}, Monday to Sunday, UTC, from what {known}; file of {wording.minute(found.built_at)}. "
        "Cheapest seen is not cheapest: who was not read is not in it. Spot and market prices move by themselves "
        "and are counted, not listed."
    )
    return "\n".join([*textwrap.wrap(text, WIDTH), *([page_url] if page_url else [])])
