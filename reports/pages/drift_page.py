"""The drift report: change over 7, 30, 90 and 365 days by chip, provider and purchase option, like for like.

Prices per chip-hour first, then costs per token, with what moved those in 90 days.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import groupby
from math import exp

from markupsafe import Markup

from reports import wording
from reports.charts import sparkline
from reports.pages import guard
from reports.pages.frame import frame
from reports.queries import Published, Row
from reports.tables.table import Column, Number, Table, span
from reports.templating import macro

PLACE = "drift.html"
WINDOWS = (7, 30, 90, 365)
TOKENS = "drift-tokens"
MAX_ROWS = 400
ROWS = """
from int.drift_report
order by
    index_level <> 'all', accelerator_name, purchase_option, index_level, service_provider_name, window_days
"""
"""Every series of the report, its windows side by side; a chip's own line before those of its providers."""

Key = tuple[str, ...]
"""Of a series of prices: level, chip, purchase option, provider; of costs: purchase option, commitment class, chip."""
Series = Mapping[Key, Mapping[int, Row]]
"""Rows of series with a change over any window, by key and window in days."""

_of_option = macro("drift_parts.html.j2", "of_option")
_of_tokens = macro("drift_parts.html.j2", "of_tokens")


def render(published: Published) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    built_at, _ = published.build
    rows, costs = published.query(ROWS), published.ask("token_drift")
    found = _series(rows, "index_level", "accelerator_name", "purchase_option", "service_provider_name")
    moving = _known(found)
    options = [option for option in wording.OPTIONS if any(key[2] == option for key in moving)]
    names = {option: wording.option(option) for option in options}
    return frame(
        "drift.html.j2",
        headline=guard.page("The headline", lambda: headline(moving), lambda error: guard.failed("The headline", error))
        if moving
        else "No price can be compared yet",
        place=PLACE,
        build=published.build,
        nav=[*((f"drift-{option}", name) for option, name in names.items()), (TOKENS, "per token")],
        day=wording.date(built_at),
        options=[
            (option, name, guard.part(f"Drift {name}", partial(_option, moving, option, built_at)))
            for option, name in names.items()
        ],
        tokens=guard.part("Cost per token", lambda: _tokens(costs)),
        n_silent=len(found) - len(moving),
    )


def headline(moving: Series) -> str:
    """Return how many chips rose and fell in 90 days on demand, and how many did not move."""
    rows = [
        windows[90]
        for (level, _, option, _), windows in moving.items()
        if level == "chip" and option == "on_demand" and 90 in windows and windows[90]["drift"] is not None
    ]
    up = sum(row["drift"] > 0.0005 for row in rows)
    down = sum(row["drift"] < -0.0005 for row in rows)
    if not rows:
        return "No chip's price on demand can be compared over 90 days"
    return (
        f"On demand, {wording.count(up, 'chip')} rose in 90 days, {down:,} fell and {len(rows) - up - down:,} did not "
        "move, like for like"
    )


def _option(moving: Series, option: str, built_at: datetime) -> Markup:
    """Return the table of the chips, and folded below it that of each provider."""
    of_option = {key: windows for key, windows in moving.items() if key[2] == option}
    chips = {key: windows for key, windows in of_option.items() if key[0] != "provider"}
    providers = {key: windows for key, windows in of_option.items() if key[0] == "provider"}
    return _of_option(
        table(chips, option, built_at, of_providers=False),
        table(providers, option, built_at, of_providers=True) if providers else None,
        wording.count(len(providers), "series", "series"),
    )


def table(moving: Series, option: str, built_at: datetime, *, of_providers: bool) -> Table:
    """Return a table of one purchase option: the chips, or their providers in a group for each chip."""

    def name(row: Row) -> str:
        level, chip, _, provider = row["key"]
        named = {"all": "All chips, equal weights", "chip": chip}
        return str(named[level]) if level in named else wording.short(provider, most=40)

    def spark(row: Row) -> str:
        return sparkline.of_drift(row["windows"][90], built_at) if 90 in row["windows"] else ""

    def compared(row: Row) -> int | None:
        return max((each["n_matched"] for each in row["windows"].values() if each["n_matched"]), default=None)

    option_name = wording.OPTIONS[option]
    kind = "providers" if of_providers else "chips"
    return Table(
        id=f"drift-{kind}-{option}".replace("_", "-"),
        title=f"{option_name[0].upper()}{option_name[1:]}: change like for like, by {kind.removesuffix('s')}",
        subtitle="Over each window; a dash: nothing to compare. * offers known on both days.",
        rows=[{"key": key, "windows": windows} for key, windows in moving.items()][:MAX_ROWS],
        group=(lambda row: row["key"][1] or "All chips") if of_providers else None,
        columns=[
            Column("Provider" if of_providers else "Chip", name),
            *_windows(lambda row: wording.count(row["n_matched"] or 0, "offer")),
            Number("90 days", spark),
            Number("mix effect\n90 days", _of_quarter("mix_effect")),
            Number("offers\ncompared", compared),
        ],
    )


