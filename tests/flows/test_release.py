"""`chipledger release` and `reproduce`: what others may keep, and the way from a figure back to bytes."""

import csv
import gzip
import hashlib
import json
import random
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from importlib import resources
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result
from few_marts import published_with
from frictionless import validate
from looks import Row, row
from looks import day as on_day
from published import query
from purchase import putting, seen
from ranges import serving
from released_site import CLOSED, HEADER, SEEN

from extract import source_named
from flows.cli.main import main
from flows.collect.collector import FetchResult
from flows.collect.steps import open_run
from flows.config.settings import Settings
from flows.release import making, reproducing
from transform.models import PUBLIC
from warehouse.documents import Document, ScopeFetch
from warehouse.log.events import naive
from warehouse.reference.source_terms import terms_of

P5_WORDS = (
    "--chip", "H100", "--provider", "AWS", "--option", "on_demand", "--instance-type", "p5.48xlarge",
    "--region", "us-east-1",
)  # fmt: skip
FEW = ("mart.price_now", "mart.price_history", "price_change", "provider_price", "commitment_option")
"""What a release is compared by, and its feed is made of."""
SECRETS = ("6.6661372915", "5.5551372915", "7.7771372915", CLOSED, "contract-4711", "8.8881372915")
"""Of rows that no release may have: each would show, wherever it slipped in."""


def call(*words: object) -> Result:
    """Run a command in a place without data."""
    return CliRunner().invoke(main, ["--data-dir", "/nowhere", *map(str, words)])


@pytest.fixture(scope="module")
def site(release_site: Path) -> Path:
    """Return a site with two days: that of the archive, and that of an import, beside which there is a contract."""
    return release_site


@pytest.fixture(scope="module")
def day(site: Path) -> Iterator[Path]:
    """Return the folder of the newest day; read it, or copy it. Its file stays open, as to open it takes a while."""
    with duckdb.connect(str(site / "2026-10-20" / "prices.duckdb"), read_only=True):
        yield site / "2026-10-20"


@pytest.fixture
def altered(day: Path, tmp_path: Path) -> Path:
    """Return a copy of the newest day, to alter."""
    return Path(shutil.copytree(day, tmp_path / "day"))


