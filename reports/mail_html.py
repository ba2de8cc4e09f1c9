"""The HTML part of the weekly mail: one column of 600 px, styles inlined, nothing to load, readable in dark mode.

No image but the charts that travel with the message, no script, no link but those to the site. Everything that is not
ours is escaped.
"""

from collections.abc import Iterable, Sequence
from html import escape

import css_inline

from reports import mail_text, weekly_news, wording
from reports.weekly_facts import WeekFacts

PICTURE_WIDTH = 444
"""In CSS pixels; the files have twice as many."""
MOST_BYTES = 100_000
"""Larger ones are clipped by some readers."""
MOST_MOVED, MOST_STANDING, MOST_OFFERS, MOST_CHECKED = 40, 20, 20, 60
"""Rows of each table; fewer where the part would be too large."""

STYLE = """
body { margin: 0; padding: 0; background-color: #ffffff; color: #1a1c20; }
.page { width: 100%; max-width: 600px; margin: 0 auto; padding: 0 8px; box-sizing: border-box;
  font-family: Arial, Helvetica, sans-serif;
  font-size: 15px; line-height: 1.45; }
h1 { margin: 8px 0 12px; font-size: 20px; line-height: 1.3; }
h2 { margin: 24px 0 6px; padding-top: 10px; border-top: 2px solid #d5d9e0; font-size: 16px; }
p { margin: 6px 0; }
table { width: 100%; border-collapse: collapse; }
.data { font-size: 14px; }
.data th { padding: 4px 6px; text-align: left; vertical-align: bottom; color: #565c66; font-size: 12px;
  border-bottom: 2px solid #d5d9e0; }
.data td { padding: 5px 6px; text-align: left; vertical-align: top; border-bottom: 1px solid #d5d9e0;
  word-break: break-word; }
.data .n { text-align: right; white-space: nowrap; }
.data small, .quiet { color: #565c66; font-size: 12px; }
.head td { padding: 3px 8px 3px 0; vertical-align: top; }
.head .label { width: 56px; color: #565c66; font-size: 12px; font-weight: bold; padding-top: 6px; }
.gap td { background-color: #fdf1f0; color: #1a1c20; }
.fall { color: #0a5cb8; font-weight: bold; }
.rise { color: #a34100; font-weight: bold; }
.picture { margin: 14px 0; }
.picture img { display: block; width: 100%; max-width: 444px; height: auto; border: 0; background-color: #ffffff;
  color: #1a1c20; font-size: 14px; }
.preheader { display: none; max-height: 0; overflow: hidden; mso-hide: all; }
"""

DARK = """
@media (prefers-color-scheme: dark) {
  body, .page { background-color: #14161a !important; color: #e8eaee !important; }
  .data th, .data small, .quiet, .head .label { color: #a6adb8 !important; }
  .data th, .data td, h2 { border-color: #363b44 !important; }
  .gap td { background-color: #2b1a19 !important; color: #e8eaee !important; }
  .fall { color: #8ec2ff !important; }
  .rise { color: #ffb27a !important; }
  a { color: #8fbcff !important; }
}
"""
"""Where a reader keeps styles in the head; where it does not, the inlined ones name both colours of every text."""


def render(
    found: WeekFacts, *, subject: str, least: float, page_url: str = "", pictures: Sequence[tuple[str, str]] = ()
) -> str:
    """Return the part, less than 100 kB; a quiet week has its three lines and a table of what was checked.

    `pictures` are charts that travel with the message: the Content-ID of each, and what it says, which stands there
    where pictures are not shown.
    """
    text = ""
    for share in (1, 2, 4, 8, 16):
        text = _render(found, subject, least, page_url, pictures, share)
        if len(text.encode()) < MOST_BYTES:
            break
    return text


