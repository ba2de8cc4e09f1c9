"""The static site as a whole: links that lead somewhere, light pages, and numbers that are the marts'."""

import html
import re
import shutil
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from page_links import Links, dead
from published import query

from flows.collect import publisher
from flows.config.settings import Settings
from reports import queries, wording
from reports.pages import archive, cost_page, frame, front_page, methods_page, site, sources_page
from reports.queries import ROWS_OF_A_THREAD, fit_threads
from reports.templating import macro
from warehouse.errors import SettingsError

MOST_BYTES = 300_000


def rows_of(file: Path, name: str) -> list[queries.Row]:
    with duckdb.connect(str(file), read_only=True) as con:
        return queries.ask(con, name)


@pytest.fixture(scope="module")
def file(hostile_reports: Path) -> Path:
    return hostile_reports.with_name("prices.duckdb")


def text(page: Path) -> str:
    bare = re.sub(r"(?s)<(style|script)>.*?</\1>", "", page.read_text(encoding="utf-8"))
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", bare)).split())


@pytest.mark.parametrize(("n_rows", "threads"), [(2 * ROWS_OF_A_THREAD - 1, 1), (2 * ROWS_OF_A_THREAD, 2)])
def test_a_second_thread_waits_for_a_second_full_row_group(n_rows: int, threads: int) -> None:
    """And no more threads are used than the machine has."""
    with duckdb.connect(config={"threads": 3}) as con:
        con.execute(f"create table large as from range({n_rows})")
        con.execute("create table small as from range(5)")
        most = con.execute("reset threads; select current_setting('threads')").fetchall()[0][0]

        fit_threads(con)

        assert con.execute("select current_setting('threads')").fetchall() == [(min(most, threads),)]


def test_every_link_leads_somewhere(hostile_reports: Path) -> None:
    """From any folder, without a server: to a file that is there, and to a part that it has."""
    assert sum(len(Links(path).links) for path in hostile_reports.rglob("*.html")) > 200
    assert dead(hostile_reports) == []


def test_every_page_is_light(hostile_reports: Path) -> None:
    sizes = {path.name: path.stat().st_size for path in hostile_reports.rglob("*.html")}
    assert sizes.pop("explore.html") < 2_000_000  # the one that is exempt: a library, and all prices
    assert len(sizes) > 9
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}


def test_a_select_gets_the_values_that_it_names() -> None:
    """By whole names: DuckDB refuses a value that the text does not name."""
    values = {"n": 1, "need": 2, "needs": [3]}
    assert (queries.named("from $needs", values), queries.named("select 1", values)) == ({"needs": [3]}, None)


def test_every_page_says_where_the_reader_is(hostile_reports: Path) -> None:
    """By a link to itself, in the navigation or below; there the navigation names the part it belongs to."""
    parents = {"latest.html": "index.html", "sources.html": "methods.html", "evidence.html": "index.html",
               "providers.html": "index.html", "disagreement.html": "methods.html",
               "tables.html": "methods.html", "tables-checks.html": "methods.html"}  # fmt: skip
    for name in ("index.html", "cost.html", "explore.html", "drift.html", "methods.html", *parents):
        page = (hostile_reports / name).read_text(encoding="utf-8")
        nav, footer = (page[page.index(f"<{tag}") : page.index(f"</{tag.split()[0]}>")] for tag in ("nav", "footer"))
        assert page.count('aria-current="page"') == 1
        assert f'<a href="{name}" aria-current="page">' in (footer if name in parents else nav)
        assert re.findall(r'<a href="([^"]*)" aria-current="true">', page) == [
            parents[name] for _ in [name] if name in parents
        ]


def test_the_overview_leads_to_every_page(hostile_reports: Path) -> None:
    links = set(Links(hostile_reports / "index.html").links)
    assert {each.path for each in site.PAGES} <= links
    assert {"latest.html", "weeks/2026-W03.html", "weeks/index.html", "latest.json"} <= links


