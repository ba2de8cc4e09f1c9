"""The weekly page around its tables: the same frame as the daily one, as one HTML text that needs nothing else."""

import hashlib
import re
from collections.abc import Sequence
from html import escape

from reports import provider_tables, source_tables, weekly_news, weekly_tables, wording
from reports.frame import frame, section
from reports.tables import to_html
from reports.weekly import FOLDER, page_name
from reports.weekly_archive import PROVISIONAL, Edition
from reports.weekly_facts import WeekFacts

LINKS = (
    ("basis", "What it rests on"), ("moved", "What moved"), ("offers-part", "New and gone"),
    ("stand-part", "Where things stand"), ("token", "A token"),
    ("checked-part", "What was checked"), ("method", "How it is computed"),
)  # fmt: skip

_DRAWN = re.compile(r'<svg class="(?:chart|spark)\b.*?</svg>', re.DOTALL)


def render(found: WeekFacts, earlier: Sequence[Edition] = ()) -> str:
    """Return the page; the same facts and earlier editions give the same bytes."""
    headline = weekly_news.headline(found)
    main = "\n".join(
        (_basis(found), _moved(found), _offers(found), _stand(found), _token(found), _checked(found), _method(found))
    )
    # How a chart is drawn is nothing that the page says: its words are, and they stay.
    said = _DRAWN.sub("", f"{headline}\n{main}")
    content = hashlib.sha256(said.encode()).hexdigest()[:32]
    marks = [f'<meta name="chipledger:content" content="{content}">', *([] if found.is_over else [PROVISIONAL])]
    state = "" if found.is_over else f", so far: the week is over on {wording.day(found.week.until)}"
    known = "from what was known when it ended" if found.known_then else "from what is known now"
    return frame(
        title=f"Accelerator prices, week {found.week}",
        headline=headline,
        place=f"{FOLDER}/{page_name(found.week, known_then=found.known_then)}",
        built_at=found.built_at,
        version=found.version,
        header=_header(found, earlier),
        nav=LINKS,
        main=main,
        kind=f"Week {found.week}{state}, {known}",
        head=marks,
        footer="This page stays at its address; where it is told otherwise later, the earlier edition stays beside it.",
    )


def _header(found: WeekFacts, earlier: Sequence[Edition]) -> str:
    """Return what stands below the headline: the second fact, and what earlier editions said."""
    also = f"<p>{escape(weekly_news.also(found))}</p>"
    if not earlier:
        return also
    told = "; ".join(
        f'<a href="{escape(each.name)}">edition {each.number}</a> said: {escape(each.headline)}' for each in earlier
    )
    now = f"This is edition {earlier[-1].number + 1}, which says more or something else than before"
    return f"{also}\n<p>{now}: {told}</p>"


def _basis(found: WeekFacts) -> str:
    """Return what the week rests on; what was not read stands first."""
    told = weekly_news.gaps(found)
    warning = ""
    if told:
        listed = "".join(f"<li>{escape(text)}.</li>" for text in told)
        warning = f'<div class="warn"><strong>Before any conclusion</strong><ul>{listed}</ul></div>'
    seen = found.checked.filter(found.checked["n_checked"] > 0).height
    looked = found.sources.filter(found.sources["n_days"] > 0).height
    tiles = [
        ("Prices checked", f"{weekly_news.checked_prices(found):,}", f"at {wording.count(seen, 'provider')}"),
        ("List prices moved", f"{sum(found.lists['n_offers']):,}", wording.count(found.lists.height, "row") + " below"),
        ("Left out as doubtful", f"{sum(found.doubts['n_offers']):,}", "corrections and suspected errors"),
        ("Sources that looked", f"{looked:,} of {found.sources.height:,}", "of those that looked in six weeks"),
        ("Live scopes not read", f"{weekly_news.unread(found):,}", "when the week ended"),
        ("Refused rows", f"{found.refused.height:,}", "of this week, open, in no number"),
    ]
    cards = "".join(f"<div><dt>{name}</dt><dd>{n}<small>{note}</small></dd></div>" for name, n, note in tiles)
    return section("basis", "What this rests on", (warning, f'<dl class="tiles">{cards}</dl>'))


