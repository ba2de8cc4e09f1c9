"""What an import says of rows that are no prices: in the quarantine with their reason, and counted where it is run."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from published import query

from flows.cli.main import main

pytestmark = pytest.mark.usefixtures("least_marts")

HEADER = "observed_at_utc,provider,region,pricing,usd_per_hour,instance_type,gpu,gpu_count,source,flags"
MACHINES = ("m8", "m9")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Return a caller of commands over a data directory; it gives the exit code and what is printed, or the error."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["--data-dir", "data", *arguments])
        return result.exit_code, result.stdout or result.stderr

    return call


def csv(name: str, *rows: str, header: str = HEADER) -> str:
    """Write rows of a day and return the name of the file."""
    Path(name).write_text("\n".join([header, *rows, ""]))
    return name


def notes(printed: str) -> list[str]:
    return [line.removeprefix("note: ") for line in printed.splitlines() if line.startswith("note: ")]


@pytest.mark.usefixtures("log_alone")
def test_a_contradiction_is_told_and_kept(run, tmp_path: Path) -> None:
    """A corrected price beside a wrong one: neither counts; printed and listed with the document of the other. Also
    where a row of that moment had been refused, as of m9."""

    def of_both(name: str, day: str, price: str) -> str:
        return csv(name, *(f"2025-06-{day},Acme,eu-1,on_demand,{price},{each},H100 SXM,8,desk," for each in MACHINES))

    run("import", of_both("a.csv", "01", "16.00"), of_both("b.csv", "30", "20.80"))
    run("import", csv("r.csv", "2025-06-30,Acme,eu-1,on_demand,+20.80,m9,H100 SXM,8,desk,"))
    code, printed = run("import", of_both("c.csv", "30", "16.50"))
    assert code == 0
    file = tmp_path / "data" / "prices.duckdb"
    [(sha256,)] = query(file, "select distinct document_sha256 from core.price_event where unit_price = 20.8")
    reason = (
        "another price of the same offer, source and moment is known, so that neither counts, 20.8, "
        f"in document {sha256[:12]}"
    )
    assert notes(printed) == [f"2 rows held: {reason}"]
    assert query(file, "select unit_price::double, valid_to from core.sku_price") == [(16.0, None)] * 2
    listed = [row for row in json.loads(run("quarantine", "list", "--json")[1]) if row["value"] != "+20.80"]
    assert [(row["reason"], row["value"], row["decision"]) for row in listed] == [(reason, "16.5", None)] * 2
    # Both are in the log: neither can be accepted beside the other.
    for row in listed:
        assert run("quarantine", "accept", str(row["quarantine_id"]))[0] == 1
    assert query(file, "select unit_price::double, valid_to from core.sku_price") == [(16.0, None)] * 2


UNREAD = {"blank.csv": f"{HEADER}\n\n", "mac.csv": f"{HEADER}\r2025-06-01,Acme,eu-1,on_demand,16,m8,H100 SXM,8,desk,"}
NOT_CSV = {"semicolons.csv": f"{HEADER}\n".replace(",", ";").encode(), "wide.csv": f"{HEADER}\n".encode("utf-16")}


def test_a_file_that_says_nothing_is_refused_with_those_named_beside_it(run) -> None:
    """Without rows, with other line ends or cells, not as UTF-8, or packed and cut: no file of the command lands."""
    known = csv("a.csv", "2025-06-01,Acme,eu-1,on_demand,16.00,m8,H100 SXM,8,desk,")
    files = {name: text.encode() for name, text in UNREAD.items()} | NOT_CSV
    files["packed.csv"] = gzip.compress(Path(known).read_bytes())[:-9]
    cut = "cannot be read: Compressed file ended before the end-of-stream marker was reached"
    messages = dict.fromkeys(UNREAD, "no rows below the header") | {"packed.csv": cut}
    for name, body in files.items():
        Path(name).write_bytes(body)
        code, printed = run("import", known, name)
        message = messages.get(name, "not a CSV of observations")
        assert (code, printed.partition(" (")[0]) == (1, f"error: {name}: {message}")
    assert not list(Path("data/landing").glob("??"))


@pytest.mark.usefixtures("log_alone")
def test_a_flag_that_nobody_knows_holds_its_rows(run, tmp_path: Path) -> None:
    """A hundred converted prices in another collector's words: no price, no change; each can be accepted."""
    rows = [
        f"2025-06-{day:02},Acme,eu-1,on_demand,{16 + day / 100},m8,H100 SXM,8,desk,eur_to_usd" for day in range(1, 29)
    ]
    high = [f"2025-06-{day:02},Acme,eu-1,on_demand,{800 + day},m7,H100 SXM,8,desk," for day in range(1, 4)]
    _, printed = run("import", csv("a.csv", *rows, *high))
    first, second = notes(printed)
    assert first == "28 rows held: with a flag that is not known to be harmless: eur_to_usd"
    assert second.startswith("3 rows held, such as 100.1 USD per chip-hour of H100, on demand: outside")
    rows_held = "select quarantine_id from core.quarantine where gate = 'row' order by observed_at"
    [(first,), *_] = query(tmp_path / "data" / "build.duckdb", rows_held)
    assert run("quarantine", "accept", str(first))[0] == 0
    assert query(tmp_path / "data" / "prices.duckdb", "select unit_price::double from core.sku_price") == [(16.01,)]


