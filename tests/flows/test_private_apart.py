"""What is private stays in the private file: no page, feed, published table or log holds a word of it.

The mail tells the fleet at list; of contracts it holds nothing either, unless it is asked to.
"""

import email
import email.policy
import functools
import logging
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner, Result
from few_marts import published_with
from weekly_file import read_once, weeks

from flows.cli.main import main

CSV = """\
observed_at_utc,provider,instance_type,region,pricing,usd_per_hour,source
2023-07-31T13:09:33Z,aws,p5.48xlarge,us-east-1,on_demand,98.32,aws/karpenter-provider-aws
2025-06-23T13:18:30Z,aws,p5.48xlarge,us-east-1,on_demand,55.04,aws/karpenter-provider-aws
"""
FLEET = "provider,offer,region,option,nodes,label\nAWS,p5.48xlarge,us-east-1,on_demand,3,lab-of-ours\n"
PRICES = """\
[[rate]]
rule = "rule-of-ours"
provider = "AWS"
offer = "p5.48xlarge"
option = "on_demand"
contract_id = "PPA-31415"
usd_per_hour = 31.41592
valid_from = 2025-01-01
"""
# the rate, per chip, three nodes for a month of 730 hours
SECRETS = ("lab-of-ours", "rule-of-ours", "PPA-31415", "31.41592", "31.42", "3.92699", "68800.8", "68,80")

Call = Callable[..., Result]


def caller(folder: Path, data: Path) -> Call:
    """Return a function that runs a command with private files named in its settings."""
    (folder / "fleet.csv").write_text(FLEET, encoding="utf-8")
    (folder / "prices.toml").write_text(PRICES, encoding="utf-8")
    toml = folder / "chipledger.toml"
    toml.write_text(
        f"data_dir = '{data}'\n[private]\nfleet = '{folder}/fleet.csv'\nprices = '{folder}/prices.toml'\n",
        encoding="utf-8",
    )
    return lambda *words: CliRunner().invoke(main, ["--settings", str(toml), *words])


def in_tables(file: Path) -> set[str]:
    """Return the secrets that stand in any table, view or comment of a file."""
    with duckdb.connect(str(file), read_only=True) as con:
        names = con.execute(
            "select schema_name || '.' || table_name from duckdb_columns() where not internal "
            "and database_name = current_database() group by all"
        ).fetchall()
        comments = con.execute("select string_agg(comment, ' ') from duckdb_columns()").fetchone()
        found = in_words(str(comments))
        for (name,) in names:
            row = f"select t::VARCHAR as row from {name} as t"
            rows = con.execute(f"from ({row}) where regexp_matches(row, ?)", ["|".join(map(pattern, SECRETS))])
            found |= in_words(str(rows.fetchall()))
    return found


def in_words(text: str) -> set[str]:
    return {secret for secret in SECRETS if re.search(pattern(secret), text)}


def pattern(secret: str) -> str:
    """Return what a secret looks like; the short amount stands in longer numbers of others, such as 22731.4296."""
    return rf"(^|[^0-9]){re.escape(secret)}([^0-9]|$)" if secret == "31.42" else re.escape(secret)


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield all files of a folder as text, a mail by its decoded parts."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        if file.suffix == ".eml":
            message = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
            parts = (part.get_payload(decode=True) for part in message.walk() if not part.is_multipart())
            yield file.name, "\n".join((str(message), *(bytes(part).decode("latin-1") for part in parts)))
        else:
            yield file.name, file.read_bytes().decode("latin-1")


