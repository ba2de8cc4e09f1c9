"""The weekly page: the sections of the brief, then all details, folded; one HTML text that needs nothing else."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from reports import wording
from reports.pages.archive import Edition, content
from reports.pages.frame import frame
from reports.tables import price_tables, source_tables
from reports.templating import macro
from reports.weekly import charts as week_charts
from reports.weekly import news, sections, tables
from reports.weekly.calendar import place
from reports.weekly.facts import WeekFacts
from reports.weekly.sections import Section

Part = Callable[[WeekFacts], Markup]

_joined = macro("week_parts.html.j2", "joined")
_section = macro("week_parts.html.j2", "brief")


@dataclass(frozen=True, kw_only=True)
class Made:
    """A page that was made, and why parts of it could not be."""

    text: str
    faults: tuple[str, ...]


def render(found: WeekFacts, earlier: Sequence[Edition] = (), *, draw: bool = True) -> Made:
    """Return the page; the same facts and earlier editions give the same bytes. Without `draw` it has no charts."""
    brief = sections.brief(found)
    faults = [*brief.faults]
    details = [(title, _guarded(title, make, found, faults)) for title, make in PARTS.items()]
    charts = _guarded("Charts", _charts, found, faults) if draw else Markup()
    state = "" if found.is_over else f", so far: the week is over on {wording.day(found.week.until)}"
    known = "from what was known when it ended" if found.known_then else "from what is known now"
    parts = [_brief(each, charts if each.key == "moves" else Markup()) for each in brief.sections]
    text = frame(
        "week.html.j2",
        title=f"Accelerator prices, week {found.week}",
        headline=brief.subject,
        place=place(found.week, known_then=found.known_then),
        built_at=found.built_at,
        version=found.version,
        kind=f"Week {found.week}{state}, {known}",
        nav=[*((each.key, each.title) for each in brief.sections), ("details", "Details")],
        opening=sections.opening(found),
        earlier=earlier,
        is_over=found.is_over,
        content=content(brief.subject, [*parts, *(part for _, part in details)]),
        parts=parts,
        details=details,
    )
    return Made(text=text, faults=tuple(faults))


def _guarded(title: str, make: Part, found: WeekFacts, faults: list[str]) -> Markup:
    """Return a part, or that it could not be made, and why."""
    try:
        return make(found)
    except Exception as error:  # noqa: BLE001 (whatever it is, it costs this part and no other)
        faults.append(f"{title}: {type(error).__name__}: {wording.short(str(error))}")
        return macro("parts.html.j2", "failed_in_week")(faults[-1])


def _brief(each: Section, charts: Markup) -> Markup:
    """Return a section of the brief."""
    table = None
    if each.table and each.table.rows:
        table = tables.short(each.table, id=f"{each.key}-table", title=each.title, note=each.note)
    return _section(each, table, charts)


def _charts(found: WeekFacts) -> Markup:
    """Return the charts of what moved."""
    return week_charts.figures(found) if found.lists.height else Markup()


def _moved(found: WeekFacts) -> Markup:
    parts: list[object] = [news.also(found)]
    if found.lists.height:
        offers = wording.count(int(found.lists["n_offers"].sum()), "offer")
        title = f"List prices: {wording.count(found.lists.height, 'move')} of {offers}"
        parts.append(tables.moves(found, found.lists, id="all-moves", title=title))
    if found.doubts.height:
        names = "correction or suspected error", "corrections and suspected errors"
        title = f"{wording.count(found.doubts.height, *names)}, in no number above"
        parts.append(tables.moves(found, found.doubts, id="doubts", title=title))
    if found["drifting"].height:
        moved = "; ".join(
            f"{row['service_provider_name']} {wording.option(row['purchase_option'])}: "
            f"{wording.count(row['n_moves'], 'move')} of {wording.count(row['n_offers'], 'offer')} "
            f"({row['n_down']:,} down, {row['n_up']:,} up)"
            for row in found["drifting"].iter_rows(named=True)
        )
        parts.append(f"Spot and market prices, which move by themselves: {moved}.")
    if found.drift is not None and found.drift.height:
        parts.append(tables.drift(found.drift, found))
    return _joined(parts)


def _offers(found: WeekFacts) -> Markup:
    return _joined([tables.offers(found) if found["offer"].height else "Nothing came and nothing went."])


def _providers(found: WeekFacts) -> Markup:
    prices = found["provider_price"]
    shown = [price_tables.by_provider(prices, option, rate=found.rate) for option in price_tables.options_shown(prices)]
    return _joined([*([found.rate.words()] if found.rate else []), *shown] or ["No price was known."])


def _checked(found: WeekFacts) -> Markup:
    return _joined(
        [
            tables.checked(found) if found["checked"].height else "No price was known.",
            *([tables.sources(found)] if found["source"].height else []),
            *([source_tables.refusals(found["refused"])] if found["refused"].height else []),
        ]
    )


def _method(found: WeekFacts) -> Markup:
    """Return how the week is cut out of the history."""
    return macro("week_parts.html.j2", "method")(sections.closing(found), found.known_then)


def _documents(found: WeekFacts) -> Markup:
    return _joined([source_tables.documents(found.documents) if found.documents.height else "None."])


PARTS: Mapping[str, Part] = {
    "All moves": _moved,
    "New and gone": _offers,
    "Providers next to AWS, by purchase option": _providers,
    "What was checked": _checked,
    "How it is computed": _method,
    "Documents": _documents,
}
"""The parts below the brief, each folded."""
