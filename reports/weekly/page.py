"""The weekly page: the sections of the brief, then all details, folded; one HTML text that needs nothing else."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from reports import wording
from reports.pages.frame import frame, section
from reports.tables import provider_tables, source_tables
from reports.tables.sheet import to_html
from reports.weekly import news, sections, tables
from reports.weekly.archive import PROVISIONAL, Edition
from reports.weekly.facts import WeekFacts
from reports.weekly.pages import place
from reports.weekly.sections import Section

DETAILS = "details"
_DRAWN = re.compile(r'<svg class="(?:chart|spark)\b.*?</svg>|<div class="charts">.*?</div><!-- charts -->', re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Made:
    """A page that was made, and why parts of it could not be."""

    text: str
    faults: tuple[str, ...]


def render(found: WeekFacts, earlier: Sequence[Edition] = (), *, draw: bool = True) -> Made:
    """Return the page; the same facts and earlier editions give the same bytes. Without `draw` it has no charts."""
    brief = sections.brief(found)
    faults = [*brief.faults]
    details = "\n".join(
        f"<details><summary>{title}</summary>{_guarded(title, make, found, faults)}</details>"
        for title, make in PARTS.items()
    )
    charts = _guarded("Charts", _charts, found, faults) if draw else ""
    parts = [_section(each, charts if each.key == "moves" else "") for each in brief.sections]
    main = "\n".join((*parts, section(DETAILS, "Details", [details])))
    # How a chart is drawn is nothing that the page says.
    said = _DRAWN.sub("", f"{brief.subject}\n{main}")
    content = hashlib.sha256(said.encode()).hexdigest()[:32]
    marks = [f'<meta name="chipledger:content" content="{content}">', *([] if found.is_over else [PROVISIONAL])]
    state = "" if found.is_over else f", so far: the week is over on {wording.day(found.week.until)}"
    known = "from what was known when it ended" if found.known_then else "from what is known now"
    text = frame(
        title=f"Accelerator prices, week {found.week}",
        headline=brief.subject,
        place=place(found.week, known_then=found.known_then),
        built_at=found.built_at,
        version=found.version,
        header=_header(found, earlier),
        nav=[*((each.key, each.title) for each in brief.sections), (DETAILS, "Details")],
        main=main,
        kind=f"Week {found.week}{state}, {known}",
        head=marks,
        footer="This page stays at its address; where it is written anew, the earlier edition stays next to it.",
    )
    return Made(text=text, faults=tuple(faults))


def _guarded(title: str, make: Callable[[WeekFacts], str], found: WeekFacts, faults: list[str]) -> str:
    """Return a part, or that it could not be made, and why."""
    try:
        return make(found)
    except Exception as error:  # noqa: BLE001 (whatever it is, it costs this part and no other)
        faults.append(f"{title}: {type(error).__name__}: {wording.short(str(error))}")
        return f'<div class="warn">This part could not be made: {escape(faults[-1])}</div>'


def _header(found: WeekFacts, earlier: Sequence[Edition]) -> str:
    """Return what stands below the headline: the reader's chips, and what earlier editions said."""
    also = f"<p>{escape(sections.opening(found))}</p>"
    if not earlier:
        return also
    said = "; ".join(
        f'<a href="{escape(each.name)}">edition {each.number}</a> said: {escape(each.headline)}' for each in earlier
    )
    now = f"This is edition {earlier[-1].number + 1}, which says more or something else than before"
    return f"{also}\n<p>{now}: {said}</p>"


def _section(each: Section, charts: str) -> str:
    """Return a section of the brief."""
    parts = [f"<p>{escape(sentence)}</p>" for sentence in each.sentences]
    if each.fault:
        parts.insert(0, f'<div class="warn">This section could not be made: {escape(each.fault)}</div>')
    if each.table and each.table.rows:
        made = tables.short(each.table, id=f"{each.key}-table", title=each.title, note=escape(each.note))
        parts.append(to_html(made))
    elif each.note:
        parts.append(f"<p>{escape(each.note)}</p>")
    return section(each.key, each.title, [*parts, charts])