@published_with("accelerator_hour_price", "price_change", least=())
def test_publishing_with_private_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The published file has nothing of them; a fault of them stops nothing, ends in exit code 1, and is told bare."""
    caplog.set_level(logging.DEBUG)
    data = tmp_path / "data"
    call = caller(tmp_path, data)
    (tmp_path / "history.csv").write_text(CSV, encoding="utf-8")

    done = call("import", str(tmp_path / "history.csv"))

    assert done.exit_code == 0, done.output
    assert f"private: {data}/private.duckdb" in done.output
    # what is looked for is there to be found
    assert in_tables(data / "private.duckdb") >= {"lab-of-ours", "rule-of-ours", "PPA-31415", "31.41592", "68800.8"}
    assert in_tables(data / "prices.duckdb") == set()
    assert in_words((data / "prices.duckdb").read_bytes().decode("latin-1")) == set()
    assert in_words((data / "landing" / "journal.jsonl").read_text()) == set()
    assert in_words(caplog.text + done.output) == set()

    built = (data / "prices.duckdb").stat().st_mtime_ns
    before = (data / "private.duckdb").read_bytes()
    (tmp_path / "prices.toml").write_text(PRICES.replace("31.41592", "'31.41592 or so'"), encoding="utf-8")
    failed = call("build")

    assert failed.exit_code == 1
    assert (data / "prices.duckdb").stat().st_mtime_ns > built
    assert (data / "private.duckdb").read_bytes() == before
    assert "private side not built: prices.toml: rate 1, line 1: not a number (field usd_per_hour)" in failed.output
    assert in_words(caplog.text + failed.output) == set()
    # asked for by its owner, the fault has its value
    asked = call("fleet")
    assert (asked.exit_code, "31.41592 or so" in asked.output) == (1, True)


@pytest.fixture(params=["weeks", pytest.param("archive", marks=pytest.mark.prove)])
def market(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Return a published file with all marts, and what the fleet costs in it at list: 3 x 730 x 60, or x 55.04."""
    if request.param == "weeks":
        with read_once(tmp_path_factory):
            yield weeks(tmp_path_factory), "131,400"
    else:
        yield request.getfixturevalue("offline_run") / "prices.duckdb", "120,538"


def test_pages_feeds_and_mail(
    market: tuple[Path, str], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a private file beside the published one, what is written of a week and a day holds nothing of contracts.

    The mail has the fleet also where both files are of the archive of the package.
    """
    from datetime import UTC, datetime

    from flows.config import settings
    from flows.private import private_file
    from reports.weekly import facts

    monkeypatch.setattr(facts, "read", functools.cache(facts.read))  # all commands are of one week
    caplog.set_level(logging.DEBUG)
    data = tmp_path / "data"
    data.mkdir()
    file, at_list = market
    shutil.copy(file, data)
    call = caller(tmp_path, data)
    private_file.build(settings.read(tmp_path / "chipledger.toml"), datetime(2026, 11, 21, tzinfo=UTC))
    assert "PPA-31415" in in_tables(data / "private.duckdb")

    outputs = [call(*words) for words in (["report"], ["report", "weekly"], ["mail", "--dry-run"])]

    assert [each.exit_code for each in outputs] == [0, 0, 0], [each.output for each in outputs]
    written = dict(texts(data / "reports")) | dict(texts(data / "mail"))
    assert {"index.html", "feed.atom", "latest.json"} <= written.keys()
    assert any(name.endswith(".eml") for name in written)
    # the mail goes to people whom the user named: it may tell the fleet at list, and its labels
    (letter,) = (text for name, text in written.items() if name.endswith(".eml"))
    assert at_list in letter
    assert in_words(letter) <= {"lab-of-ours"}
    assert {name: found for name, text in written.items() if text != letter and (found := in_words(text))} == {}
    assert not any(at_list in text for text in written.values() if text != letter)
    assert in_words(caplog.text + "".join(each.output for each in outputs)) == set()

    shutil.rmtree(data / "mail")
    data.rename(tmp_path / "archive")
    data.mkdir()
    (tmp_path / "archive").rename(data / "offline")
    assert call("mail", "--dry-run").exit_code == 0
    assert [at_list in text for name, text in texts(data / "offline" / "mail") if name.endswith(".eml")] == [True]