def _render(
    found: WeekFacts, subject: str, least: float, page_url: str, pictures: Sequence[tuple[str, str]], share: int
) -> str:
    """Return the part with tables of a share of their rows."""
    head = mail_text.head(found, least=least)
    if found.is_quiet:
        head = [(label, parts) for label, parts in head if label in ("NEWS", "CHECK", "YOU", "DO", "GAPS", "STAND")]
    second = next(parts[0] for label, parts in head if label == "GAPS")
    body = [
        f'<div class="preheader">{escape(second)}</div>',
        '<div class="page" role="article" aria-label="Weekly report" lang="en">',
        f'<p class="quiet">chipledger, week {found.week}</p>',
        f"<h1>{escape(subject)}</h1>",
        _head(head),
        *([] if found.is_quiet else [*_moves(found, share, pictures), *_stand(found, share), *_offers(found, share)]),
        *_checked(found, share),
        f'<p class="quiet">{escape(_foot(found))}</p>',
        *([f'<p><a href="{escape(page_url)}">The page of this week</a></p>'] if page_url else []),
        "</div>",
    ]
    text = (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark">'
        f"<title>{escape(subject)}</title><style>{STYLE}</style></head><body>{''.join(body)}</body></html>"
    )
    inlined = css_inline.CSSInliner(load_remote_stylesheets=False).inline(text)
    return inlined.replace("</head>", f"<style>{DARK}</style></head>", 1)


def _head(head: Sequence[tuple[str, Sequence[str]]]) -> str:
    rows = []
    for label, parts in head:
        # What a fleet is told stands nowhere else.
        shown = [escape(part) for part in (parts if label in ("YOU", "DO") else parts[:3])]
        left = len(parts) - len(shown)
        told = "<br>".join([*shown, *([f"{left:,} more below"] if left else [])])
        kind = ' class="gap"' if label == "CHECK" or (label == "GAPS" and not parts[0].startswith("none")) else ""
        rows.append(f'<tr{kind}><td class="label">{label}</td><td>{told}</td></tr>')
    return f'<table class="head" role="presentation">{"".join(rows)}</table>'


