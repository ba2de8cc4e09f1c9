"""`chipledger export`: what the other side reads is what the file holds, and nothing lands outside of the folder."""

import csv
import json
import shutil
import stat
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path

import duckdb
import focus_rules
import openpyxl
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from looks import row
from published import query
from purchase import P5, plan, putting, seen, spot, term

from flows.cli.main import main
from flows.export import exporting
from flows.shared import tabular
from warehouse.errors import ChipledgerError

HOSTILE = (
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "  =1",
    "\uff1d1",
    "\x00=1",
    "'=1",
    "plain - text",
    "<b>",
    "",
)


@pytest.fixture
def call(offline_run: Path) -> Callable[..., Result]:
    """A function that runs a command on the file of one offline run."""
    return lambda *words: CliRunner().invoke(main, ["--data-dir", str(offline_run), *(str(word) for word in words)])


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A file with one mart, whose texts a spreadsheet would run, beside a private file."""
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "prices.duckdb"
    with duckdb.connect(str(file)) as con:
        con.execute("create schema int; create schema mart; create schema core; create schema meta")
        con.execute(
            "create table int.x (word VARCHAR, offer_id BIGINT, amount DECIMAL(18, 10), moment TIMESTAMP, day DATE)"
        )
        con.executemany(
            "insert into int.x values (?, 4503599627370495, -1.5, '2026-01-02 03:04:05', '2026-01-02')",
            [[word] for word in HOSTILE],
        )
        con.execute("comment on column int.x.amount is 'What it costs [USD]'")
        con.execute("create table meta.build as select TIMESTAMP '2026-01-03' as built_at, 'test' as version")
        con.execute("create table meta.model as select 'x' as name, 'One word' as row_meaning")
        con.execute(
            "create table mart.data_dictionary as select 'int' as table_schema, 'x' as table_name, "
            "'amount' as column_name, '=USD' as unit, 'What it costs' as meaning"
        )
        con.execute(
            "create table core.source as select 's' as source, 'P' as service_provider_name, '=t' as title, "
            "'live' as kind, 'https://x.test' as url"
        )
    with duckdb.connect(str(tmp_path / "data" / "private.duckdb")) as con:
        con.execute("create table fleet_cost as select 'secret' as label")
    return file


def lines_of(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_mart_is_exported_whole(call: Callable[..., Result], offline_run: Path, tmp_path: Path) -> None:
    """One Parquet file for each public table, and for any other by name: all rows in one order, columns, comments."""
    file = offline_run / "prices.duckdb"
    found = query(file, exporting.MARTS)
    marts = [name for name, _, is_public in found if is_public]
    assert len(marts) == 11
    named = ["int.accelerator_hour_price", marts[0]]
    made = {name: made for name, made, _ in found}
    words = [word for name in named for word in ("--mart", name)]
    for folder, asked in (("public", marts), ("out", named)):
        told = json.loads(call("export", tmp_path / folder, *(words if asked is named else []), "--json").stdout)
        counts = query(file, " union all ".join(f"select '{name}', count(*) from {made[name]}" for name in asked))
        assert [(Path(one["file"]).stem, one["rows"]) for one in told] == counts
        tables = {path.stem: pq.read_table(path) for path in (tmp_path / folder).iterdir()}
        assert {name: table.num_rows for name, table in tables.items()} == dict(counts)
    table = tables["int.accelerator_hour_price"]
    assert table.num_rows > 100
    assert table.schema.field("age_days").metadata[b"comment"].endswith(b"[days]")
    rows = query(file, "from int.accelerator_hour_price order by all")
    for name in ("offer_id", "unit_price"):
        at = table.column_names.index(name)
        assert table[name].to_pylist() == [row[at] for row in rows]


def test_csv_runs_nothing(hostile: Path, tmp_path: Path) -> None:
    """A text that a spreadsheet may run has an apostrophe before it; numbers, also negative ones, are as they are."""
    exporting.marts(hostile, tmp_path / "out", form="csv", names=["int.x"])
    lines = lines_of(tmp_path / "out" / "int.x.csv")
    assert [line["word"] for line in lines] == [
        "", "'\x00=1", "'\t'=1", "'\r'=1", "'  =1", "'=1", "'+1", "'-1", "<b>", "'=1+1", "'@SUM(A1)", "plain - text",
        "'\uff1d1",
    ]  # fmt: skip
    assert {tuple(line.values())[1:] for line in lines} == {
        ("4503599627370495", "-1.5", "2026-01-02T03:04:05Z", "2026-01-02")
    }


def test_cells_of_csv() -> None:
    """Unknown is empty, as are numbers that are none; truth values and lists are as in JSON."""
    assert [tabular.cell(value) for value in (None, float("nan"), float("inf"), True, [Decimal("1.50")])] == [
        "", "", "", "true", "[1.5]",
    ]  # fmt: skip


def test_a_workbook_holds_what_it_should(hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts are texts, numbers numbers, times dates; the header is fixed, and units and sources are noted."""
    monkeypatch.setattr(exporting, "SHEETS", ("x",))
    exporting.workbook(hostile, tmp_path / "x.xlsx")
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    assert book.sheetnames == ["notes", "x"]
    rows = list(book["x"].iter_rows(min_row=2))
    words = [row[0] for row in rows]
    assert {cell.data_type for cell in words if cell.value is not None} == {"s"}
    assert {cell.value for cell in words} >= {*HOSTILE[:4]}
    at = datetime.fromisoformat("2026-01-02T03:04:05")  # a workbook knows no time zones
    assert [cell.value for cell in rows[0][1:]] == ["4503599627370495", -1.5, at, datetime.fromisoformat("2026-01-02")]
    assert [cell.is_date for cell in rows[0]] == [False, False, False, True, True]
    assert (book["x"].freeze_panes, book["x"].auto_filter.ref) == ("A2", f"A1:E{len(HOSTILE) + 1}")
    notes = [tuple(cell.value for cell in row if cell.value is not None) for row in book["notes"].iter_rows()]
    assert ("x", len(HOSTILE), "One word") in notes
    assert ("x", "amount", "=USD", "What it costs") in notes
    assert ("s", "P", "=t", "live", "https://x.test") in notes
    assert {cell.data_type for row in book["notes"].iter_rows() for cell in row} <= {"s", "n", "d"}