def test_all_names_stand_in_the_order_of_a_dictionary() -> None:
    made = macro("parts.html.j2", "pages")("providers", {"Vultr": "v.html", "cr8dl": "c.html", "AWS": "a.html"})
    assert re.findall('href="(.)', made) == ["a", "c", "v"]


def test_chips_of_which_nothing_was_ever_seen_are_one_line(hostile_reports: Path) -> None:
    """No row of "not collected yet" and "not seen" for each."""
    page = (hostile_reports / "index.html").read_text(encoding="utf-8")
    assert "B200, B300, MI300X, L40S, Trainium2 and Trainium3: unknown, in none of 1 price list" in page
    assert "not collected yet" in page  # of H100, under a plan
    assert page.count('<th scope="row" class') == 3


def test_claims_are_left_out_where_the_settings_say_so(hostile_reports: Path, tmp_path: Path) -> None:
    """By default they are written; without them, an older page is taken away, and nothing leads to it."""
    folder = tmp_path / "reports"
    shutil.copytree(hostile_reports, folder)
    file = hostile_reports.with_name("prices.duckdb")
    publisher.write_pages(Settings(data_dir=tmp_path, site={"claims": False}), file)

    assert (hostile_reports / "claims.html").exists()
    assert not (folder / "claims.html").exists()
    assert not [path for path in folder.rglob("*.html") if "claims.html" in Links(path).links]
    with pytest.raises(SettingsError, match="unknown setting"):
        publisher.write_pages(Settings(data_dir=tmp_path, site={"claim": False}), file)


def test_every_macro_and_mart_stands_on_a_page_of_methods(file: Path, hostile_reports: Path) -> None:
    """Those of truth checks on a page of their own; each stands on one page."""
    formulas, others, checks = (
        text(hostile_reports / name) for name in ("methods.html", "tables.html", "tables-checks.html")
    )
    macros = query(file, "select schema_name, function_name, comment from duckdb_functions() "
                 "where not internal and database_name = current_database() and function_type = 'macro' "
                 "and schema_name <> 'meta'")  # fmt: skip
    assert len(macros) > 30
    for schema, name, meaning in macros:
        assert f"{schema}.{name}(" in formulas
        assert " ".join(meaning.split()) in formulas
    for name, sql in query(file, "select name, sql from meta.model"):
        tables, elsewhere = (checks, others) if name.startswith(("truth_", "disagreement")) else (others, checks)
        assert " ".join(sql.split()) not in elsewhere
        assert (name if name.startswith("mart.") else f"int.{name}") in tables
        assert " ".join(sql.split()) in tables


def test_a_macro_is_taken_apart_into_its_formula_and_what_it_refuses(file: Path) -> None:
    """As the catalogue has it; nothing of the formula is lost, and every refusal is told."""
    (definition,) = query(
        file, "select macro_definition from duckdb_functions() where function_name = 'price_to_beat'"
    )[0]
    formula, refused = methods_page.split_formula(definition)

    assert formula in definition
    assert "error" not in formula
    assert len(refused) == definition.count("error") == 4
    assert "utilisation must be from 0 to 1" in refused
    assert methods_page.split_formula("CASE WHEN a THEN b ELSE c END") == ("CASE WHEN a THEN b ELSE c END", [])
    assert methods_page.split_formula("a + b") == ("a + b", [])


def test_a_select_is_the_same_in_whatever_order_it_leaves_columns_out() -> None:
    """As DuckDB gives them: by the copy of a file, in one order or the other; all else stays."""
    made = [f"SELECT * EXCLUDE ({names}), f(b, a) FROM x" for names in ('b, a, "source"', '"source", a, b')]

    assert {methods_page.in_order(each) for each in made} == {'SELECT * EXCLUDE ("source", a, b), f(b, a) FROM x'}


