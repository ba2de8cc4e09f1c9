"""Every number of a week's mail, found again by SQL in the published file.

`unproved` reads the text part as a person would: sentence by sentence, table row by table row. For each it asks the
file for the same number in a way of its own, from the log and the public tables. A number that no rule reads, or that
the file does not have, is returned.
"""

import math
import re
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

import duckdb
from mail_reader import Reader, alike, number

NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
MINUS = "\N{MINUS SIGN}"
OPTIONS = {"on demand": "on_demand", "AWS on demand": "on_demand", "spot": "spot", "Capacity Block": "capacity_block"}
TERMS = {"AWS 1 year": 8760, "AWS 3 years": 26280}
WAY = "(?:" + "|".join(sorted({*OPTIONS, *TERMS}, key=len, reverse=True)) + ")"
TOKEN_WAYS = {
    "AWS on demand": ("on_demand", "AWS"), "AWS 1 year": ("one_year", "AWS"), "AWS spot": ("spot", "AWS"),
    "elsewhere on demand": ("on_demand", "elsewhere"),
}  # fmt: skip
CONSTANTS = (
    r"a node of 8 chips", r"BIGGEST MOVES 8 chips", r"a month has 730 hours", r"back within 7 days", r"AWS 1 year",
    r"AWS 3 years", r"corrected within 7 days", r"a mean of 7 or 30 days",
)  # fmt: skip
"""What a number is of that no file holds: a unit, a rule."""