def leaks(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what of SECRETS any file of a folder has: of documents unpacked, of tables in each row, and as bytes."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        yield from ((path.name, secret) for secret in SECRETS if secret.encode() in body)
    with duckdb.connect(str(folder / "prices.duckdb"), read_only=True) as con:
        tables = con.execute("select schema_name || '.' || table_name from duckdb_tables() order by all").fetchall()
        files = [*folder.glob("*.parquet"), *(each for each in folder.iterdir() if any(each.glob("month=*")))]
        parquet = [f"'{path}'" if path.is_file() else f"'{path}/*/*.parquet'" for path in files]
        for table in (*(name for (name,) in tables), *parquet):
            rows = con.execute(
                f"from (select t::VARCHAR as row from {table} as t) where regexp_matches(row, ?)", ["|".join(SECRETS)]
            )
            yield from ((table, str(row)) for row in rows.fetchall())


def test_nothing_is_in_a_release_that_may_not_be_published_again(site: Path, day: Path) -> None:
    """No row, figure, document or page of a source or provider that forbids it, without a licence, or of a contract."""
    found = [
        *leaks(day),
        *((page.name, word) for page in site.rglob("*.html") for word in SECRETS if word in page.read_text()),
    ]
    released = {row["source"] for row in making.licences()}
    file = day / "prices.duckdb"
    with duckdb.connect(str(file), read_only=True) as con:
        listed = con.execute(
            "select schema_name || '.' || table_name, column_name from duckdb_columns() where column_name in "
            "('source', 'service_provider_name') and schema_name <> 'ref' and not internal "
            "and table_name not in ('source_terms', 'aws_purchase_options')"
        ).fetchall()
        values = {
            (column, value)
            for table, column in listed
            for (value,) in con.execute(f"select distinct {column} from {table}").fetchall()
        }

    documents = [gzip.decompress(path.read_bytes()).lower() for path in (day / "documents").rglob("*.gz")]
    forbidden = (b"runpod", b"vast.ai", b"crusoe", b"digitalocean", b"voltage park")

    assert found == []
    assert [word for word in forbidden for body in documents if word in body] == []
    assert any(b"spheron" in body for body in documents)
    assert {value for column, value in values if column == "source"} <= {*released, None, "catalogue", "import"}
    assert not {"RunPod", "Vast.ai", "Crusoe", "DigitalOcean"} & {
        value for column, value in values if column != "source"
    }
    assert ("service_provider_name", "Lambda") in values
    assert query(file, "select count(*) from core.offer where instance_type = 'p5.4xlarge'") == [(0,)]


def test_a_day_never_changes(site: Path, day: Path) -> None:
    """A second release of one day is refused, and the folder stays as it was; `latest` leads to the newest."""
    before = (day / "CHECKSUMS").read_bytes()
    words = ["--data-dir", str(site.parent / "data"), "release", str(site)]
    again, wrong = (CliRunner().invoke(main, [*words, *more]) for more in ((), ("--url", "javascript:alert(1)")))

    assert (again.exit_code, wrong.exit_code, "not a web address" in wrong.output) == (1, 2, True)
    assert "this day is released already" in again.output
    assert (day / "CHECKSUMS").read_bytes() == before
    assert (site / "latest").resolve() == day.resolve()
    assert sorted(path.name for path in site.glob("*2026*")) == ["2026-10-15", "2026-10-20"]


def test_the_changelog_names_what_moved(day: Path) -> None:
    """Against the day before: one price moved, one offer is new, the contracted one is gone."""
    with duckdb.connect() as con:
        rows = con.execute(
            "select difference, service_provider_name, instance_type, unit_price_before, unit_price_after "
            f"from '{day}/changes.csv' order by all"
        ).fetchall()

    assert ("changed", "AWS", "p5.48xlarge", 55.04, 60.5) in rows
    assert [row[:2] for row in rows if row[0] == "new"] == [("new", "Lambda")]
    assert {row[2] for row in rows if row[0] == "gone"} == {"p5.4xlarge"}
    assert "against 2026-10-15" in (day / "CHANGELOG.md").read_text()
    assert (
        "| AWS | H100 | p5.48xlarge | on_demand | 55.0400000000 | 60.5000000000 | USD |"
        in (day / "CHANGELOG.md").read_text()
    )


@pytest.fixture
def keep_field_limit() -> Iterator[None]:
    """Put back what Frictionless takes from the whole process: the limit of a field of CSV."""
    limit = csv.field_size_limit()
    yield
    csv.field_size_limit(limit)


@pytest.mark.usefixtures("keep_field_limit")
def test_the_package_is_valid(day: Path) -> None:
    """By Frictionless's own package: descriptor, hashes, and each cell of the prices by its schema."""
    report = validate(str(day / "datapackage.json"))
    tasks = {task.name: task for task in report.tasks}

    assert report.valid, report.flatten(["name", "type", "note"])
    assert tasks["price_now_csv"].type == "table"
    assert (
        tasks["price_now_csv"].stats["rows"]
        == query(day / "prices.duckdb", "select count(*) from mart.price_now")[0][0]
    )


def test_parquet_is_what_the_package_says(day: Path) -> None:
    """Columns as in the schema, times in UTC, a month a file, sorted; evidence and licence in every row."""
    for resource in json.loads((day / "datapackage.json").read_text())["resources"]:
        if resource["format"] != "parquet":
            continue
        fields = {field["name"]: field["type"] for field in resource["schema"]["fields"]}
        paths = resource["path"] if isinstance(resource["path"], list) else [resource["path"]]
        for path in paths:
            table = pq.ParquetFile(day / path).read()
            assert [*table.column_names, *(["month"] if "month=" in path else [])] == [*fields], path
            assert None not in table["licence"].to_pylist() + table["evidence_kind"].to_pylist()
            assert all(table.schema.field(name).type.tz == "UTC" for name, kind in fields.items() if kind == "datetime")
            if path.startswith("price_history"):
                assert {f"{moment:%Y-%m}" for moment in table["valid_from"].to_pylist()} == {path.split("=")[1][:7]}
                names = table["accelerator_name"].to_pylist()
                assert [name for name in names if name] == sorted(name for name in names if name)


@pytest.mark.parametrize("name", ["prices.duckdb", "price_now.csv", "documents"])
def test_verify_names_the_altered_file(altered: Path, name: str) -> None:
    """One byte is enough, of any file; so are a file that is missing and one that is not of the release."""
    assert call("release", "--verify", altered).exit_code == 0
    path = next((altered / name).rglob("*.gz")) if name == "documents" else altered / name
    body = bytearray(path.read_bytes())
    body[len(body) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(body)
    (altered / "LICENCE.md").unlink()
    (altered / "more.csv").touch()

    done = call("release", "--verify", altered)

    assert done.exit_code == 1
    assert done.output.splitlines() == [
        f"altered: {path.relative_to(altered)}", "missing: LICENCE.md", "not of this release: more.csv",
    ]  # fmt: skip
    assert call("reproduce", "1", "--release", altered).exit_code == 1


POINTS = """
select distinct offer_id::VARCHAR, model_name from int.token_option as t
semi join int.model_point as p on
    t.model_name = p.model_name and t.benchmark = p.benchmark and t.scenario = p.scenario
    and t.precision = p.precision and t.decoding = p.decoding and t.interactivity is not distinct from p.interactivity
    and t.input_length is not distinct from p.input_length and t.output_length is not distinct from p.output_length
where t.usd_per_million_output_tokens is not null order by all
"""
TOKEN = ("reproduce", "--model", "gpt-oss-120b", "--chip", "B200", "--provider", "aws", "--option", "on_demand")


@pytest.mark.parametrize("n", [2, pytest.param(10, marks=pytest.mark.prove)])
def test_figures_from_the_release_alone(day: Path, n: int) -> None:
    """Any price of any time, and any cost of a token on one, is recomputed from its folder, and says whose bytes."""
    offers = query(
        day / "prices.duckdb",
        "select distinct offer_id from mart.price_history where valid_to is null "
        "and price_per_accelerator_hour is not null order by all",
    )
    chance = random.Random(29)  # noqa: S311 - chance, no secret
    words = [*chance.sample(offers, n), *chance.sample(query(day / "prices.duckdb", POINTS), n)]
    for offer, *model in words:
        address = f"https://prices.example.org/evidence.html#offer-{offer}"
        done = call("reproduce", address, "--release", day, *(("--model", *model) if model else ()))

        assert done.exit_code == 0, done.output
        assert "SHA-256" in done.output
        assert "not the provider's bytes: transcribed" in done.output
        assert ("not from bytes: transcribed, read from core.throughput" in done.output) == bool(model)
        assert done.output.splitlines()[-1].startswith("equal: recomputed")


@pytest.mark.parametrize("n", [1, pytest.param(2, marks=pytest.mark.prove)])
def test_costs_of_each_purchase_option(offline_run: Path, n: int) -> None:
    """Plans, Reserved, spot and blocks of the published file too; idle minutes of a block are paid."""
    options = ("on_demand", "savings_plan", "reserved", "spot", "capacity_block")
    chance, text = random.Random(29), POINTS.replace("where ", "where purchase_option = '{}' and ")  # noqa: S311
    for option in options:
        for offer, model in chance.sample(query(offline_run / "prices.duckdb", text.format(option)), n):
            done = CliRunner().invoke(main, ["--data-dir", str(offline_run), "reproduce", offer, "--model", model])

            assert done.exit_code == 0, done.output
            assert ("the last 30 minutes" in done.output) == (option == "capacity_block")
            assert done.output.splitlines()[-1].startswith("equal: recomputed")


def test_the_last_hour_of_an_ultraserver_is_of_no_use(offline_run: Path) -> None:
    """Of a block of a day on P6e-GB200, 23 hours run; of one on another machine 23.5."""
    text = POINTS.replace("where ", "where accelerator_name = 'GB200' and purchase_option = 'capacity_block' and ")
    (offer, model), *_ = query(offline_run / "prices.duckdb", text)
    done = CliRunner().invoke(main, ["--data-dir", str(offline_run), "reproduce", offer, "--model", model])

    assert (done.exit_code, "0.9583333333 (the last 60 minutes of 24 h" in done.output) == (0, True), done.output
    assert done.output.splitlines()[-1].startswith("equal: recomputed")


def test_the_cost_of_a_token_step_by_step(day: Path) -> None:
    """The published cost is price x 10^6 / (3600 x rate), with each run's source, maker, day and grade."""
    steps = json.loads(call(*TOKEN, "--release", day, "--json").output)
    ((cost, offer),) = query(
        day / "prices.duckdb",
        "select usd_per_million_output_tokens, offer_id from mart.token_cost where model_name = 'gpt-oss-120b' "
        "and scenario = '8k/1k' and precision = 'fp4' and decoding = 'one token a step' and interactivity = 100 "
        "and accelerator_name = 'B200' and service_provider_name = 'AWS' and purchase_option = 'on_demand' "
        "order by cost_rank limit 1",
    )
    runs = [text for name, text in steps.items() if name.startswith("run ")]
    rate = float(steps["rate of a paid chip"].split(" = ")[1].split(" ")[0])
    price = float(steps["price is equal"].split(" published ")[1])

    assert f"identity of offer {offer}" in steps["parse"]
    assert "equal" in steps
    assert steps["published cost"] == f"{cost} in token_cost.parquet"
    assert price * 1e6 / (3600 * rate) == pytest.approx(cost, rel=1e-8)
    assert len(runs) > 1
    assert all("; by SemiAnalysis InferenceX, 20" in run and "grade B, https://" in run for run in runs)


def alter(folder: Path, change: str) -> Result:
    """Change the database of a release, with its list of checksums, and ask for the cost of a token again."""
    (folder / "prices.duckdb").chmod(0o644)
    with duckdb.connect(str(folder / "prices.duckdb")) as con:
        con.execute(change)
    relist(folder)
    return call(*TOKEN, "--release", folder)


def test_an_altered_run_price_or_byte_of_a_cost(altered: Path) -> None:
    """A cost differs where a run or its price was altered; of an altered document, or a mean, there is none."""
    steps = json.loads(call(*TOKEN, "--release", altered, "--json").output)
    run = next(name for name in reversed(steps) if name.startswith("run ")).split()[1]
    rates = alter(altered, f"update core.throughput set output_rate = output_rate * 1.01 where throughput_id = {run}")
    again = alter(altered, f"update core.throughput set output_rate = output_rate / 1.01 where throughput_id = {run}")
    sha256 = steps["document"].split("SHA-256 ")[1][:64]
    document = altered / "documents" / sha256[:2] / f"{sha256}.gz"
    body = document.read_bytes()
    document.write_bytes(gzip.compress(gzip.decompress(body).replace(b"113.9328", b"113.9329")))
    relist(altered)
    bytes_ = call(*TOKEN, "--release", altered)
    document.write_bytes(body)
    mean = alter(altered, "update int.cost_option set price_kind = 'mean_30d' where purchase_option = 'on_demand'")

    assert [each.exit_code for each in (rates, bytes_, again, mean)] == [1, 1, 0, 1]
    assert rates.output.splitlines()[-1].startswith("DIFFERS: recomputed 0.8")
    assert "does not match its hash" in bytes_.output
    assert "a mean price" in mean.output


def test_the_rate_to_dollars_and_idle_hours_are_steps_of_a_cost() -> None:
    """7.2 CNY and 1.08 USD to the euro; a fifth of spot hours is lost; 3 chips of 8 run twice and leave 2 idle."""
    cost = {
        **dict.fromkeys(("interactivity", "interruption_band", "model_name", "scenario", "precision", "decoding")),
        "reach": "measured",
        "purchase_option": "spot", "lost_share": 0.2, "unit_accelerators": 8.0, "n_costs": 1,
        "accelerator_name": "H100", "fx_rate_date": date(2026, 10, 20),
    }  # fmt: skip
    figure = {
        "pricing_currency": "CNY", "unit_price": Decimal(144), "upfront_price": None, "n_chips": Decimal(8),
        "hours_per_pricing_unit": 1, "commitment_term_hours": None, "instance_type": None,
    }  # fmt: skip
    run = dict.fromkeys(
        ("throughput_id", "interactivity", "measured_by", "measured_on", "evidence_grade", "source_url")
    )
    run |= {"accelerator_count": Decimal(3), "output_rate": 3000.0}
    rates = {"CNY": (Decimal("7.2"), "a" * 64), "USD": (Decimal("1.08"), "b" * 64)}
    usd = 144 / 8 * 1.08 / 7.2 / 0.8 * 1e6 / (3600 * 1000 * 6 / 8)
    text = reproducing.cost_text(cost, figure, rates, [[run]], "mart.token_cost", usd)

    assert text.splitlines()[-1].startswith("equal")
    assert "7.2 CNY, 1.08 USD, to the euro" in text
    assert "/ 3 chips x 0.75 of the paid chips" in text


def test_a_figure_by_its_words(day: Path) -> None:
    """Chip, provider, option and day: the lowest of the offers then, with the exact arithmetic."""
    words = [word.lower() for word in P5_WORDS]
    new = json.loads(call("reproduce", *words, "--release", day, "--json").output)
    old = json.loads(call("reproduce", *words, "--release", day, "--day", "2026-08-01", "--json").output)
    between = call("reproduce", *words, "--release", day, "--day", "2026-10-19")

    assert new["price per chip-hour"] == "(60.5000000000 / 1 h) / 8 chips = 7.5625000000 USD per H100-hour"
    assert new["excerpt"].startswith(f"of {len((HEADER + SEEN).encode())} bytes")
    assert old["equal"] == "recomputed 6.88, published 6.88"
    assert old["published"].endswith("UTC, last seen 2026-09-10 19:55:14 UTC")
    assert between.exit_code == 1  # as mart.price_on, which knows none of that day
    assert "It was last seen on 2026-09-10 and had changed by 2026-10-20" in between.output


RANKED: tuple[tuple[str, str, str, Row, str], ...] = (
    ("H100", "NVIDIA H100 SXM", "Lambda", {}, "2"),  # 90 days
    ("H200", "NVIDIA H200 SXM", "Spheron", {}, "3"),  # a marketplace: 30 days
    # a block of a length: 30
    ("B200", "NVIDIA B200 SXM", "AWS", {"purchase_option": "capacity_block", "commitment_term_hours": 24}, "3"),
    ("A100-80GB", "NVIDIA A100 80GB", "AWS", {"purchase_option": "capacity_block"}, "2"),  # a published rate: 90
    ("MI300X", "AMD MI300X", "Lambda", {"restriction": "grandfathered"}, "3"),
    ("L40S", "NVIDIA L40S", "Lambda", {"statistic": "floor"}, "3"),
)
"""Chip, its label, who sells it, what is special about the old price of 2 USD, and the lowest 50 days later.

The new price of 3 USD is of the same purchase option and length, without a restriction, and no floor.
"""


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a file with two prices of each chip of RANKED: 2 USD on the first day, 3 USD on the 51st."""
    rows: tuple[list[Row], list[Row]] = ([], [])
    for _, label, provider, offer, _ in RANKED:
        common = {"service_provider_name": provider, "accelerator_label": label, "accelerator_count": "1"}
        rows[0].append(row(None, "2", region_id="a", **(common | offer)))
        rows[1].append(row(None, "3", region_id="b", **(common | {key: offer[key] for key in offer if "_" in key})))
    with putting(tmp_path_factory.mktemp("ranked"), asked=FEW[2:]) as put:
        looks = (seen(at, "offline_archive", *rows[at > 1], scope="ab"[at > 1]) for at in (1, 51))
        file = put(*looks, at=52)
        file.chmod(0o644)
        with duckdb.connect(str(file)) as con:
            (history,) = (mart.sql for mart in PUBLIC if mart.qualified == "mart.price_history")
            con.execute(f"create schema if not exists mart; create view mart.price_history as {history}")
        yield file


@pytest.mark.parametrize(("chip", "label", "provider", "offer", "lowest"), RANKED)
def test_a_figure_of_a_day_is_the_lowest_that_was_ranked_on_it(
    ranked: Path, chip: str, label: str, provider: str, offer: Row, lowest: str
) -> None:
    """The limit of age, and who may have the price, are those of int.accelerator_hour_price, on any day."""
    words = {"provider": provider, "chip": chip, "option": offer.get("purchase_option", "on_demand")}
    words |= dict.fromkeys(("offer_id", "region", "instance_type")) | {"until": naive(on_day(51.9))}
    with duckdb.connect(str(ranked), read_only=True) as con:
        figures = con.execute((resources.files("flows.release") / "figure.sql").read_text(), words).fetchall()

    assert len(figures) == 2
    assert Decimal(lowest) in figures[0]


def test_an_altered_figure_or_document_differs(altered: Path) -> None:
    """Where somebody altered figure or document, and the list of checksums with it, exit 1 names it."""
    asked = ("reproduce", *P5_WORDS, "--release", altered)
    steps = json.loads(call(*asked, "--json").output)
    path = altered / "price_history" / "month=2026-10" / "part0.parquet"
    with duckdb.connect() as con:
        con.execute(f"create table t as from read_parquet('{path}', hive_partitioning = false)")
        con.execute("update t set price_per_accelerator_hour = 7.5 where price_per_accelerator_hour = 7.5625")
        con.execute(f"copy t to '{path}' (format parquet)")
    relist(altered)
    figure = call(*asked)
    sha256 = steps["document"].split("SHA-256 ")[1][:64]
    document = altered / "documents" / sha256[:2] / f"{sha256}.gz"
    document.write_bytes(gzip.compress(gzip.decompress(document.read_bytes()).replace(b"60.5", b"61.5")))
    relist(altered)
    bytes_ = call(*asked)

    assert figure.exit_code == bytes_.exit_code == 1
    assert figure.output.splitlines()[-1] == "DIFFERS: recomputed 7.5625, published 7.5"
    assert "does not match its hash" in bytes_.output
    assert sha256 in bytes_.output


def relist(folder: Path) -> None:
    """Write the list of checksums anew, as who alters a release would."""
    lines = [line.split("  ")[1] for line in (folder / "CHECKSUMS").read_text().splitlines()]
    sums = [f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in lines]
    (folder / "CHECKSUMS").write_text("".join(sums))


def test_a_figure_of_the_published_file(offline_run: Path, tmp_path: Path) -> None:
    """Without a release from landing/; the SHA-256 of a document prints its bytes, as `data document` did."""
    ask: Callable[..., Result] = lambda *words: CliRunner().invoke(main, ["--data-dir", str(offline_run), *words])  # noqa: E731
    words = ("--chip", "H100", "--provider", "AWS", "--option", "on_demand", "--json")
    steps = json.loads(ask("reproduce", *words).output)
    sha256 = steps["document"].split("SHA-256 ")[1][:64]

    # A "from" price of August was 3.25, too; and a price is known of the day on which it was last seen.
    for words_of_day, price in (((), "3.89"), (("--day", "2026-08-01"), "3.25")):
        of_verda = json.loads(ask("reproduce", *words[:3], "Verda", *words[4:], *words_of_day).output)
        assert of_verda["published"].startswith(f"{price} in ")
    assert "equal" in steps
    assert hashlib.sha256(ask("reproduce", sha256).stdout_bytes).hexdigest() == sha256
    assert hashlib.sha256(ask("data", "document", sha256).stdout_bytes).hexdigest() == sha256


def test_the_provider_s_own_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A live answer that may be published again is in the release as received; one that may not is in nothing of it."""
    at = datetime(2026, 11, 22, 9, tzinfo=UTC)
    settings, fixtures = Settings(data_dir=tmp_path / "data"), Path(__file__).parents[1] / "neoclouds" / "fixtures"
    with open_run(settings, clock=lambda: at) as run:
        for name, file in (("lium", "lium.json"), ("verda", "verda.json")):
            (scope,) = source_named(name).scopes(run.collector.context(source_named(name)))
            body = (fixtures / file).read_bytes()
            document = Document(source=name, scope=scope, url=f"https://{name}.test", body=body, fetched_at=at)
            fetch = ScopeFetch(source=name, scope=scope, observed_at=at, complete=True, documents=(document,))
            run.land(FetchResult(source=name, scope=scope, fetches=(fetch,)))
        run.load()
        with published_with(least=()):
            run.publisher.publish()
    monkeypatch.setattr(making, "_write_site", lambda *_: [])
    with published_with(*FEW):
        made = making.release(settings, tmp_path / "site")
    day = tmp_path / "site" / "2026-11-22"
    ((offer, count),) = query(
        day / "prices.duckdb", "select min(offer_id), count(distinct offer_id) from mart.price_now"
    )
    done = call("reproduce", f"offer-{offer}", "--release", day)

    assert count and made["left_out"]["verda"] > 3
    assert (done.exit_code, "equal; the provider's own bytes" in done.output) == (0, True), done.output
    assert [path.read_bytes()[:2] for path in (day / "documents").rglob("*.gz")] == [b"\x1f\x8b"]
    assert query(day / "prices.duckdb", "select distinct service_provider_name from core.offer") == [("Lium",)]
    assert {row["evidence_kind"] for row in pq.read_table(day / "price_now.parquet").to_pylist()} == {"provider_bytes"}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 2, "give NUMBER, or --chip, --provider and --option"),
        (("price_index.html",), 1, "no index of prices"),
        (("offer-1", "--model", "gpt-oss-120b"), 1, "no such cost"),
        (("offer-1", "--model", "gpt-oss-120b", "--day", "2026-10-01"), 2, "--day is of prices alone"),
        (("offer-1", "--day", "9999-12-31"), 1, "9999-12-31T"),
        (("--chip", "H100", "--provider", "RunPod", "--option", "on_demand"), 2, "no such provider"),
        (("--chip", "H100", "--provider", "aws", "--option", "on-demand"), 2, "Did you mean on_demand?"),
        (("--chip", "H100", "--provider", "AWS", "--option", "on_demand", "--region", "x"), 2, "no such region"),
        (("--chip", "H100", "--provider", "AWS", "--option", "on_demand", "--day", "1999-01-01"), 1, "1999-01-01T"),
    ],
)
def test_what_is_no_figure(day: Path, words: tuple[str, ...], code: int, said: str) -> None:
    """Nothing near is taken for what was named."""
    done = call("reproduce", *words, "--release", day)

    assert (done.exit_code, said in done.output) == (code, True)