def _tokens(costs: Sequence[Row]) -> Markup:
    """Return the tables of costs: the front page's model on demand open, its other options and other models folded."""
    shown: list[tuple[str, Table]] = []
    folded: list[tuple[str, Table]] = []
    groups = groupby(
        costs, lambda row: (row["model_name"], row["is_headline"] and row["purchase_option"] == "on_demand")
    )
    for number, ((model, is_headline), group) in enumerate(groups):
        rows = [*group]
        moving = _known(_series(rows, "purchase_option", "commitment_class", "accelerator_name"))
        if moving:
            made = token_table(f"{TOKENS}-{number}", rows[0], moving)
            name = f"{model}: {wording.count(len(moving), 'series', 'series')}"
            (shown if is_headline else folded).append((name, made))
    return _of_tokens(shown, folded)


def token_table(name: str, point: Row, moving: Series) -> Table:
    """Return the table of one point: a line for each chip, in a group for each purchase option."""

    def group(row: Row) -> str:
        option, term, _ = row["key"]
        terms = {"one_year": ", 1 year", "three_years": ", 3 years"}
        return f"{wording.OPTIONS.get(option, option)}{terms.get(term, '')}"

    speed = f", {point['interactivity']:.0f} tok/s per user" if point["interactivity"] else ""
    quarter = next(iter(moving.values())).get(90)

    def now(row: Row) -> str:
        return wording.significant(next(iter(row["windows"].values()))["usd_after"])

    return Table(
        id=name,
        title=wording.listed(point["model_name"], point["precision"], point["scenario"], by=" ") + speed,
        subtitle=f"90 days from {quarter['window_begins_on']} to {quarter['window_ends_on']}" if quarter else "",
        rows=[{"key": key, "windows": windows} for key, windows in moving.items()],
        group=group,
        columns=[
            Column("Chip", lambda row: row["key"][2]),
            *_windows(),
            Number("USD now,\nbest run", now),
            *(
                Number(title.replace("seen ", "seen\n"), _of_quarter(effect), spanner="of the 90 days")
                for effect, title in wording.EFFECTS.items()
            ),
        ],
    )


def _of_quarter(effect: str) -> Callable[[Row], str | None]:
    """Return what a cell says of an effect on the change over 90 days."""

    def cell(row: Row) -> str | None:
        value = row["windows"].get(90, {}).get(effect)
        return None if value is None else wording.signed(exp(value) - 1)

    return cell


def _windows(about=lambda row: "") -> list[Column]:  # type: ignore[no-untyped-def]
    """Return a column for each window; `about` is what the title of a change says."""

    def of(days: int) -> Column:
        return Number(f"{days} days", lambda row: _change(row["windows"].get(days), about))

    return [of(days) for days in WINDOWS]


def _change(row: Row | None, about) -> str:  # type: ignore[no-untyped-def]
    if row is None or row["drift"] is None:
        return span(wording.UNKNOWN, "no", title=(row or {}).get("unknown_reason") or "unknown")
    kind = "fall" if row["drift"] < -1e-9 else "rise" if row["drift"] > 1e-9 else ""
    mark = "*" if row.get("drift_method") == "matched" else ""
    return span(wording.signed(row["drift"]) + mark, kind, title=about(row))


def _series(rows: Sequence[Row], *key: str) -> dict[Key, dict[int, Row]]:
    """Return rows by their series and window."""
    found: dict[Key, dict[int, Row]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] or "" for name in key), {})[row["window_days"]] = row
    return found


def _known(found: Series) -> Series:
    """Return the series with a change over any window."""
    return {key: each for key, each in found.items() if any(row["drift"] is not None for row in each.values())}