def unproved(
    con: duckdb.DuckDBPyConnection, since: datetime, text: str, known: dict[str, list[Any]] | None = None
) -> list[str]:
    """Return the numbers of a text that the file does not have, each with what stands around it.

    `known` keeps the file's answers for other texts of the week, read through the same connection.
    """
    # Where a row of the labelled table begins and ends, which is lost with the line ends.
    rows = re.sub(rf"^  (\S.*?)  +(?=(?:AWS |elsewhere )?{WAY} \d)", r"| \1 | ", text, flags=re.MULTILINE)
    rows = re.sub(r"^  (?=USD per (?:chip-hour, cheapest|million))", "| ", rows, flags=re.MULTILINE)
    flat = _with_chips(re.sub(r"\s+", " ", rows))
    reader = Reader(con, since, flat, {} if known is None else known)
    for pattern, rule in RULES.items():
        for match in re.finditer(pattern, flat):
            groups = match.groupdict()
            if rule(reader, groups):
                reader.proved += [match.span(name) for name, value in groups.items() if value is not None]
    for constant in CONSTANTS:
        reader.proved += [match.span() for match in re.finditer(constant, flat)]
    for name in sorted(reader.names, key=len, reverse=True):
        reader.proved += [match.span() for match in re.finditer(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", flat)]
    return [
        f"{match[0]} in: {flat[max(match.start() - 40, 0) : match.end() + 40]}"
        for match in NUMBER.finditer(flat)
        if not any(start <= match.start() and match.end() <= end for start, end in reader.proved)
    ]


def _with_chips(flat: str) -> str:
    """Return a text in which each cost of a token has its chip before it, as prices have the same words."""
    begin, head, rest = flat.partition("WHAT A MILLION TOKENS COSTS ")
    table, tail, end = rest.partition("| USD per million")
    first, *rows = re.split(r"\| (\S+) \| ", table)
    named = [
        f"| {chip} token {cell}" for chip, row in zip(rows[::2], rows[1::2], strict=True) for cell in row.split(" | ")
    ]
    return "".join([begin, head, first, " ".join(named), tail, end])


# --- rules: a pattern, and what must hold of what it reads


def _week(r: Reader, g: dict[str, str]) -> bool:
    year, week, _ = r.since.isocalendar()
    return (int(g["n"]), int(g["y"])) == (week, year) == tuple(
        map(int, r.one("select weekofyear(?::date) || ' ' || isoyear(?::date)", r.since, r.since).split())
    ) and (r.day(g["a"]), r.day(g["b"]), int(g["z"])) == (
        f"{r.since:%Y-%m-%d}", f"{r.until - timedelta(days=1):%Y-%m-%d}", (r.until - timedelta(days=1)).year
    )  # fmt: skip


def _named(r: Reader, g: dict[str, str]) -> bool:
    return g["w"] == r.one("select strftime(?::date, '%G-W%V')", r.since)


def _built(r: Reader, g: dict[str, str]) -> bool:
    return g["at"] == r.one("select strftime(built_at, '%Y-%m-%d %H:%M') from meta.build")


def _repriced(r: Reader, g: dict[str, str]) -> bool:
    counts = r.one(
        "select count(distinct offer_id) filter (where change_ratio > 0), count(distinct offer_id) filter (where "
        "change_ratio < 0), min(abs(change_ratio)) * 100, max(abs(change_ratio)) * 100 from moved where change_kind = "
        "'list_change' and service_provider_name = ?", g["who"],
    )  # fmt: skip
    ways = {"raised": counts[0], "cut": counts[1]}
    said = {g["v1"]: g["n1"], **({g["v2"]: g["n2"]} if g["v2"] else {})}
    least = g["lo"] or g["hi"]
    return (
        all(number(n) == ways[verb] for verb, n in said.items())
        and sum(ways.values()) == sum(map(number, said.values()))
        and alike(least, counts[2]) and alike(g["hi"], counts[3])
    )  # fmt: skip


def _moved(r: Reader, g: dict[str, str]) -> bool:
    """Return whether some list price of a chip moved from and to these prices, at the provider if one is named."""
    for who, chip, form, was, now, ratio, node in r.rows(
        "select service_provider_name, accelerator_name, form_factor, was, now, change_ratio, node from moved "
        "where change_kind = 'list_change'"
    ):
        if not chip or not g["chip"].startswith(chip) or not {*g["chip"][len(chip) :].split()} <= {form}:
            continue
        if g.get("who") and not g["who"].startswith(who):
            continue
        if alike(g["was"], was) and alike(g["now"], now) and alike(g["pct"], ratio * 100):
            node = abs(node) if g.get("more") else node
            return g["node"] == "\N{EN DASH}" or alike(g["node"], node)
    return False


def _also(r: Reader, g: dict[str, str]) -> bool:
    """Return whether such a price of the provider's chip moved, came or went: of several offers the lowest."""
    kind = {None: "list_change", "new": "new_offer", "back": "returned_offer", "gone": "gone_offer"}[g.get("kind")]
    found = r.rows(
        "select was, now, count(distinct offer_id) over (partition by purchase_option, form_factor), "
        "coalesce(now, was) = min(coalesce(now, was)) over (partition by purchase_option, form_factor), units "
        "from moved "
        "where change_kind = ? and starts_with(?, accelerator_name) and starts_with(?, service_provider_name)",
        kind, g["chip"], g["who"],
    )  # fmt: skip
    if kind == "list_change":
        return any(
            alike(g["was"], was) and alike(g["now"], now) and int(g["size"] or units) == units
            for was, now, _, _, units in found
        )
    return any(
        is_least and alike(g["now"], was if now is None else now) and number(g["n"] or "1") == n
        for was, now, n, is_least, _ in found
    )  # fmt: skip


def _subject(r: Reader, g: dict[str, str]) -> bool:
    return any(
        alike(g["now"], now) and alike(g["pct"], abs(ratio) * 100) and g["chip"].startswith(chip or "?")
        for chip, now, ratio in r.rows(
            "select accelerator_name, now, change_ratio from moved where change_kind = 'list_change' and "
            "starts_with(?, service_provider_name)", g["who"],
        )
    )  # fmt: skip


def _chips(r: Reader) -> list[str]:
    return re.search(r"Your chips: (.*?)\. ", r.text)[1].split(", ")  # type: ignore[index]


def _things(r: Reader) -> int:
    """Return how many chips of the reader moved by a percent or more, at each provider by each way to buy."""
    return int(
        r.one(
            "select count(*) from (select distinct service_provider_name, accelerator_name, "
            "purchase_option from moved where change_kind = 'list_change' and abs(change_ratio) >= 0.01 and "
            "list_contains(?, accelerator_name))", _chips(r),
        )
    )  # fmt: skip


def _more_moves(r: Reader, g: dict[str, str]) -> bool:
    return number(g["n"]) == _things(r) - 1


def _elsewhere(r: Reader, g: dict[str, str]) -> bool:
    n, m = r.one(
        "select count(distinct offer_id), count(distinct service_provider_name) from moved where change_kind = "
        "'list_change' and service_provider_name not in (select service_provider_name from moved where change_kind = "
        "'list_change' and list_contains(?, accelerator_name))", _chips(r),
    )  # fmt: skip
    return (number(g["n"]), number(g["m"])) == (n, m)


def _checked(r: Reader, g: dict[str, str]) -> bool:
    n, m = r.one(
        "select count(distinct offer_id), count(distinct service_provider_name) from seen where seen_at >= ?", r.since
    )
    return number(g["n"]) == n and (g.get("m") is None or number(g["m"]) == m)


LISTED = (
    " from seen inner join core.offer as o using (offer_id) where o.service_provider_name = 'AWS' and "
    "purchase_option <> 'spot' and statistic = 'price' and unit_price_type = 'List'"
)


def _aws(r: Reader, g: dict[str, str]) -> bool:
    n, last = r.one(
        "select count(distinct offer_id) filter (where seen_at >= ?), strftime(max(seen_at), '%Y-%m-%d')" + LISTED,
        r.since,
    )
    m = r.one(f"select count(distinct offer_id){LISTED} and seen_at >= ?::timestamp - interval 400 days", r.since)
    return (number(g["n"]), r.day(g["on"])) == (n, last) and n <= number(g["m"]) <= m


def _aws_last(r: Reader, g: dict[str, str]) -> bool:
    return r.day(g["on"]) == r.one("select strftime(max(seen_at), '%Y-%m-%d')" + LISTED)


def _cheapest(r: Reader, g: dict[str, str]) -> bool:
    """Return whether an offer of the provider, by that way to buy, had the price when the week ended."""
    term, option = TERMS.get(g["way"]), OPTIONS.get(g["way"])
    prices = r.rows(
        "select h.effective_hourly_price / u.accelerator_count::double * coalesce(f.usd_per_currency_unit, 1) "
        "from int.price_history as h inner join core.offer as o using (offer_id) inner join core.offer_unit as u using "
        "(offer_id) asof left join core.usd_rate as f on o.pricing_currency = f.pricing_currency and "
        "least(h.last_observed_at, ?)::date >= f.rate_date where h.valid_from < ? and coalesce(h.valid_to >= ?, true) "
        "and h.last_observed_at >= ?::timestamp - to_days((select ranked_days from meta.build)) and "
        "coalesce(o.purchase_option = ?, o.purchase_option in ('reserved', 'savings_plan')) and "
        "coalesce(o.commitment_term_hours = ?, ? is null) and starts_with(?, o.service_provider_name)",
        r.until, r.until, r.until, r.until, option, term, term, g["who"] or "AWS",
    )  # fmt: skip
    return any(alike(g["price"], price) for price in prices)


def _limits(r: Reader, g: dict[str, str]) -> bool:
    days, markets = r.one("select ranked_days, marketplace_days from meta.build")
    last = f"{min(r.until - timedelta(days=1), r.one('select built_at from meta.build')):%Y-%m-%d}"
    return (int(g["days"]), int(g["markets"]), r.day(g["on"])) == (days, markets, last)


def _limit(r: Reader, g: dict[str, str]) -> bool:
    return int(g["days"]) == r.one("select ranked_days from meta.build")


def _taken_back(r: Reader, g: dict[str, str]) -> bool:
    pairs = r.rows(
        "select a.effective_hourly_price_after / u.accelerator_count::double, b.effective_hourly_price_after / "
        "u.accelerator_count::double, strftime(a.observed_at, '%Y-%m-%d'), strftime(b.observed_at, '%Y-%m-%d'), "
        "count(distinct a.offer_id) over (partition by u.accelerator_name, u.form_factor, o.service_provider_name, "
        "o.purchase_option, round(a.effective_hourly_price_after / u.accelerator_count::double, 6), "
        "round(b.effective_hourly_price_after / u.accelerator_count::double, 6)) from int.price_change as a inner join "
        "int.price_change as b using (offer_id) inner join core.offer_unit as u using (offer_id) inner join core.offer "
        "as o using (offer_id) where a.change_kind = 'correction' and b.change_kind = 'correction' and a.observed_at < "
        "b.observed_at and b.observed_at - a.observed_at <= interval 7 day and b.observed_at >= ? and b.observed_at < "
        "? and starts_with(?, u.accelerator_name) and starts_with(?, o.service_provider_name)",
        r.since, r.until, g["chip"], g["who"],
    )  # fmt: skip
    return any(
        alike(g["wrong"], wrong) and alike(g["right"], right) and (r.day(g["a"]), r.day(g["b"])) == (on, back)
        and (g["n"] is None or number(g["n"]) == n)
        for wrong, right, on, back, n in pairs
    )  # fmt: skip


def _left_back(r: Reader, g: dict[str, str]) -> bool:
    n = r.one(
        "select count(*) from (select observed_at, row_number() over (partition by offer_id order by observed_at) as n "
        "from int.price_change where change_kind = 'correction') where n % 2 = 0 and observed_at >= ? and observed_at "
        "< ?", r.since, r.until,
    )  # fmt: skip
    part = re.search(r"WHAT WE GOT WRONG (.*?)(?:more prices? corrected|WHAT WE COULD)", r.text)
    shown = [int(each or 1) for each in re.findall(r"again on [^.(]*(?:\((\d+) offers\))?\.", part[1] if part else "")]
    return number(g["n"]) == n - sum(shown)


def _silent(r: Reader, g: dict[str, str]) -> bool:
    names = r.rows(
        "select service_provider_name from seen where seen_at >= ?::timestamp - to_days(?::int) group by all "
        "having max(seen_at) < ?", r.since, g["days"], r.since,
    )  # fmt: skip
    is_right = number(g["n"]) == len(names) and (g["k"] is None or number(g["k"]) == len(names) - 4)
    return is_right and _limit(r, g)


def _before(r: Reader, g: dict[str, str]) -> bool:
    """Return whether some list price that moved in the week was last seen before on that day, which is not of it."""
    days = r.rows(
        "select strftime(last_observed_before_at, '%Y-%m-%d') from int.price_change where change_kind = 'list_change' "
        "and observed_at >= ? and observed_at < ? and last_observed_before_at < ?", r.since, r.until, r.since,
    )  # fmt: skip
    return r.day(g["on"]) in days


def _read(r: Reader, g: dict[str, str]) -> bool:
    n = r.one("select count(distinct service_provider_name) from seen where seen_at >= ?", r.since)
    return number(g["n"]) == n - 1


def _prices_as_of(r: Reader, g: dict[str, str]) -> bool:
    return r.day(g["on"]) == r.one("select strftime(built_at, '%Y-%m-%d') from meta.build")


def _scopes(r: Reader, g: dict[str, str]) -> bool:
    at = r.rows(
        "select strftime(max(observed_at) filter (where status = 'ok'), '%Y-%m-%d') from core.scope_run inner join "
        "core.source using (source) where kind = 'live' and observed_at < ? group by source, scope", r.until,
    )  # fmt: skip
    days = [r.day(day) for day in re.findall(r"last on (\d+ \w{3}(?: \d{4})?)", g["list"])]
    return number(g["n"]) <= len(at) and all(day in at for day in days)


def _refused(r: Reader, g: dict[str, str]) -> bool:
    return number(g["n"]) == r.one(
        "select count(*) from (select quarantine_id from core.quarantine where observed_at >= ? and observed_at < ? "
        "group by all having count(decision) = 0)", r.since, r.until,
    )  # fmt: skip


def _late(r: Reader, g: dict[str, str]) -> bool:
    n, first = r.one(
        "select count(*), strftime(min(c.observed_at), '%Y-%m-%d') from int.price_change as c inner join "
        "core.price_event as e on c.offer_id = e.offer_id and c.source = e.source and c.observed_at = e.valid_from "
        "where c.observed_at < ? and e.recorded_at >= ? and e.recorded_at < ?", r.since, r.since, r.until,
    )  # fmt: skip
    return (number(g["n"]), r.day(g["on"])) == (n, first)


def _token(r: Reader, g: dict[str, str]) -> bool:
    kind, place = TOKEN_WAYS[g["way"]]
    values = r.rows(
        "select usd_per_million_output_tokens as usd from int.headline_token_cost where accelerator_name = ? and "
        "option_kind = ? and place = ? and usd is not null", g["chip"], kind, place,
    )  # fmt: skip
    return [float(f"{value:.3g}") for value in values] == [number(g["usd"])]


def _token_point(r: Reader, g: dict[str, str]) -> bool:
    return (number(g["i"]), number(g["o"]), number(g["s"])) == r.one(
        "select input_length, output_length, interactivity from int.headline_point where model_name = ?", g["model"]
    )


def _token_split(r: Reader, g: dict[str, str]) -> bool:
    """Return whether the lowest cost is that of the history, its change the two costs', and the parts its own.

    A step to an offer that had no price in the 90 days before is of a newly seen provider.
    """
    built = min(r.one("select built_at from meta.build"), r.until - timedelta(microseconds=1)).date()
    history = r.rows(
        "select h.valid_from::date, h.valid_to::date, usd_per_million_output_tokens, price_effect, evidence_effect, "
        "new_chip_effect, not exists (from int.price_history as p where p.offer_id = h.offer_id and "
        "p.valid_from::date < h.valid_from::date and p.last_observed_at::date + 90 >= h.valid_from::date) "
        "from int.token_cost_history as h semi join int.headline_point "
        "using (model_name, scenario, precision, decoding, interactivity) where "
        "accelerator_name = 'all chips' and purchase_option = 'on_demand' "
        "and coalesce(evidence_grade, 'A') = 'A' order by valid_from",
    )  # fmt: skip
    since = built - timedelta(days=90)
    before, now = (
        next((row[2] for row in history if row[0] <= day and (row[1] is None or row[1] > day)), None)
        for day in (since, built)
    )
    if now is None or float(f"{now:.3g}") != number(g["usd"]) or r.day(g["on"]) != f"{since:%Y-%m-%d}":
        return False
    if before is None or "all" not in g:
        return before is None and "all" not in g
    steps = [row for row in history if since < row[0] <= built and row[3] is not None]
    logs = [
        sum(row[3] for row in steps if not row[6]), sum(row[3] for row in steps if row[6]),
        sum(row[4] for row in steps), sum(row[5] for row in steps),
    ]  # fmt: skip
    shown = [g["all"], g["p"], g["n"], g["e"], g["c"]]
    return (
        abs(sum(logs) - math.log(now / before)) < 1e-9
        and all(alike(a, b * 100) for a, b in zip(shown, [now / before - 1, *map(math.expm1, logs)], strict=True))
    )  # fmt: skip


DAY = r"\d{1,2} [A-Z][a-z]{2}(?: \d{4})?"
CHIP = r"[A-Z][\w-]*(?: (?:SXM|PCIe|NVL\w*|OAM|Server))?"
PRICE = r"[\d,]+(?:\.\d+)?"
VERB = r"(?:raised|cut)"
Rule = Callable[[Reader, dict[str, str]], bool]
RULES: dict[str, Rule] = {
    rf"week (?P<n>\d+) of (?P<y>\d{{4}}) \((?P<a>{DAY}) to (?P<b>{DAY}) (?P<z>\d{{4}})\)": _week,
    r"(?:weeks/|Week |in |\d of )(?P<w>\d{4}-W\d{2})": _named,
    r"file of (?P<at>\d{4}-\d{2}-\d{2} \d{2}:\d{2}) UTC": _built,
    rf"(?P<who>[^.;]+?) (?P<v1>{VERB}) (?P<n1>[\d,]+)(?: and (?P<v2>{VERB}) (?P<n2>[\d,]+))? list prices? by "
    r"(?:(?P<lo>[\d.]+) to )?(?P<hi>[\d.]+) %": lambda r, g: _repriced(r, {**g, "who": _who(r, g["who"])}),
    rf"(?P<chip>{CHIP}) (?:rose|fell) from (?P<was>{PRICE}) to (?P<now>{PRICE}) \w+ per chip-hour "
    rf"\((?P<pct>[+{MINUS}][\d.,]+ %)\): (?P<node>[\d,]+) USD (?P<more>more|less)": _moved,
    rf"(?P<who>\S[^.;]*?) {VERB} (?P<chip>{CHIP}) from (?P<was>{PRICE}) to (?P<now>{PRICE}) \w+ per chip-hour "
    rf"\((?P<pct>[+{MINUS}][\d.,]+ %)\): (?P<node>[\d,]+) USD (?P<more>more|less)":
        lambda r, g: _moved(r, {**g, "who": _who(r, g["who"])}),
    rf"(?P<chip>{CHIP}), (?P<who>(?:(?! \d)[^|%])+?) (?P<was>{PRICE}) (?P<now>{PRICE}) (?P<pct>[+{MINUS}][\d.,]+ %) "
    rf"(?P<node>[+{MINUS}][\d,]+|\N{{EN DASH}})": _moved,
    rf"(?P<chip>{CHIP}), (?P<who>[^:|%]+?)(?:, (?P<size>\d+) chips)?: (?P<was>{PRICE}) to (?P<now>{PRICE})\.(?= )":
        _also,
    rf"(?P<chip>{CHIP}), (?P<who>[^:|%]+?): (?P<kind>new|back|gone), (?:last )?from (?P<now>{PRICE})"
    r"(?:, (?P<n>[\d,]+) offers)?\.(?= )": _also,
    rf"^Subject: (?P<who>.+?) {VERB} (?P<chip>{CHIP}) (?P<pct>[\d.,]+ %) to (?P<now>{PRICE})": _subject,
    r"; (?P<n>[\d,]+) more moves?": _more_moves,
    r"Other chips only: (?P<n>[\d,]+) list prices? moved at (?P<m>[\d,]+) provider": _elsewhere,
    r"(?P<n>[\d,]+) prices? of (?P<m>[\d,]+) providers? were confirmed": _checked,
    r"(?P<n>[\d,]+) prices? checked": _checked,
    rf"(?P<n>[\d,]+) of its (?P<m>[\d,]+) list prices? were confirmed, last on (?P<on>{DAY})": _aws,
    rf"AWS's list was not read in this week; last on (?P<on>{DAY})": _aws_last,
    rf"(?<=\| )(?P<way>{WAY}) (?P<price>{PRICE})(?P<who>[^|]*)(?=\|)":
        lambda r, g: _cheapest(r, {**g, "who": re.sub(r"^(?:plan|Reserved)\b.*", "", g["who"].strip())}),
    rf"(?P<chip>\S+) token (?P<way>AWS on demand|AWS 1 year|AWS spot|elsewhere on demand) (?P<usd>{PRICE})": _token,
    rf"output tokens: (?P<model>\S+), (?P<i>{PRICE}) tokens in and (?P<o>{PRICE}) out, (?P<s>{PRICE}) tokens a second":
        _token_point,
    rf"on any chip: (?P<usd>{PRICE}) \([^)]*\); since (?P<on>{DAY}) (?P<all>[+{MINUS}]?{PRICE} %): prices "
    rf"(?P<p>[+{MINUS}]?{PRICE} %), newly seen providers (?P<n>[+{MINUS}]?{PRICE} %), "
    rf"software (?P<e>[+{MINUS}]?{PRICE} %), new chips (?P<c>[+{MINUS}]?{PRICE} %)":
        _token_split,
    rf"on any chip: (?P<usd>{PRICE}) \([^)]*\); none was known on (?P<on>{DAY})": _token_split,
    rf"confirmed in the (?P<days>\d+) days to (?P<on>{DAY}) \(marketplaces (?P<markets>\d+)\)": _limits,
    r"within the limit of age, (?P<days>\d+) days": _limit,
    rf"(?P<chip>{CHIP}) at (?P<who>[^:]+?): (?P<wrong>{PRICE}) \w+ of (?P<a>{DAY}) was a mistake; (?P<right>{PRICE}) "
    rf"again on (?P<b>{DAY})(?: \((?P<n>[\d,]+) offers\))?\.": _taken_back,
    r"(?P<n>[\d,]+) more prices? corrected": _left_back,
    rf"The price before was last seen on (?P<on>{DAY})": _before,
    r"Of (?P<n>[\d,]+) other providers? read in the week none moved": _read,
    rf"Prices as of (?P<on>{DAY})": _prices_as_of,
    r"nor in the (?P<days>\d+) days before": _limit,
    r"(?P<n>[\d,]+) providers? not seen in the week, but in the (?P<days>\d+) days before: "
    r".*?(?: and (?P<k>[\d,]+) more)?\. (?=[A-Z\d])": _silent,
    r"(?P<n>[\d,]+) scopes? (?:never read|not read in time|not read last time): (?P<list>.*?)\. (?=[A-Z\d])": _scopes,
    r"(?P<n>[\d,]+) rows? refused": _refused,
    rf"(?P<n>[\d,]+) changes? of earlier weeks learnt now, from (?P<on>{DAY}) on": _late,
}  # fmt: skip


def _who(r: Reader, text: str) -> str:
    """Return the provider whose name a piece of a sentence ends in."""
    names: Iterator[str] = (
        n for n in r.rows("select distinct service_provider_name from core.offer") if text.endswith(n)
    )
    return max(names, key=len, default="")
