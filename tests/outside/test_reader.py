"""The reader, from its own wheel: one answer from a file, from a folder of Parquet and over HTTP, and clear errors."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pytest

from flows.export import exporting

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "client"
FORMS = ("file", "folder", "address of a file", "address of a folder")
THREE_LINES = """
import chipledger
prices = chipledger.open({place!r})
frame = prices.cheapest("H100").df()
"""


class Ranges(BaseHTTPRequestHandler):
    """A server of one folder that answers ranges, as a bucket does, and counts bytes."""

    folder: Path
    sent: dict[str, int]

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, *, with_body: bool) -> None:
        file = self.folder / self.path.lstrip("/")
        if not file.is_file():
            self.send_error(404)
            return
        body, total = file.read_bytes(), file.stat().st_size
        wanted = self.headers.get("Range")
        if wanted:
            first, _, last = wanted.removeprefix("bytes=").partition("-")
            end = min(int(last or total - 1), total - 1)
            body = body[int(first) : end + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{end}/{total}")
        else:
            self.send_response(200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.sent[self.path] = self.sent.get(self.path, 0) + len(body)
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the reader's wheel, built by the locked hatchling without network."""
    folder = tmp_path_factory.mktemp("reader")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=CLIENT, check=True, capture_output=True)
    (built,) = folder.glob("chipledger_reader-*-py3-none-any.whl")
    return built


@pytest.fixture(scope="module")
def chipledger(wheel: Path) -> Iterator[ModuleType]:
    """Return the module as the wheel installs it."""
    site = wheel.with_name("site")
    zipfile.ZipFile(wheel).extractall(site)
    sys.path.insert(0, str(site))
    import chipledger

    assert Path(str(chipledger.__file__)).is_relative_to(site)
    yield chipledger
    sys.path.remove(str(site))
    for name in [name for name in sys.modules if name.partition(".")[0] == "chipledger"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def release(release_site: Path) -> Path:
    """Return the newest day of a release."""
    return release_site / "latest"


@pytest.fixture(scope="module")
def site(release: Path) -> Iterator[tuple[str, dict[str, int]]]:
    """Return the address of the folder on this machine, and the bytes sent of each file."""
    handler = type("Handler", (Ranges,), {"folder": release, "sent": {}})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", handler.sent
        server.shutdown()


@pytest.fixture
def places(release: Path, site: tuple[str, dict[str, int]], monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return each form of the same data."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return dict(
        zip(FORMS, (str(release / "prices.duckdb"), str(release), f"{site[0]}/prices.duckdb", site[0]), strict=True)
    )


def answers(prices: Any, columns: dict[str, list[str]]) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of every question, sorted, as texts of the columns that the file has, which are kept."""
    asked = {
        "now": prices.now("H100"),
        "history": prices.history("h100", provider="AWS", purchase_option="on_demand"),
        "as_of": prices.as_of("2026-10-01", "H100"),
        "cheapest": prices.cheapest("H100"),
        "token_cost": prices.token_cost("deepseek-r1", purchase_option="on_demand"),
    }
    for name, answer in asked.items():
        columns.setdefault(name, answer.arrow().column_names)
    return {
        name: sorted(tuple(str(row[column]) for column in columns[name]) for row in answer.arrow().to_pylist())
        for name, answer in asked.items()
    }


def test_every_form_gives_the_same_answers(
    chipledger: ModuleType, places: dict[str, str], release: Path, tmp_path: Path
) -> None:
    """Rows, types in words and times are equal; what is cheapest and what was known then are the file's own words."""
    found, columns, units = {}, {}, {}
    for form, place in places.items():
        with chipledger.open(place) as prices:
            found[form] = answers(prices, columns)
            assert f"{prices.built_at:%Y-%m-%d}" == "2026-10-20"
            assert {"price_now", "price_history", "token_cost"} <= set(prices.tables)
            units[form] = prices.units("price_now")
    exporting.marts(release / "prices.duckdb", tmp_path, form="parquet", names=["price_now"])
    with chipledger.open(tmp_path) as prices:
        units["export"] = prices.units("price_now")
    assert units["file"]["age_days"].endswith(" [days]")
    assert all(each.items() >= units["file"].items() for each in units.values())
    for form in FORMS[1:]:
        assert found[form] == found["file"]
    assert min(len(rows) for rows in found["file"].values()) > 1
    with duckdb.connect(str(release / "prices.duckdb"), read_only=True) as con:
        for name, sql in {
            "now": "from mart.price_now where accelerator_name = 'H100'",
            "as_of": "from mart.price_on('2026-10-01') where accelerator_name = 'H100'",
            "cheapest": "from mart.provider_price where accelerator_name = 'H100' and price_rank is not null",
        }.items():
            assert len(found["file"][name]) == len(con.execute(sql).fetchall())
        ((least,),) = con.execute(
            "select min(cheapest_price_usd) from mart.cheapest('H100') where is_ranked and purchase_option like 'on_d%'"
        ).fetchall()
    with chipledger.open(places["folder"]) as prices:
        ranked = prices.cheapest("H100", purchase_option="on_demand").pl()
    assert ranked["cheapest_price_usd"].min() == least
    assert ranked["price_rank"].null_count() == 0


def test_times_are_utc_and_amounts_exact(chipledger: ModuleType, places: dict[str, str]) -> None:
    """In both forms, as Arrow says it; polars takes an answer as it is."""
    for form in ("file", "folder"):
        with chipledger.open(places[form]) as prices:
            history = prices.history("H100")
            schema = history.arrow().schema
            assert str(schema.field("valid_from").type) == "timestamp[us, tz=UTC]"
            assert str(prices.now().arrow().schema.field("accelerator_count").type) == "decimal128(10, 4)"
            assert (
                len(history) == history.pl().height == duckdb.connect().from_arrow(history).count("*").fetchall()[0][0]
            )


def test_rows_are_in_one_order(chipledger: ModuleType, offline_run: Path) -> None:
    """That of the columns, and of costs by point, way to buy and rank: DuckDB's own differs from day to day."""
    with chipledger.open(offline_run / "prices.duckdb") as prices:
        rows = prices.table("commitment").arrow()
        costs = prices.token_cost("deepseek-r1", chip="B200", purchase_option="on_demand").arrow().to_pylist()
        wanted = prices.sql("from mart.commitment order by all").arrow()
    assert rows == wanted
    points = [tuple(str(row[name]) for name in ("scenario", "precision", "decoding")) for row in costs]
    assert len({*points}) == sum(one != other for one, other in zip(points, ["", *points], strict=False))


def test_an_address_is_read_in_parts(
    chipledger: ModuleType, places: dict[str, str], site: tuple[str, dict[str, int]], release: Path
) -> None:
    """One question reads its own table, and never the file."""
    sent = site[1]
    sent.clear()
    with chipledger.open(places["address of a folder"]) as prices:
        assert len(prices.cheapest("H100")) > 1
    assert set(sent) == {"/datapackage.json", "/provider_price.parquet"}
    total = sum(path.stat().st_size for path in release.rglob("*") if path.is_file())
    assert sum(sent.values()) < total / 20


def test_errors_say_what_there_is(chipledger: ModuleType, places: dict[str, str], tmp_path: Path) -> None:
    """What is wrong, the value, and what there is or what to do."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.duckdb").write_text("no database")
    for place, words in {
        str(tmp_path / "none"): "is not there; name a prices.duckdb",
        str(tmp_path / "empty"): "name its prices.duckdb, or a folder with price_now.parquet",
        str(tmp_path / "text.duckdb"): "cannot be read",
        places["address of a folder"] + "/nothing": "datapackage.json cannot be read: HTTP Error 404",
    }.items():
        with pytest.raises(chipledger.ReaderError, match=words):
            chipledger.open(place)
    harmed = tmp_path / "harmed"
    harmed.mkdir()
    (harmed / "price_now.parquet").write_text("no Parquet")
    with (
        chipledger.open(harmed) as prices,
        pytest.raises(chipledger.ReaderError, match=r"price_now of .* cannot be read"),
    ):
        prices.now()
    only = tmp_path / "only"
    only.mkdir()
    shutil.copy(Path(places["folder"]) / "price_now.parquet", only)
    with chipledger.open(only) as prices:
        assert len(prices.now("H100")) > 3
        assert (prices.built_at, prices.tables) == (None, ("price_now",))
        for ask, words in (
            (lambda: prices.now("H10"), "no accelerator_name 'H10' in price_now; there are: H100"),
            (lambda: prices.now("A100"), "there are: .*A100-40GB"),
            (lambda: prices.now("'; drop table x"), "no accelerator_name"),
            (lambda: prices.history("H100"), "no table 'price_history'.*there are: price_now"),
            (lambda: prices.as_of("2026-10-01"), "as_of needs prices.duckdb"),
            (lambda: prices.sql("from mart.nothing"), "Table with name nothing does not exist"),
            (lambda: prices.as_of("soon"), "'soon' is no day; write it as 2026-11-23"),
        ):
            with pytest.raises(chipledger.ReaderError, match=words):
                ask()


def test_the_wheel_is_small_and_typed(wheel: Path) -> None:
    """One package, typed, at most five dependencies; the pipeline's wheel has no package of its name."""
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"chipledger"}
    assert "chipledger/py.typed" in names
    (metadata,) = (name for name in names if name.endswith("METADATA"))
    lines = zipfile.ZipFile(wheel).read(metadata).decode().splitlines()
    required = [line for line in lines if line.startswith("Requires-Dist:") and "extra ==" not in line]
    assert [re.split(r"[<>=]", line.split()[1])[0] for line in required] == ["duckdb", "pyarrow"]
    assert not (ROOT / "chipledger").exists()