def test_a_reader_over_the_network_takes_what_it_needs(day: Path) -> None:
    """DuckDB reads one chip's month of the index over HTTP: few bytes of all."""
    with serving(day) as (address, sent), duckdb.connect() as con:
        load_httpfs(con)
        paths = sorted(path.relative_to(day).as_posix() for path in (day / "price_index").rglob("*.parquet"))
        urls = [f"{address}/{path}" for path in paths]
        rows = con.execute(
            "select count(*) from read_parquet(?, hive_partitioning = true) where month = '2026-08' "
            "and accelerator_name = 'H100'", [urls],
        ).fetchone()  # fmt: skip
        whole = sum((day / path).stat().st_size for path in paths)

    assert rows and rows[0] > 30
    assert 0 < sum(sent) < whole / 4, (sum(sent), whole)


def load_httpfs(con: duckdb.DuckDBPyConnection) -> None:
    """Load DuckDB's extension from its wheel."""
    import duckdb_extension_httpfs

    (where,) = duckdb_extension_httpfs.__path__
    (file,) = Path(where).glob("extensions/*/httpfs.duckdb_extension")
    con.execute(f"load '{file}'")


def test_the_site(site: Path) -> None:
    """Every page is in the sitemap; the data set is described for machines; the claims of others are not there."""
    listed = {line.partition("<loc>")[2].partition("<")[0] for line in (site / "sitemap.xml").read_text().splitlines()}
    page = (site / "release.html").read_text()
    described = json.loads(page.partition('<script type="application/ld+json">')[2].partition("</script>")[0])

    assert {f"https://prices.example.org/{path.relative_to(site)}" for path in site.rglob("*.html")} == listed - {""}
    assert described["@type"] == "Dataset"
    assert described["version"] == "2026-10-20"
    assert described["identifier"] == "https://doi.org/10.5281/zenodo.1"
    assert all((site / each["contentUrl"].partition(".org/")[2]).is_file() for each in described["distribution"])
    assert 'href="2026-10-15/README.md"' in page
    assert 'href="release.html"' in (site / "index.html").read_text()
    assert (site / "feed.atom").is_file()
    assert not (site / "claims.html").exists()


def test_licences_are_of_sources_that_may_be_published_again() -> None:
    """None of a source whose terms say no; where they do not say yes, AWS's lists and what has an open licence."""
    terms = {row["source"]: terms_of(row["source"] or "") for row in making.licences()[1:]}

    assert {row["licence"] for row in making.licences()[:1]} == {"CC-BY-4.0"}
    assert [name for name, found in terms.items() if found and found.redistributable == "no"] == []
    assert {name for name, found in terms.items() if found and found.redistributable != "yes"} == {
        "aws_price_list", "aws_savings_plans", "offline_archive", "price_archive",
    }  # fmt: skip
    allowed = {row["origin"] for row in making_origins() if row["terms"] == "allowed"}
    assert {row["scope"] for row in making.licences() if row["source"] == "price_archive"} == allowed


def making_origins() -> list[dict[str, str]]:
    """Return the files of the archive with their terms."""
    from extract import price_archive

    return list(price_archive.origins().values())