def test_costs_of_the_page_are_the_marts(file: Path, hostile_reports: Path) -> None:
    """Of each chip, way to buy and place the least cost that may be ranked at the model's point; where none is, why."""
    same = ("model_name", "accelerator_name", "place", "option_kind")
    ways = query(
        file,
        "select t.model_name, t.accelerator_name, if(service_provider_name = 'AWS', 'AWS', 'elsewhere') as place, "
        "unnest(case when purchase_option in ('reserved', 'savings_plan') then ['plan'] else [purchase_option] end), "
        "case price_kind when 'mean_30d' then 1 when 'mean_7d' then 2 else 3 end, usd_per_million_output_tokens "
        "from int.token_option as t inner join int.model_point as p on t.model_name = p.model_name "
        "and t.scenario = p.scenario and t.precision is not distinct from p.precision and t.task = p.task "
        "and t.decoding is not distinct from p.decoding and t.interactivity is not distinct from p.interactivity "
        "and t.benchmark = p.benchmark and t.input_length is not distinct from p.input_length "
        "and t.output_length is not distinct from p.output_length where t.is_cost_ranked",
    )
    least: dict[tuple, tuple[int, float]] = {}
    for *key, kind, cost in ways:
        least[tuple(key)] = min((kind, cost), least.get(tuple(key), (9, cost)))
    rows, page = rows_of(file, "cost_model"), text(hostile_reports / "cost.html")
    for row in rows:
        cost, key = row["usd_per_million_output_tokens"], tuple(row[name] for name in same)
        if row["option_rank"] == 1:
            assert (key in least) == (cost is not None), key
            assert cost is None or cost == least[key][1]
        if cost is None:
            assert row["cost_basis"].startswith("unknown: ")
            assert row["cost_basis"].removeprefix("unknown: ") in page
        else:
            assert wording.significant(cost) in page
    assert sum(row["usd_per_million_output_tokens"] is not None for row in rows) > 5


def test_a_cost_that_is_a_limit_is_grey() -> None:
    """A limit stands in its cell in grey, as it is ranked nowhere; any other reason is a footnote alone."""
    limit = {"usd_per_million_output_tokens": None, "cost_basis": "unknown: at most 1.87, as every run was faster"}

    assert cost_page._cost(limit) == '<span class="past">at most 1.87</span>'
    assert cost_page._cost(limit | {"cost_basis": "unknown: no price, last searched"}) is None


def test_a_cost_of_another_region_than_its_price_on_the_front_page_names_it() -> None:
    """The table has us-east-1's prices and spot of the US; a million tokens are cheapest wherever AWS has the chip."""
    cost = {"usd_per_million_output_tokens": 15.5, "cost_basis": "measured", "offer_id": None, "offer_terms": None}
    cost |= {"service_provider_name": "AWS", "price_kind": "price", "option_kind": "on_demand"}
    spot = {"option_kind": "spot", "price_kind": "mean_30d"}
    cells = [
        cost | {"region_id": "us-east-1"},
        cost | {"region_id": "us-west-2"},
        cost | spot | {"region_id": "us-west-2"},
        cost | spot | {"region_id": "eu-north-1"},
        cost | {"region_id": None, "service_provider_name": "Verda"},
    ]
    notes = [re.findall("<small>(.*?)</small>", front_page._token(cell)) for cell in cells]
    assert notes == [[], ["us-west-2"], ["30-day mean"], ["eu-north-1, 30-day mean"], ["Verda"]]


def test_drift_counts_no_series_where_there_is_none() -> None:
    """Series without two prices to compare are counted where there are any."""
    facts = {
        "headline": "",
        "place": "drift.html",
        "build": (datetime(2026, 10, 15, tzinfo=UTC), ""),
        "nav": [],
        "options": [],
    }
    pages = [frame.frame("drift.html.j2", **facts, day="", tokens="", n_silent=n) for n in (0, 2)]
    assert ["without two prices to compare" in page for page in pages] == [False, True]