def test_a_strangers_package_is_refused(tmp_path: Path) -> None:
    """A folder that Python looks in first has a package of our names: an error that says so, before its code runs."""
    (tmp_path / "transform").mkdir()
    (tmp_path / "transform/__init__.py").write_text("raise SystemExit('a stranger ran')")
    program = f"import sys; sys.path[:0] = [{str(tmp_path)!r}, {str(ROOT)!r}]; import flows.cli.main"
    run = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert f"Python finds {tmp_path / 'transform'}" in run.stderr.splitlines()[-1]
    shutil.rmtree(tmp_path / "transform")
    assert subprocess.run([sys.executable, "-I", "-c", program], check=False).returncode == 0


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_three_lines_in_a_bare_environment(wheel: Path, release: Path, tmp_path: Path) -> None:
    """Install the wheel with pandas where nothing is, and three lines give a frame."""
    uv = shutil.which("uv") or str(ROOT / ".tools/bin/uv")
    python = tmp_path / "v/bin/python"
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, tmp_path / "v"], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", python, f"{wheel}[pandas]"], check=True)
    program = textwrap.dedent(THREE_LINES.format(place=str(release))) + textwrap.dedent("""
        import json, resource
        from importlib.metadata import distributions
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(json.dumps({
            "rows": len(frame), "columns": list(frame.columns), "processor_s": used.ru_utime + used.ru_stime,
            "installed": sorted(each.name for each in distributions()),
        }))
    """)
    own = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    done = subprocess.run([python, "-I", "-c", program], env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    told = json.loads(done.stdout)
    assert told["rows"] > 1
    assert "cheapest_price_usd" in told["columns"]
    assert {"chipledger-reader", "duckdb", "pyarrow"} <= set(told["installed"])