@pytest.mark.usefixtures("log_alone")
def test_a_whole_list_of_aws(run, tmp_path: Path) -> None:
    """Machines without accelerators are no offers; unknown regions, types and currencies wait; all of it is counted."""
    name = csv(
        "list.csv",
        "2025-06-30,aws,us-east-1,on_demand,0.096,m5.large,,,,",
        "2025-06-30,aws,us-east-1,on_demand,55.04,p5.48xlarge,,,,",
        "2025-06-30,aws,mars-west-9,on_demand,55.04,p5.48xlarge,,,,",
        "2025-06-30,aws,us-east-1,on_demand,99,p9.48xlarge,,,,",
        "2025-06-30,aws,cn-north-1,on_demand,165.5,p3.16xlarge,,,,",
    )
    _, printed = run("import", name)
    assert notes(printed) == [
        "list.csv: 1 row left out, of machines without accelerators: m5.large 1",
        "1 row held: in China, and the row states no currency: cn-north-1",
        "1 row held: not a region of AWS that is known: mars-west-9",
        "1 row held: not an instance type of AWS that is known: p9.48xlarge",
    ]
    assert query(tmp_path / "data" / "prices.duckdb", "select instance_type, region_id from core.offer") == [
        ("p5.48xlarge", "us-east-1")
    ]
    waiting = {row["value"]: row["quarantine_id"] for row in json.loads(run("quarantine", "list", "--json")[1])}
    assert run("quarantine", "accept", str(waiting["mars-west-9"]))[0] == 0
    # Dollars that nobody stated are not accepted either.
    code, printed = run("quarantine", "accept", str(waiting["cn-north-1"]), "--json")
    assert (code, json.loads(printed)["field"]) == (1, "pricing_currency")


def test_half_a_chip(run, tmp_path: Path) -> None:
    """1/2 L40S at 0.8 is half a chip; a third is a part that four decimals do not hold, and has no price per chip."""
    name = csv(
        "a.csv",
        "2025-06-30,Acme,eu-1,on_demand,0.80,,1/2 L40S,1,desk,",
        "2025-06-30,Acme,eu-1,on_demand,0.60,,1/3 L40S,1,desk,",
    )
    assert notes(run("import", name)[1]) == ["a.csv: 1 price without a known chip and number of chips: 1/3 L40S 1"]
    assert query(
        tmp_path / "data" / "prices.duckdb",
        "select accelerator_label, accelerator_name, core.offer_unit.accelerator_count::double from core.offer_unit "
        "inner join core.offer using (offer_id) order by all",
    ) == [("1/2 L40S", "L40S", 0.5), ("1/3 L40S", "L40S", None)]


WRONG = {
    # A collector did not multiply by the number of chips, on one day of 2023.
    "2023-05-20,RunPod,,on_demand,1.69,,A100-80GB,8,fs,": "0.2112 USD per chip-hour of A100-80GB, on demand: outside",
    "2023-05-20,RunPod,,on_demand,0.28,,V100,4,fs,": "0.07 USD per chip-hour of V100, on demand: outside",
    # What somebody asks on a marketplace, 66 times the chip's median.
    "2026-05-20,Vast.ai,,on_demand,26.40,,RTX-5090,1,me,": "26.4 USD per chip-hour of RTX-5090, on demand: outside",
    # A month's price in an hour's column, of a machine that nobody saw before.
    "2025-06-30,Acme,eu-1,on_demand,11680.00,m8,H100 SXM,8,desk,": "1460 USD per chip-hour of H100, on demand: outside",
}