def test_a_tier_is_told_whatever_its_length() -> None:
    """A price of another tier is another offer: what is too long for the column is cut."""
    cell = {front_page.PRICE: 6.232, "offer_id": None, "service_provider_name": "Verda", "form_factor": None}
    texts = [
        front_page._cell({"elsewhere": cell | {"tier": tier}}, "elsewhere", 2, datetime(2026, 10, 15, tzinfo=UTC))
        for tier in ("VM", "confidential computing", None)
    ]
    told = [re.findall("<small>(.*?)</small>", text) for text in texts]
    assert told == [["Verda, VM"], ["Verda, confidential…"], ["Verda"]]


def test_each_usual_chip_has_a_line_at_each_model(file: Path, hostile_reports: Path) -> None:
    """A row where it has a cost, else its name and why not, last searched when in how many sources, in one line."""
    page = (hostile_reports / "cost.html").read_text(encoding="utf-8")
    (n_sources, day), = query(
        file, "select count(distinct source), max(last_good_at)::DATE::VARCHAR from int.source_health "
        "where last_good_at is not null"
    )  # fmt: skip
    for name, rows in cost_page.by(rows_of(file, "cost_model"), "model_name").items():
        anchor = cost_page._anchor(name)
        table = page[page.index(f'id="t-{anchor}"') : page.index("</table>", page.index(f'id="t-{anchor}"'))]
        cells = {
            html.unescape(chip): re.findall(r"<td[^>]*>(.*?)</td>", line, re.DOTALL)
            for chip, line in re.findall(r'<th scope="row" class="gt_stub">([^<]*)</th>(.*?)</tr>', table, re.DOTALL)
        }
        (asked,) = query(file, "select cost.usual_chips()")
        named = {row["accelerator_name"] for row in rows}
        (line,) = re.findall(r"No cost: (.*)\.</div>", table)
        without = {each for each in named if re.search(rf"(^|, |; ){re.escape(html.escape(each))}( \(|, )", line)}
        assert {*asked[0]} <= cells.keys() | without == named
        assert cells.keys().isdisjoint(without)
        assert all(any(not text.startswith(wording.UNKNOWN) for text in each[:6]) for each in cells.values())
        assert re.search(rf"Trainium3[^()]* \([^()]*no price, last searched on {day} in {n_sources} sources", line)
        assert re.findall(r'<td class="gt_right"[^>]*>\s*</td>', table) == []


def test_what_has_no_cost_is_counted(file: Path, hostile_reports: Path) -> None:
    page = text(hostile_reports / "cost.html")
    for reason, n in query(file, "select reason, n_left_out from int.cost_left_out"):
        assert f"{reason} {n:,}" in page


def test_sources_are_counted_as_the_marts_have_them(file: Path, hostile_reports: Path) -> None:
    page = text(hostile_reports / "sources.html")
    registered = query(file, "select count(*) from core.source")[0][0]
    read = query(file, "select count(distinct source) from int.source_health where scope <> 'all'")[0][0]
    assert f"{read} of {registered} registered sources read" in page
    assert "1 fetch without a price" in page
    assert "1 refused row waits for a decision" in page
    assert page.count("<script>alert(1)</script>") >= 5


def test_the_archive_lists_days_weeks_and_editions(hostile_reports: Path, tmp_path: Path) -> None:
    """The newest first; editions after their week; days beyond a month are folded."""
    week = (hostile_reports / "weeks/2026-W03.html").read_bytes()
    for name in ("2026-W03", "2026-W03.edition-1", "2026-W02", "2026-W02-known-then"):
        (tmp_path / "weeks").mkdir(exist_ok=True)
        (tmp_path / f"weeks/{name}.html").write_bytes(week)
    (tmp_path / "daily").mkdir()
    for day in range(1, 41):
        (tmp_path / f"daily/{2025 if day > 31 else 2026}-01-{day % 31 + 1:02}.html").write_bytes(week)
    told = [each.name for each in archive.weeks(tmp_path)]
    page = archive.render(tmp_path)

    assert told == ["2026-W03", "2026-W03, edition 1", "2026-W02", "2026-W02, as known then"]
    assert "40 days and 2 weeks are here" in page
    assert "<summary>2025: 9 more</summary>" in page
    assert archive.headline(tmp_path / "weeks/2026-W03.html").startswith("AWS")