def _moved(found: WeekFacts) -> str:
    parts = []
    checked = wording.count(weekly_news.checked_prices(found), "price")
    if found.lists.height:
        offers = wording.count(int(found.lists["n_offers"].sum()), "offer")
        title = f"List prices: {wording.count(found.lists.height, 'move')} of {offers}"
        parts.append(to_html(weekly_tables.moves(found, found.lists, id="moves", title=title)))
        parts.append(_charts(found))
    else:
        parts.append(f"<p>No list price moved, {checked} checked.</p>")
    if found.doubts.height:
        words = "correction or suspected error", "corrections and suspected errors"
        title = f"{wording.count(found.doubts.height, *words)}, in no number above"
        parts.append(to_html(weekly_tables.moves(found, found.doubts, id="doubts", title=title)))
    if found.drifting.height:
        told = "; ".join(
            f"{row['service_provider_name']} {wording.option(row['purchase_option'])}: "
            f"{wording.count(row['n_moves'], 'move')} of {wording.count(row['n_offers'], 'offer')} "
            f"({row['n_down']:,} down, {row['n_up']:,} up)"
            for row in found.drifting.iter_rows(named=True)
        )
        parts.append(f"<p>Spot and market prices, which move by themselves: {escape(told)}.</p>")
    if found.drift is not None and found.drift.height:
        parts.append(to_html(weekly_tables.drift(found.drift, found)))
    return section("moved", "What moved", parts)


def _charts(found: WeekFacts) -> str:
    """Return the charts of what moved; what draws them takes a second to start, which a quiet week need not pay."""
    from reports import week_charts

    return week_charts.figures(found)


def _offers(found: WeekFacts) -> str:
    parts = [to_html(weekly_tables.offers(found))] if found.offers.height else ["<p>Nothing came and nothing went.</p>"]
    return section("offers-part", "New and gone", parts)


def _stand(found: WeekFacts) -> str:
    parts = [to_html(weekly_tables.stand(found))] if found.stand.height else []
    if found.rate:
        parts.insert(0, f"<p>{escape(found.rate.words())}</p>")
    tables = [
        to_html(provider_tables.by_provider(found.provider_prices, option, rate=found.rate))
        for option in provider_tables.options_shown(found.provider_prices)
    ]
    if tables:
        parts.append(f"<details><summary>Providers beside AWS, by purchase option</summary>{''.join(tables)}</details>")
    return section("stand-part", "Where things stood when the week ended", parts or ["<p>No price was known.</p>"])


def _token(found: WeekFacts) -> str:
    return section("token", "What a token costs", [f"<p>{escape(weekly_news.token(found))}.</p>"])


def _checked(found: WeekFacts) -> str:
    parts = [to_html(weekly_tables.checked(found))] if found.checked.height else ["<p>No price was known.</p>"]
    if found.sources.height:
        parts.append(to_html(weekly_tables.sources(found)))
    if found.refused.height:
        parts.append(to_html(source_tables.refusals(found.refused)))
    return section("checked-part", "What was checked", parts)


def _method(found: WeekFacts) -> str:
    """Return how the week is cut out of the history, and the documents."""
    known = (
        "what was recorded by the end of the week; what was learnt later, imports of older data included, is left out"
        if found.known_then
        else "all that is known now of what had been seen by the end of the week; kinds of moves are those of hindsight"
    )
    documents = to_html(source_tables.documents(found.documents)) if found.documents.height else "<p>None.</p>"
    parts = [
        f"<p>Monday 00:00 to Sunday 24:00, UTC, from {known}. The log is cut at that moment and the marts are made of "
        "it again by the SELECTs of <code>meta.model</code>. "
        '<a href="../methods.html">Methods</a> has formulas and SQL.</p>',
        f"<h3>Documents</h3>\n{documents}",
    ]
    return section("method", "How it is computed", parts)