def _charts(found: WeekFacts) -> str:
    """Return the charts of what moved; what draws them takes a second to start, which a quiet week need not pay."""
    if not found.lists.height:
        return ""
    from reports.weekly import charts as week_charts

    return f"{week_charts.figures(found)}<!-- charts -->"


def _moved(found: WeekFacts) -> str:
    parts = [f"<p>{escape(news.also(found))}</p>"]
    if found.lists.height:
        offers = wording.count(int(found.lists["n_offers"].sum()), "offer")
        title = f"List prices: {wording.count(found.lists.height, 'move')} of {offers}"
        parts.append(to_html(tables.moves(found, found.lists, id="all-moves", title=title)))
    if found.doubts.height:
        words = "correction or suspected error", "corrections and suspected errors"
        title = f"{wording.count(found.doubts.height, *words)}, in no number above"
        parts.append(to_html(tables.moves(found, found.doubts, id="doubts", title=title)))
    if found["drifting"].height:
        moved = "; ".join(
            f"{row['service_provider_name']} {wording.option(row['purchase_option'])}: "
            f"{wording.count(row['n_moves'], 'move')} of {wording.count(row['n_offers'], 'offer')} "
            f"({row['n_down']:,} down, {row['n_up']:,} up)"
            for row in found["drifting"].iter_rows(named=True)
        )
        parts.append(f"<p>Spot and market prices, which move by themselves: {escape(moved)}.</p>")
    if found.drift is not None and found.drift.height:
        parts.append(to_html(tables.drift(found.drift, found)))
    return "\n".join(parts)


def _offers(found: WeekFacts) -> str:
    return to_html(tables.offers(found)) if found["offer"].height else "<p>Nothing came and nothing went.</p>"


def _providers(found: WeekFacts) -> str:
    prices = found["provider_price"]
    parts = [f"<p>{escape(found.rate.words())}</p>"] if found.rate else []
    parts += [
        to_html(provider_tables.by_provider(prices, option, rate=found.rate))
        for option in provider_tables.options_shown(prices)
    ]
    return "\n".join(parts) or "<p>No price was known.</p>"


def _checked(found: WeekFacts) -> str:
    parts = [to_html(tables.checked(found))] if found["checked"].height else ["<p>No price was known.</p>"]
    if found["source"].height:
        parts.append(to_html(tables.sources(found)))
    if found["refused"].height:
        parts.append(to_html(source_tables.refusals(found["refused"])))
    return "\n".join(parts)


def _method(found: WeekFacts) -> str:
    """Return how the week is cut out of the history."""
    known = (
        "what was recorded by the end of the week; what was learnt later, imports of older data included, is left out"
        if found.known_then
        else "all that is known now of what had been seen by the end of the week; kinds of moves are those of hindsight"
    )
    return (
        f"<p>{escape(sections.closing(found))} Monday 00:00 to Sunday 24:00, UTC, from {known}. The log is cut "
        "at that moment and the marts are made of it again by the SELECTs of <code>meta.model</code>. "
        '<a href="../methods.html">Methods</a> has formulas and SQL. Dollars a month of an 8-chip node are the change '
        "per chip-hour, times 8 chips, times 730 hours.</p>"
    )


def _documents(found: WeekFacts) -> str:
    return to_html(source_tables.documents(found.documents)) if found.documents.height else "<p>None.</p>"


PARTS: Mapping[str, Callable[[WeekFacts], str]] = {
    "All moves": _moved,
    "New and gone": _offers,
    "Providers beside AWS, by purchase option": _providers,
    "What was checked": _checked,
    "How it is computed": _method,
    "Documents": _documents,
}
"""The parts below the brief, each folded."""