def test_weeks_of_a_version_before_move_and_their_addresses_lead_on(hostile_reports: Path, tmp_path: Path) -> None:
    """A page that was published stays as it was, with its editions; once moved, nothing changes any more."""
    week = (hostile_reports / "weeks/2026-W03.html").read_bytes()
    (tmp_path / "weekly").mkdir()
    for name in ("2026-W03", "2026-W03.edition-1", "index"):
        (tmp_path / f"weekly/{name}.html").write_bytes(week)
    for _ in range(2):
        archive.write(tmp_path)
        assert (tmp_path / "weeks/2026-W03.html").read_bytes() == week
        assert 'url=../weeks/2026-W03.edition-1.html"' in (tmp_path / "weekly/2026-W03.edition-1.html").read_text()
        assert 'url=../weeks/index.html"' in (tmp_path / "weekly/index.html").read_text()
        assert 'url=weeks/index.html"' in (tmp_path / "archive.html").read_text()
    assert [page.name for page in archive.weeks(tmp_path)] == ["2026-W03", "2026-W03, edition 1"]


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ([], "No live source was read; 0 scopes of archives and imports below; no refused row waits for a decision"),
        (["fresh", "fresh", "stale", "archived"], "2 of 3 live scopes fresh, 1 stale; no refused row waits"),
        (["missing"], "0 of 1 live scope fresh, 1 missing; no refused row waits for a decision"),
    ],
)
def test_the_page_of_sources_begins_with_its_finding(states: list[str], said: str) -> None:
    import polars as pl

    scopes = pl.DataFrame({"state": states}, schema={"state": pl.String})
    assert sources_page.headline(scopes, 0).startswith(said)


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.06293, "0.0629"), (12.689, "12.7"), (1250.4, "1,250"), (0.0, "0"), (None, "\N{EN DASH}"), (0.1, "0.100")],
)
def test_small_prices_have_three_significant_digits(value: float | None, said: str) -> None:
    assert wording.significant(value) == said


def test_charts_are_drawn_where_a_price_is_current(
    hostile_reports: Path, offline_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or where one asks for them; the archive's are, by its own clock; not where none is, or where settings say so."""

    def drawn(page: Path) -> bool:
        return "<figure" in page.read_text(encoding="utf-8")

    assert drawn(hostile_reports / "cost.html")
    assert drawn(offline_run / "reports" / "cost.html")
    monkeypatch.setattr(site, "PAGES", [each for each in site.PAGES if each.path == "cost.html"])
    old = tmp_path / "old.duckdb"
    shutil.copy(offline_run / "prices.duckdb", old)
    with duckdb.connect(str(old)) as con:
        con.execute("update int.accelerator_hour_price set is_current = false")
    site.write(old, tmp_path / "old")
    assert not drawn(tmp_path / "old" / "cost.html")
    without = Settings(data_dir=tmp_path, site={"charts": False})
    publisher.write_pages(without, hostile_reports.with_name("prices.duckdb"))
    assert not drawn(tmp_path / "reports" / "cost.html")


def test_type_has_one_scale_and_alarm_one_place() -> None:
    """Sizes are those of the scale, or a share of what is around; the colour of a rise is for tables of headlines."""
    css = frame.style()
    sizes = set(re.findall(r"font-size: ([^;}]+)", css))
    assert {size.strip() for size in sizes if not size.strip().endswith("em")} == {f"var(--t{n})" for n in range(1, 7)}
    assert not [size for size in sizes if size.strip().endswith("rem")]
    assert re.findall(r"\n([^\n]*) \{[^}]*color: var\(--rise\)", css) == ["#chips .rise, #moves-table .rise"]