TWICE = [f"2025-06-30,Acme,eu-1,on_demand,{price},m9,H100 SXM,8,desk," for price in ("20.80", "16.50")]
YUAN = "observed_at_utc,provider,region,pricing,price_per_hour,currency,instance_type"


@pytest.mark.usefixtures("log_alone")
def test_a_price_out_of_range_is_in_no_mart(run, tmp_path: Path) -> None:
    """Held on first sight, told by the command, and neither current nor the last known price of its chip.

    So are both of two prices of one offer; a price in yuan is stored as it was asked, and never as dollars.
    """
    china = csv("cn.csv", "2025-06-30,aws,cn-north-1,on_demand,165.5,CNY,p3.16xlarge", header=YUAN)
    good = "2026-05-20,Lambda,,on_demand,2.99,,H100 SXM,1,me,"
    code, printed = run("import", csv("a.csv", *WRONG, *TWICE, good), china)
    assert code == 0
    told = [line for line in notes(printed) if "held" in line]
    assert len(told) == len(WRONG) + 1
    assert not [line for line in printed.splitlines() if line.startswith("held: ")]  # said by the notes
    assert "2 rows held: the same offer is in the answer with different prices" in told
    for reason in WRONG.values():
        (note,) = [line for line in told if line.startswith(f"1 row held: {reason}")]
        assert note.endswith("waits for a person")
    assert query(
        tmp_path / "data" / "prices.duckdb",
        "select pricing_currency, unit_price::varchar from core.offer inner join core.sku_price using (offer_id) "
        "order by all",
    ) == [("CNY", "165.5000000000"), ("USD", "2.9900000000")]


@pytest.mark.usefixtures("log_alone")
def test_a_wrong_import_moves_no_price(run, tmp_path: Path) -> None:
    """A month's price, or one 2.6 times the last, of a machine whose chip nobody reads: the last one stands.

    What waits is counted by reason, and stands once in the quarantine, however often the file is read.
    """
    row = "Acme,eu-1,on_demand,{},{},Z9000,8,desk,"
    wrong = {"m8": "11680.00", "m9": "41.60"}
    known = csv("a.csv", *(f"2025-06-01,{row.format('16.00', machine)}" for machine in wrong))
    days = ("2025-06-29T23:00", "2025-06-30")
    said = csv("b.csv", *(f"{day},{row.format(price, name)}" for name, price in wrong.items() for day in days))
    code, printed = run("import", known, said)
    assert code == 0
    told = [line for line in notes(printed) if "held" in line]
    for note, times in zip(sorted(told), ("2.6", "730"), strict=True):
        assert note.startswith(f"2 rows held: {times} times the last price, 16; waits for")
    assert notes(run("import", said)[1])[1:] == ["4 rows are in the quarantine already"]
    assert [row["n_observed"] for row in json.loads(run("quarantine", "list", "--json")[1])] == [2, 2]
    assert query(tmp_path / "data" / "prices.duckdb", "select unit_price::double, valid_to from core.sku_price") == [
        (16.0, None), (16.0, None),
    ]  # fmt: skip


TERMS = (
    "observed_at_utc,provider,region,pricing,usd_per_hour,instance_type,gpu,gpu_count,term,payment,upfront_usd,source"
)
RESERVED = "{},aws,us-east-1,reserved,{},p5.48xlarge,H100 SXM,8,3yr,All Upfront,{},desk"
NEOCLOUD = "{},Acme,eu-1,on_demand,{},m8,H100 SXM,8,,,,desk"


@pytest.mark.usefixtures("log_alone")
def test_what_is_not_offered_any_more_ends_with_a_later_file(run, tmp_path: Path) -> None:
    """A row without amounts is no price of zero: it ends the price of the file before, also of a term paid upfront."""
    before = csv(
        "a.csv", NEOCLOUD.format("2025-06-01", "24"), RESERVED.format("2025-06-01", "0", "525600"), header=TERMS
    )
    after = csv("b.csv", NEOCLOUD.format("2025-06-20", ""), RESERVED.format("2025-06-20", "", ""), header=TERMS)
    for name in (before, after):
        code, printed = run("import", name)
        assert (code, notes(printed)) == (0, [])
    ends = query(tmp_path / "data" / "prices.duckdb", "select distinct valid_to::date::varchar from core.sku_price "
                 "where unit_price is not null")  # fmt: skip
    assert ends == [("2025-06-20",)]