def _table(title: str, heads: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]], note: str = "") -> str:
    """Return a table; heads say whether their column is of numbers. Cells are our own HTML."""
    mark = [' class="n"' if number else "" for _, number in heads]
    top = "".join(f'<th scope="col"{kind}>{escape(head)}</th>' for (head, _), kind in zip(heads, mark, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{kind}>{cell}</td>' for cell, kind in zip(row, mark, strict=True))}</tr>" for row in rows
    )
    end = f'<p class="quiet">{escape(note)}</p>' if note else ""
    return (
        f'<h2>{escape(title)}</h2><table class="data"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{end}'
    )


def _moves(found: WeekFacts, share: int, pictures: Sequence[tuple[str, str]]) -> list[str]:
    """Return the tables of moves, the charts below the first."""
    made = []
    listed = found.lists
    frames = (("Moved: list prices", listed), ("Left out: corrections and suspected errors", found.doubts))
    for title, frame in frames:
        if not frame.height:
            continue
        rows = []
        for row in frame.head(MOST_MOVED // share).iter_rows(named=True):
            before, after = weekly_news.amounts(row)
            unit = f"{weekly_news.brief(row['pricing_currency'])} per {'chip-hour' if row['is_per_chip'] else 'hour'}"
            terms = f"{weekly_news.terms_of(row)}; {unit}; {_when(row['event_from'], row['event_at'])}"
            name = f"<b>{escape(weekly_news.name_of(row))}</b><br><small>{escape(terms)}</small>"
            rows.append((name, before, after, _percent(row["change_ratio"])))
        left = frame.height - len(rows)
        note = f"{left:,} more on the page" if left else ""
        made.append(_table(title, (("What", False), ("Was", True), ("Now", True), ("Change", True)), rows, note))
        if frame is listed:
            made += _pictures(pictures)
    return made


def _pictures(pictures: Sequence[tuple[str, str]]) -> list[str]:
    """Return the charts, each with the words that stand there where pictures are blocked."""
    return [
        f'<p class="picture"><img src="cid:{escape(cid)}" alt="{escape(words)}" width="{PICTURE_WIDTH}"></p>'
        for cid, words in pictures
    ]


def _when(before: object, after: object) -> str:
    return f"between {before:%Y-%m-%d %H:%M} and {after:%Y-%m-%d %H:%M}" if before else f"by {after:%Y-%m-%d %H:%M}"


def _percent(ratio: float | None) -> str:
    kind = "fall" if ratio and ratio < 0 else "rise" if ratio else "same"
    return f'<span class="{kind}">{wording.arrow(ratio)} {escape(wording.percent(ratio))}</span>'


def _stand(found: WeekFacts, share: int) -> list[str]:
    shown = list(found.stand.head(MOST_STANDING // share).iter_rows(named=True))
    if not shown:
        return []
    places = wording.places_of(row[name] for row in shown for name in ("cheapest_price_usd", "median_price_usd"))
    rows = []
    for row in shown:
        chip = " ".join(part for part in (row["accelerator_name"], row["form_factor"]) if part)
        aws = wording.amount(row["aws_price_usd"], places)
        dated = weekly_news.dated(found, row).removeprefix(" of ") if row["aws_price_usd"] is not None else ""
        rows.append(
            (
                f"<b>{escape(chip)}</b><br><small>{escape(weekly_news.brief(row['cheapest_provider']))}</small>",
                wording.amount(row["cheapest_price_usd"], places) + _other(found, row["cheapest_price_usd"], places),
                wording.amount(row["median_price_usd"], places) + _other(found, row["median_price_usd"], places),
                f"{aws}{_other(found, row['aws_price_usd'], places)}{f'<br><small>{dated}</small>' if dated else ''}",
            )
        )
    heads = (("On demand, USD per chip-hour", False), ("Cheapest seen", True), ("Median", True), ("AWS", True))
    return [_table("Where things stood", heads, rows, found.rate.words() if found.rate else "")]


def _other(found: WeekFacts, usd: float | None, places: int) -> str:
    """Return a price in the currency that is wanted beside US dollars, on a line of its own."""
    other = found.rate.amount(usd, places) if found.rate else None
    return f"<br><small>{escape(other)}</small>" if other else ""


def _offers(found: WeekFacts, share: int) -> list[str]:
    kinds = {"new_offer": "new", "gone_offer": "gone", "returned_offer": "back"}
    rows = []
    for row in found.offers.head(MOST_OFFERS // share).iter_rows(named=True):
        terms = ", ".join(
            part for part in (row["service_provider_name"], wording.option(row["purchase_option"]), row["tier"]) if part
        )
        name = (
            f"<b>{escape(weekly_news.brief(row['offered']))}</b><br><small>{escape(weekly_news.brief(terms))}</small>"
        )
        rows.append((name, kinds[row["change_kind"]], f"{row['n_offers']:,}"))
    left = found.offers.height - len(rows)
    heads = (("What", False), ("Kind", False), ("Offers", True))
    return [_table("New and gone", heads, rows, f"{left:,} more rows on the page" if left else "")] if rows else []


def _checked(found: WeekFacts, share: int) -> list[str]:
    rows = [
        (
            escape(weekly_news.brief(row["service_provider_name"])),
            f"{row['n_checked']:,}",
            f"{row['n_known']:,}",
            wording.day(row["last_observed_at"]),
        )
        for row in found.checked.head(MOST_CHECKED // share).iter_rows(named=True)
    ]
    left = found.checked.height - len(rows)
    heads = (("Provider", False), ("Prices checked", True), ("Of known", True), ("Last seen", True))
    return [_table("What was checked", heads, rows, f"{left:,} more on the page" if left else "")]


def _foot(found: WeekFacts) -> str:
    known = "was known when it ended" if found.known_then else "is known now"
    return (
        f"Week {found.week}, Monday to Sunday, UTC, from what {known}; file of {wording.minute(found.built_at)}. "
        "Cheapest seen is not cheapest: who was not read is not in it."
    )