def test_a_full_disk_is_an_error_of_the_disk(hostile: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "SHEETS", ("x",))
    with duckdb.connect(str(hostile), read_only=True) as con, pytest.raises(OSError, match="No space left on device"):
        exporting._write_workbook(con, Path("/dev/full"), [])


@pytest.mark.parametrize("one_of", [100, pytest.param(1, marks=pytest.mark.prove)])
def test_a_workbook_has_every_row(offline_run: Path, tmp_path: Path, one_of: int) -> None:
    """Each main mart is a sheet with all its rows, of which one of so many is left; the sums are the file's."""
    file = Path(shutil.copy(offline_run / "prices.duckdb", tmp_path))
    file.chmod(0o644)
    with duckdb.connect(str(file)) as con:
        views = {
            name for (name,) in con.execute("select view_name from duckdb_views() where schema_name = 'int'").fetchall()
        }
        for name in exporting.SHEETS:
            con.execute(f"create temp table all_rows as from int.{name}")
            con.execute(f"drop {'view' if name in views else 'table'} int.{name}")
            con.execute(f"create table int.{name} as from temp.all_rows where hash(rowid) % {one_of} = 0")
            con.execute("drop table temp.all_rows")
    words = ["--data-dir", str(tmp_path), "export", str(tmp_path / "x.xlsx"), "--as", "xlsx"]
    assert CliRunner().invoke(main, words).exit_code == 0
    book = openpyxl.load_workbook(tmp_path / "x.xlsx", read_only=True)
    assert book.sheetnames == ["notes", *exporting.SHEETS]
    header, *costs = book["token_cost"].iter_rows(values_only=True)
    assert {line[header.index("utilisation")] for line in costs} == {0.5}
    header, *rows = book["accelerator_hour_price"].iter_rows(values_only=True)
    at = header.index("unit_price")
    ((total, count),) = query(file, "select sum(unit_price)::DOUBLE, count(*) from int.accelerator_hour_price")
    assert len(rows) == count > 10
    assert sum(row[at] or 0 for row in rows) == pytest.approx(total)


