"""The explorer, `explore.html`: every price in one table with filters, the one page that needs its script.

The table is DataTables (MIT), out of the wheel of itables at the time of writing; the prices lie in the page as JSON.
"""

import json
import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

from markupsafe import Markup

from reports import wording
from reports.pages.frame import frame, policy
from reports.queries import Published, Row, ask

PLACE = "explore.html"
MAX_ROWS = 10_000
"""More would be above 1 MB; what is left out is the oldest, and counted."""
WORDS = (
    *("accelerator_name", "service_provider_name", "option", "term", "region_name", "instance_type", "terms"),
    *("document", "form_factor"),
)
"""What repeats: written once, in the rows by number."""
EXPORT = re.compile(r"export\{([^}]*)\}")


@cache
def script() -> Markup:
    """Return DataTables and our script as one module, which names what the library exports."""
    # To import the wheel takes as long as many a page.
    place = distribution("itables").locate_file("itables/html/dt_bundle.js")
    library = Path(str(place)).read_text(encoding="utf-8")
    own = (files("reports") / "explore.js").read_text(encoding="utf-8")
    (exports,) = EXPORT.findall(library)
    (name,) = re.findall(r"(\w+) as default", exports)
    return Markup(f"\n{EXPORT.sub('', library)}\nconst DataTable = {name};\n{own}")  # noqa: S704 (of a wheel, and ours)


def render(published: Published) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    built, rows = published.build, ask(published.con, "explorer", n=MAX_ROWS)
    known, total, unpriced = (rows[0][name] if rows else 0 for name in ("n_known", "n_offers", "n_without_price"))
    chips, sellers = (len({row[name] for row in rows}) for name in ("accelerator_name", "service_provider_name"))
    of_all = f"{total:,} of {wording.count(known, 'price')}" if known > total else wording.count(total, "price")
    headline = f"{of_all}: {wording.count(chips, 'chip')} at {wording.count(sellers, 'provider')}"
    left_out = {"rows": total - len(rows), "unpriced": unpriced, "closed": known - total - unpriced}
    return page(packed(rows, f"{built[0]:%Y-%m-%d}"), headline, built, **left_out)


def page(data: str, headline: str, built: tuple[datetime | None, str], **left_out: int) -> str:
    """Return the page of packed prices; `built` is when and by which version, `left_out` what is not shown, and why."""
    return frame(
        "explore.html.j2",
        headline=headline,
        place=PLACE,
        build=built,
        left_out={"rows": 0, "unpriced": 0, "closed": 0} | left_out,
        data=Markup(data),  # noqa: S704 (JSON without <, > and &)
        script=script(),
        policy=policy(script()),
    )


def packed(rows: Sequence[Row], day: str) -> str:
    """Return prices as JSON that may stand in HTML: words once, and of each row numbers; what is unknown is null."""
    words: dict[str, dict[object, int]] = {name: {} for name in WORDS}
    made = []
    for row in rows:
        found = {
            **row,
            "option": wording.option(row["purchase_option"]),
            "term": wording.term(row["commitment_term_hours"]),
            "document": (row["document_sha256"], row["source_url"]),
        }
        made.append(
            [
                *(words[name].setdefault(found[name], len(words[name])) if found[name] else None for name in WORDS),
                float(f"{row['price_per_accelerator_hour_usd']:.6g}"),
                {"floor": 1, "p25": 2, "median": 3}.get(row["statistic"], 0),
                row["accelerator_count"],
                f"{row['seen_on']:%Y-%m-%d}",
                int(bool(row["is_ranked"])),
                None if row["change_ratio"] is None else float(f"{row['change_ratio']:.4g}"),
                row["changed_on"] and f"{row['changed_on']:%Y-%m-%d}",
            ]
        )
    text = json.dumps(
        {"day": day, "words": {name: [*each] for name, each in words.items()}, "rows": made}, separators=(",", ":")
    )
    return text.replace("&", r"\u0026").replace("<", r"\u003c").replace(">", r"\u003e")
