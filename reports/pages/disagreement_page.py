"""The page of disagreement: prices that differ from another source's, both documents, and who was wrong.

Only a primary document decides: the provider's own answer.
"""

from reports import wording
from reports.pages.frame import frame
from reports.queries import Published, Row
from reports.tables.table import Column, Number, Table, left_out, outside, small
from reports.templating import macro

PLACE = "disagreement.html"
MAX_SHOWN, MAX_OPEN = 500, 20
COUNTS = """count(*) as n_compared, count(*) filter (not is_equal) as n_differing, count(is_wrong) as n_decided,
count(*) filter (is_wrong) as n_wrong"""
OF_SOURCES = f"""
select source, if(s.kind = 'import', 'Of other collectors and data sets', 'Ours') as whose, {COUNTS},
    (select count(*) from core.withdrawal as w where w.source = pair.source) as n_withdrawn
from pair left join core.source as s using (source) group by all order by whose desc, source
"""
OF_CHIPS = f"""
select service_provider_name, accelerator_name, source, other_source, {COUNTS} from pair
group by all order by service_provider_name, n_differing desc, accelerator_name, source, other_source
"""
DIFFERENCES = """
select p.*, d.url, o.url as other_url from pair as p
left join core.document as d on p.document_sha256 = d.document_sha256
left join core.document as o on p.other_document_sha256 = o.document_sha256
where not is_equal and (coalesce(is_wrong, false) or p.source < other_source)
order by is_wrong desc nulls last, last_confirmed_at desc, p.source, p.offer_id, p.other_offer_id, began_at
"""
"""Each difference from the side that is wrong, else from the first of both."""
FACTS = """
select string_agg(instance_type, ', ' order by instance_type) as machines, override_reason, source_url as url
from ref.current_instance_type where override_reason is not null group by all order by machines
"""


def render(published: Published) -> str:
    """Return the page of a published file; the same file gives the same bytes."""
    published.con.execute("create or replace temp table pair as from int.disagreement")
    sources, chips, found, facts = map(published.query, (OF_SOURCES, OF_CHIPS, DIFFERENCES, FACTS))
    total, differing = (sum(row[name] for row in sources) for name in ("n_compared", "n_differing"))
    opened = macro("parts.html.j2", "opened")  # a part beyond a few rows is folded: no page but the explorer is long
    differ = f"{differing:,} of {wording.count(total, 'price')} with a second source differ from it"
    tables = (_of_sources(sources), _of_chips(chips), _differences(found), _facts(facts))
    return frame(
        "plain.html.j2",
        title="Disagreement",
        headline=differ if total else "No price has a second source in force with it",
        place=PLACE,
        build=published.build,
        parts=[opened(each.title, False, each) if len(each.rows) > MAX_OPEN else each for each in tables if each.rows],
    )


def _counts() -> list[Column]:
    rate = Number(
        "Error rate",
        lambda row: f"{row['n_wrong'] / row['n_decided']:.1%}" if row["n_decided"] else None,
        why="no primary document decides",
    )
    names = {"Compared": "n_compared", "Differing": "n_differing", "Decided": "n_decided", "Wrong": "n_wrong"}
    return [*(Number(head, name) for head, name in names.items()), rate]


def _of_sources(found: list[Row]) -> Table:
    return Table(
        id="sources",
        title="Who was wrong",
        subtitle="Each price and the nearest of every other source in force with it. Equal: within a ten-thousandth, "
        "under two names half a cent per chip-hour. Decided: the other is the provider's own answer.",
        rows=found,
        group="whose",
        columns=[Column("Source", "source"), *_counts(), Number("Fetches\nwithdrawn", "n_withdrawn")],
        note="Each pair: `from int.disagreement`. Old and new prices are never compared.",
    )


def _of_chips(found: list[Row]) -> Table:
    source = Column("Source", lambda row: row["source"] + small(f"against {row['other_source']}"))
    return Table(
        id="markets",
        title="By provider and chip",
        rows=found[:MAX_SHOWN],
        group="service_provider_name",
        columns=[Column("Chip", "accelerator_name"), source, *_counts()],
        note=left_out(len(found) - MAX_SHOWN, "more", "from int.disagreement", "more").strip(),
    )


def _differences(found: list[Row]) -> Table:
    def shown(row: Row, side: str) -> str:
        document = f"{row[f'{side}source']}: {row[f'{side}url']}, document {row[f'{side}document_sha256'][:12]}"
        amount = wording.significant(row[f"{side}price_per_accelerator_hour"])
        return f"{amount} {row['pricing_currency']}" + small(document)

    return Table(
        id="differences",
        title=wording.count(len(found), "difference"),
        subtitle="Per chip-hour, what was decided first",
        rows=found[:MAX_SHOWN],
        columns=[
            Column("Chip", wording.chip),
            Column("Provider", lambda row: row["service_provider_name"] + small(row["instance_type"] or "")),
            Column("Option", lambda row: wording.OPTIONS[row["purchase_option"]]),
            Column("One source", lambda row: shown(row, "")),
            Column("The other", lambda row: shown(row, "other_")),
            Column("In force", lambda row: f"{row['began_at']:%Y-%m-%d} to {row['last_confirmed_at']:%Y-%m-%d}"),
            Column("Wrong", lambda row: row["source"] if row["is_wrong"] else "undecided"),
        ],
        note=left_out(len(found) - MAX_SHOWN, "more", "from int.disagreement where not is_equal", "more").strip(),
    )


def _facts(found: list[Row]) -> Table:
    def page(row: Row) -> str:
        return outside(row["url"].split("/")[2], row["url"])

    return Table(
        id="facts",
        title="Machines of which EC2's own answer is wrong",
        rows=found,
        columns=[Column("Machines", "machines"), Column("Why", "override_reason"), Column("Document", page)],
    )