def test_a_workbook_has_the_newest_changes_and_says_so(
    offline_run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sheet holds 1,048,576 rows; large tables have changes as many in three years."""
    part, note = exporting.PARTS["price_change"]
    monkeypatch.setattr(exporting, "SHEETS", ("price_change",))
    monkeypatch.setitem(exporting.PARTS, "price_change", (part.replace("200000", "7"), note))
    exporting.workbook(offline_run / "prices.duckdb", tmp_path / "x.xlsx")
    book = openpyxl.load_workbook(tmp_path / "x.xlsx")
    header, *rows = book["price_change"].iter_rows(values_only=True)
    newest = "select observed_at from int.price_change order by observed_at desc limit 7"
    known = sorted(moment for (moment,) in query(offline_run / "prices.duckdb", newest))
    assert sorted(row[header.index("observed_at")] for row in rows) == known
    assert ("price_change", 7) in [tuple(cell.value for cell in row[:2]) for row in book["notes"].iter_rows()]
    assert note in {cell.value for row in book["notes"].iter_rows() for cell in row}


def test_focus_keeps_the_rules_of_the_draft(call: Callable[..., Result], offline_run: Path, tmp_path: Path) -> None:
    """Every row of the file: required columns, formats, allowed values, uniqueness, no overlap."""
    assert call("export", tmp_path / "x.csv", "--as", "focus-sku-price").exit_code == 0
    lines = lines_of(tmp_path / "x.csv")
    ((count,),) = query(offline_run / "prices.duckdb", "select count(*) from focus.sku_price")
    assert len(lines) == count > 100
    assert focus_rules.broken(lines) == []


def test_focus_has_two_records_of_an_upfront_term(tmp_path: Path) -> None:
    """Partial Upfront is a Purchase and a Usage, All Upfront a Purchase; moved prices follow one another."""
    terms = term(P5, "10", "Partial", "90000"), term(P5, "0", "All", "170000", years=3), plan(P5, "36")
    with putting(tmp_path, asked=("sku_price",)) as put:
        file = put(
            seen(0, "aws_price_list", row(P5, "55.04"), *terms, row(P5, "60", region_id="eu-north-1")),
            seen(1, "aws_price_list", row(P5, "44"), *terms), seen(1, "aws_spot", spot(P5, "use1-az1", "20")),
            seen(2, "aws_price_list", row(P5, "55.04")),
            at=3,
        )  # fmt: skip
    exporting.focus(file, tmp_path / "x.csv")
    lines = lines_of(tmp_path / "x.csv")
    assert focus_rules.broken(lines) == []
    assert Counter((line["PurchasePaymentModel"], line["ChargeCategory"]) for line in lines) == {
        ("", "Usage"): 5, ("No Upfront", "Usage"): 1, ("Partial Upfront", "Usage"): 1,
        ("Partial Upfront", "Purchase"): 1, ("All Upfront", "Purchase"): 1,
    }  # fmt: skip
    paid = {(line["UnitPrice"], line["PurchaseDurationType"]) for line in lines if line["ChargeCategory"] == "Purchase"}
    assert paid == {("90000", "1 Year"), ("170000", "3 Years")}


def test_the_rules_see_what_breaks_them() -> None:
    """A second record, an overlap, an empty column, a wrong word, time or amount are each named."""
    good = dict.fromkeys(
        ("ServiceProviderName", "SkuPriceId", "UnitPriceType", "PricingUnit", "PurchaseDurationType"), "List"
    ) | {
        "ContractId": "", "PricingCurrency": "USD", "ChargeCategory": "Usage", "PricingCategory": "Standard",
        "PurchasePaymentModel": "", "UnitPrice": "1", "SkuPriceEffectiveStart": "2026-01-01T00:00:00Z",
        "SkuPriceEffectiveEnd": "2026-02-01T00:00:00Z",
    }  # fmt: skip
    later = good | {"SkuPriceEffectiveStart": "2026-02-01T00:00:00Z", "SkuPriceEffectiveEnd": ""}
    assert focus_rules.broken([good, later]) == []
    assert len(focus_rules.broken([later, later])) == 2  # not unique, and overlapping
    assert len(focus_rules.broken([good, later | {"SkuPriceEffectiveStart": "2026-01-31T00:00:00Z"}])) == 1
    for wrong in (
        {"SkuPriceId": ""}, {"ChargeCategory": "Use"}, {"UnitPrice": "free"}, {"UnitPrice": "-1"},
        {"PricingCurrency": "$"}, {"SkuPriceEffectiveStart": "2026-01-01"}, {"Bad_Name": ""},
        {"SkuPriceEffectiveEnd": "2026-01-01T00:00:00Z"},
    ):  # fmt: skip
        assert len(focus_rules.broken([good | wrong])) == 1, wrong


def test_nothing_private_without_asking(hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The private file is read with --with-private only; what is then written is for its owner alone."""
    exporting.marts(hostile, tmp_path / "out", form="csv", names=["int.x"])
    assert [path.name for path in (tmp_path / "out").rglob("*")] == ["int.x.csv"]
    exporting.marts(hostile, tmp_path / "all", form="csv", names=["int.x"], with_private=True)
    secret = tmp_path / "all" / "private" / "fleet_cost.csv"
    assert secret.read_text() == "label\nsecret\n"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (secret, secret.parent)] == [0o600, 0o700]
    monkeypatch.setattr(exporting, "SHEETS", ("x",))
    for name, with_private in (("a.xlsx", False), ("b.xlsx", True)):
        exporting.workbook(hostile, tmp_path / name, with_private=with_private)
        sheets = openpyxl.load_workbook(tmp_path / name).sheetnames
        assert sheets == ["notes", "x", *(["private fleet_cost"] if with_private else [])]
    assert stat.S_IMODE((tmp_path / "b.xlsx").stat().st_mode) == 0o600
    (hostile.parent / "private.duckdb").unlink()
    with pytest.raises(ChipledgerError, match="no private file"):
        exporting.marts(hostile, tmp_path / "none", form="csv", with_private=True)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "x.csv", "core.offer", "x; drop table", ""])
def test_only_marts_are_marts(hostile: Path, tmp_path: Path, name: str) -> None:
    """A name that is no mart's is refused with the known ones, and nothing is written."""
    with pytest.raises(ChipledgerError, match="no such mart") as caught:
        exporting.marts(hostile, tmp_path / "out", form="csv", names=[name])
    assert "x" in caught.value.hint
    assert not (tmp_path / "out").exists()


def test_a_file_of_an_older_version_is_refused(tmp_path: Path) -> None:
    """It has no schema `int`: nothing to export would be a success without a file."""
    duckdb.connect(str(tmp_path / "prices.duckdb")).close()
    with pytest.raises(ChipledgerError, match="older version"):
        exporting.marts(tmp_path / "prices.duckdb", tmp_path / "out", form="csv")


def test_links_do_not_lead_out_of_the_folder(hostile: Path, tmp_path: Path) -> None:
    """A link in the place of a folder is refused; one in the place of a file is replaced, with --force."""
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "out"
    elsewhere.mkdir()
    out.mkdir()
    (out / "private").symlink_to(elsewhere)
    with pytest.raises(ChipledgerError, match="outside of the folder"):
        exporting.marts(hostile, out, form="csv", names=["int.x"], with_private=True)
    (elsewhere / "kept.csv").write_text("mine")
    (out / "int.x.csv").symlink_to(elsewhere / "kept.csv")
    with pytest.raises(ChipledgerError, match="already"):
        exporting.marts(hostile, out, form="csv", names=["int.x"])
    exporting.marts(hostile, out, form="csv", names=["int.x"], force=True)
    assert [path.name for path in elsewhere.iterdir()] == ["kept.csv"]
    assert (elsewhere / "kept.csv").read_text() == "mine"
    assert not (out / "int.x.csv").is_symlink()


def test_nothing_is_written_where_one_file_is_there(hostile: Path, tmp_path: Path) -> None:
    """An export is refused before its first file, and replaces with --force."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "data_dictionary.csv").write_text("mine")
    with pytest.raises(ChipledgerError, match="already"):
        exporting.marts(hostile, tmp_path / "out", form="csv")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["data_dictionary.csv"]
    exporting.marts(hostile, tmp_path / "out", form="csv", force=True)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["data_dictionary.csv"]


@pytest.mark.parametrize(
    "words",
    [
        ("x.txt", "--as", "xlsx"), ("x", "--as", "focus-sku-price"),
        ("x.csv", "--as", "focus-sku-price", "--mart", "x"),
        ("x", "--as", "skypilot", "--with-private"), ("x", "--format", "xlsx"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_wrong_usage(call: Callable[..., Result], words: tuple[str, ...]) -> None:
    """What does not go together is wrong usage."""
    assert call("export", *words).exit_code == 2
