"""One typed model: what comes before what, what is wrong by name, where each value comes from, what `init` writes."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from extract import SOURCES
from flows.cli.main import main
from flows.config import settings, show
from warehouse.errors import SettingsError

ROOT = Path(__file__).parents[2]
PACKAGES = ("flows", "extract", "transform", "reports", "warehouse")


def read(tmp_path: Path, text: str = "", environ: Mapping[str, str] | None = None, **more: Any) -> settings.Settings:
    """Return the settings of a file of this text."""
    return settings.read(written(tmp_path, text), environ=environ or {}, **more)


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "chipledger.toml"
    file.write_text(text, encoding="utf-8")
    return file


def shown(tmp_path: Path, text: str = "", environ: Mapping[str, str] | None = None, **more: Any) -> dict[str, Any]:
    """Return value and origin of each setting by its name."""
    layers = settings.layers(written(tmp_path, text), environ=environ or {}, **more)
    return {row["setting"]: (row["value"], row["origin"]) for row in show.rows(layers)}


# --- what comes before what


def test_the_command_line_comes_before_the_environment_before_the_file(tmp_path: Path) -> None:
    """Name by name, in tables within tables too."""
    text = 'data_dir = "of-file"\nworkers = 2\nwait_seconds = 3\n[mail]\nhost = "a"\nuser = "b"\n'
    text += "[sources.vast]\nenabled = true\n"
    environ = {
        "CHIPLEDGER_DATA_DIR": "of-environment",
        "CHIPLEDGER_WORKERS": "4",
        "CHIPLEDGER_MAIL__USER": "c",
        "CHIPLEDGER_SOURCES__VAST__GPU_NAMES": '["H100 SXM"]',
    }
    chosen = read(tmp_path, text, environ, data_dir=Path("of-command-line"))
    assert (chosen.data_dir, chosen.workers, chosen.wait_seconds) == (Path("of-command-line"), 4, 3)
    assert (chosen.mail.host, chosen.mail.user) == ("a", "c")
    assert chosen.sources == {"vast": {"enabled": True, "gpu_names": ["H100 SXM"]}}


def test_variables_are_of_the_kind_that_the_setting_is(tmp_path: Path) -> None:
    """Text becomes numbers, switches and lists; an empty variable is none."""
    environ = {
        "CHIPLEDGER_ALERTS__STALE_DAYS": "2.5", "CHIPLEDGER_SITE__CLAIMS": "false", "CHIPLEDGER_COSTS__TAX": "19%",
        "CHIPLEDGER_DECISION__PROVIDERS": '["AWS"]', "CHIPLEDGER_SOURCES__AWS_SPOT__REGIONS": "all",
        "CHIPLEDGER_HEARTBEAT_URL": "",
    }  # fmt: skip
    chosen = read(tmp_path, "", environ)
    assert (chosen.alerts.stale_days, chosen.site.claims) == (2.5, False)
    assert chosen.costs.tax is not None
    assert chosen.costs.tax.share == pytest.approx(0.19)
    assert chosen.decision.providers == ("AWS",)
    assert chosen.model_fields_set == {"alerts", "site", "costs", "decision", "sources"}
    assert (chosen.sources, chosen.heartbeat_url) == ({"aws_spot": {"regions": "all"}}, "")


def test_nothing_given_is_the_defaults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a file without a line."""
    monkeypatch.chdir(tmp_path)
    assert settings.read(environ={}) == read(tmp_path) == settings.Settings()


# --- what is wrong


@pytest.mark.parametrize(
    ("text", "field", "hint"),
    [
        ("workres = 4", "workres", "Did you mean workers? Known: alert"),
        ("workers = 65", "workers", "Allowed: 1 or more and 64 or less"),
        ("workers = true", "workers", "Allowed: a number"),
        ("workers = 1.5", "workers", "Allowed: a whole number"),
        ('wait_seconds = "nan"', "wait_seconds", "Allowed: "),
        ('heartbeat_url = "ping.example.com"', "heartbeat_url", "Allowed: a web address, https://..."),
        ("mail = 3", "mail", "Write [mail]"),
        ("[mail]\nreporting_currency = 'EUR'", "mail.reporting_currency", "above the first [table]"),
        ("[sources.vats]", "sources.vats", "Did you mean vast? Known: aws_capacity_block_rates, "),
        ("[sources.vast]\ngpu_name = 1", "sources.vast.gpu_name", "mean gpu_names? Known: enabled, gpu_names, url"),
        ("[sources.vast]\nenabled = 1", "sources.vast.enabled", "Allowed: true or false"),
        ('[sources.aws_price_list]\naccess = "back"', "sources.aws_price_list.access", "'auto', 'api' or 'bulk'"),
        ('[mail]\nto = "a@example.com"', "mail.to", 'Allowed: a list, such as ["a", "b"]'),
        ('[mail]\nto = ["a@ea@example.com"]', "mail.to.0", "Allowed: a plain address"),
        ('[sources.aws_spot]\nregions = "us"', "sources.aws_spot.regions", 'Allowed: "all" or a list of names'),
        ("[sources.aws_spot]\nsince = 3", "sources.aws_spot.since", "Allowed: a date, such as 2026-10-01"),
        ("[sources.aws_capacity_blocks]\ncounts = [0]", "sources.aws_capacity_blocks.counts", "whole numbers above 0"),
        ('[sources.vultr]\nurl = "ftp://x"', "sources.vultr.url", "Allowed: an address that begins with http://"),
        ("[sources]\nvast = 3", "sources.vast", "Write [sources.vast]"),
        ("sources = 3", "sources", "Write [sources]"),
        ("[decision]\nhorizon_month = 3", "decision.horizon_month", "Did you mean horizon_months?"),
        ("[decision.use.web]\nlow = 0.1\nlikly = 0.2\nhigh = 0.3", "decision.use.web.likely", ""),
        ("[private]\nin_mail = 'yes'", "private.in_mail", "Allowed: true or false"),
        ("[retention]\ndaily_pages_days = -1", "retention.daily_pages_days", "0 or more and 36500 or less"),
        ("[costs]\ntax = 'much'", "costs.tax", "Allowed: USD a month, such as 5000, or a share"),
        ("[mail]\nport = 70000", "mail.port", "Allowed: 1 or more and 65535 or less"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_named(tmp_path: Path, text: str, field: str, hint: str) -> None:
    """With the file, the place, the value, and what is allowed; an unknown name with the nearest that is known."""
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text)
    assert (caught.value.field, caught.value.source) == (field, str(tmp_path / "chipledger.toml"))
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("name", "value", "field", "hint"),
    [
        ("CHIPLEDGER_WORKRES", "4", "CHIPLEDGER_WORKRES", "Did you mean CHIPLEDGER_WORKERS?"),
        ("CHIPLEDGER_WORKERS", "many", "workers", "Allowed: a whole number"),
        ("CHIPLEDGER_MAIL__TO", '["a"]', "mail.to.0", "Allowed: a plain address"),
        ("CHIPLEDGER_DECISION__TOKENS_PER_DAY", "2B", "decision.tokens_per_day", "Allowed: a number"),
        ("CHIPLEDGER_MAIL__HOTS", "x", "mail.hots", "Did you mean host?"),
        ("CHIPLEDGER_MAIL__TO", "a@example.com", "CHIPLEDGER_MAIL__TO", 'Write a list as ["a", "b"]'),
        ("CHIPLEDGER_SOURCES__VAST__ENABLED", "yes", "sources.vast.enabled", "Allowed: true or false"),
    ],
)
def test_what_is_wrong_in_a_variable_is_named(tmp_path: Path, name: str, value: str, field: str, hint: str) -> None:
    """Whatever the file has."""
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, "workers = 3", {name: value})
    assert (caught.value.field, name in str(caught.value)) == (field, True)
    assert hint in caught.value.hint


def test_a_file_may_begin_with_a_mark(tmp_path: Path) -> None:
    """Windows' editors write one; a price file may have it, too."""
    (tmp_path / "chipledger.toml").write_bytes(b"\xef\xbb\xbfworkers = 3\r\n")

    assert settings.read(tmp_path / "chipledger.toml", environ={}).workers == 3


@pytest.mark.parametrize("named", [b"workers = ", b"\xff"])
def test_a_file_that_is_no_toml_is_named(tmp_path: Path, named: bytes) -> None:
    (tmp_path / "chipledger.toml").write_bytes(named)
    with pytest.raises(SettingsError, match="is not TOML"):
        settings.read(tmp_path / "chipledger.toml", environ={})
    with pytest.raises(SettingsError, match="does not exist"):
        settings.read(None, environ={"CHIPLEDGER_SETTINGS": str(tmp_path / "other.toml")})


@pytest.mark.parametrize(
    ("text", "environ"),
    [
        ('[mail]\npassword = "s3cr3t"', {}),
        ('[mail]\npasswrd = "s3cr3t"', {}),
        ('mail_password = "s3cr3t"', {}),
        ('alert_urls = "json://s3cr3t"', {}),
        ('[alerts]\nurls = ["json://s3cr3t"]', {}),
        ("[sources.shadeform]\napi_key = 's3cr3t'", {}),
        ("", {"CHIPLEDGER_MAIL__PASSWORD": "s3cr3t"}),
        ("", {"CHIPLEDGER_ALERT_URL_TOKEN": "s3cr3t"}),
    ],
)
def test_secrets_stand_in_their_variables_only(tmp_path: Path, text: str, environ: dict[str, str]) -> None:
    """Anywhere else they are refused, and not repeated, nor in the causes that a log would print."""
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text, environ)
    assert "s3cr3t" not in f"{caught.value} {caught.value.as_dict()} {caught.value.__cause__}"


def test_every_variable_of_the_program_is_a_setting() -> None:
    """So that a misspelt one is found: whoever reads a new one says so in the model."""
    read_in = {
        name
        for package in PACKAGES
        for file in (ROOT / package).rglob("*.py")
        for name in re.findall(r'"CHIPLEDGER_([A-Z_]+)', file.read_text(encoding="utf-8"))
    }
    assert len(read_in) >= 3
    assert {name.lower() for name in read_in} <= {*settings.Settings.model_fields}


def test_every_setting_of_a_source_has_a_kind() -> None:
    """And every kind a source: none is left from one that is gone."""
    assert {name for source in SOURCES for name in source.settings} == set(settings.OPTIONS)


# --- names of the release before


@pytest.mark.parametrize(("old", "new"), [(old, new) for old, new in settings.RENAMED.items() if new])
def test_old_names_work_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture, old: str, new: str) -> None:
    """In the file and as a variable; the origin is that of the old name, and the warning has both names."""
    value = {"mail.min_change_percent": 2, "mail.transport": "ses", "run.task_runner": "dask"}.get(new, "bulk")
    table, _, name = old.rpartition(".")
    of_file = shown(tmp_path, f"[{table}]\n{name} = {json.dumps(value)}\n")
    variable = f"CHIPLEDGER_{old.replace('.', '__').upper()}"
    of_variable = shown(tmp_path, "", {variable: str(value)})
    assert of_file[new] == (value, f"file: {tmp_path / 'chipledger.toml'}")
    assert of_variable[new] == (value, f"environment: {variable}")
    assert old not in of_file
    warned = [record.getMessage() for record in caplog.records]
    assert [(old in line, new in line) for line in warned] == [(True, True)] * 2
    assert [line.partition(": ")[0] for line in warned] == [str(tmp_path / "chipledger.toml"), variable]


def test_a_setting_without_effect_is_ignored_with_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It names the setting and the file, so that it can be removed."""
    gone = [old.split(".") for old, new in settings.RENAMED.items() if new is None]
    assert gone
    for table, name in gone:
        assert read(tmp_path, f"[{table}]\n{name} = 90\n") == settings.Settings()
        assert f"setting {table}.{name} has no effect any more: remove it" in caplog.text


def test_the_new_name_counts_where_both_are_set(tmp_path: Path) -> None:
    """Whatever their order; the command line's order of layers stays."""
    text = '[mail]\ntransport = "smtp"\nthrough = "ses"\n'
    assert read(tmp_path, text).mail.transport == "smtp"
    assert read(tmp_path, text, {"CHIPLEDGER_MAIL__THROUGH": "ses"}).mail.transport == "ses"


def test_the_workers_of_old_are_threads(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As the old setting, and under its new name; both say so."""
    for name in ("fan_out", "task_runner"):
        assert read(tmp_path, f'[run]\n{name} = "workers"\n').run.task_runner == "threads"
    assert sum('"workers" is gone; "threads"' in record.getMessage() for record in caplog.records) == 2


# --- what does not need the model


def test_a_command_finds_the_published_file_without_the_model(tmp_path: Path) -> None:
    """The same file that the model finds; what is set anywhere is read by the model."""
    (tmp_path / "prices.duckdb").touch()
    code = (
        "import sys; from pathlib import Path; from flows.config import Reader; "
        "print(Reader(data_dir=Path(sys.argv[1])).published(), {'pydantic', 'duckdb'} & sys.modules.keys())"
    )
    run = partial(subprocess.run, [sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=False)
    assert run(env={}).stdout == f"{tmp_path / 'prices.duckdb'} set()\n"
    assert settings.read(data_dir=tmp_path, environ={}).published() == tmp_path / "prices.duckdb"
    assert "Did you mean CHIPLEDGER_WORKERS" in run(env={"CHIPLEDGER_WORKRES": "4"}).stderr


# --- where each comes from


def test_each_value_says_where_it_comes_from(tmp_path: Path) -> None:
    environ = {"CHIPLEDGER_WORKERS": "4", "CHIPLEDGER_MAIL__TO": '["a@example.com"]'}
    environ |= {f"CHIPLEDGER_DECISION__USE__WEB__{name}": "0.5" for name in ("LOW", "LIKELY", "HIGH")}
    rows = shown(tmp_path, "wait_seconds = 9\n[sources.vast]\nenabled = true\n", environ, data_dir=Path("here"))
    file = f"file: {tmp_path / 'chipledger.toml'}"
    assert rows["data_dir"] == ("here", "command line")
    assert rows["workers"] == (4, "environment: CHIPLEDGER_WORKERS")
    assert rows["mail.to"] == (["a@example.com"], "environment: CHIPLEDGER_MAIL__TO")
    assert rows["decision.use"][0] == {"web": {"low": 0.5, "likely": 0.5, "high": 0.5}}
    assert rows["decision.use"][1].startswith("environment: CHIPLEDGER_DECISION__USE__WEB__HIGH, ")
    assert rows["wait_seconds"] == (9, file)
    assert rows["sources.vast.enabled"] == (True, file)
    assert rows["sources.runpod.enabled"] == (False, "default")
    assert rows["alerts.stale_days"] == (3, "default")


def test_secrets_are_not_shown(tmp_path: Path) -> None:
    """Nor addresses that whoever has them can use, nor keys within an address."""
    text = 'heartbeat_url = "https://ping.example.com/s3cr3t"\n'
    text += '[sources.vultr]\nurl = "https://proxy.example.com/v2?k=s3cr3t"\n'
    text += """[warehouse]\nurl = "ducklake:postgres:sslpassword='s3cr3t s3cr3t' password = s3cr3t dbname=x"\n"""
    environ = {"CHIPLEDGER_MAIL_PASSWORD": "s3cr3t", "CHIPLEDGER_ALERT_URLS": "json://s3cr3t"}
    rows = shown(tmp_path, text, environ)
    assert "s3cr3t" not in str(rows)
    assert rows["mail_password"] == ("**********", "environment: CHIPLEDGER_MAIL_PASSWORD")
    assert rows["sources.vultr.url"][0] == "https://proxy.example.com/v2?(hidden)"
    assert rows["heartbeat_url"][0] == "(hidden)"
    assert rows["warehouse.url"][0] == "ducklake:postgres:sslpassword=(hidden) password=(hidden) dbname=x"


def test_the_command_shows_all(tmp_path: Path) -> None:
    """As a table, and as JSON; a wrong file ends it with 2."""
    file = written(tmp_path, "workers = 3\n")
    asked = ["--settings", str(file), "settings", "--wide"]
    rows = json.loads(CliRunner().invoke(main, [*asked, "--json"], env={}).stdout)
    assert {"setting": "workers", "value": 3, "origin": f"file: {file}"} in rows
    assert re.search(rf"^workers +3 +file: {file}$", CliRunner().invoke(main, asked).stdout, flags=re.MULTILINE)
    file.write_text("workers = 0\n")
    assert CliRunner().invoke(main, asked).exit_code == 2


# --- init


def test_init_writes_a_file_that_is_the_defaults(tmp_path: Path) -> None:
    """It has every setting that a file may have, each with what it is for, and changes nothing."""
    text = show.text()
    assert read(tmp_path, text) == settings.Settings(sources={source.name: {} for source in SOURCES})
    names = set(shown(tmp_path)) - {*settings.ENVIRONMENT_ONLY}
    assert set(assigned(text)) == names
    assert "#name = None" not in text
    assert all(re.match(r"# \S", before) for before, line in pairs(text) if re.match(r"#\w+ = ", line))


def test_every_line_of_init_can_be_used(tmp_path: Path) -> None:
    """Uncommented, all defaults and examples are right, and what has a default holds it."""
    used = re.sub(r"^#(?=\w+ = )", "", show.text(), flags=re.MULTILINE)
    plain, read_ = shown(tmp_path), shown(tmp_path, used)
    assert {name for name, (value, _) in plain.items() if value is not None and read_[name][0] != value} == set()
    assert {name for name, (value, _) in read_.items() if value is None} == {*settings.ENVIRONMENT_ONLY}


def test_init_never_overwrites(tmp_path: Path) -> None:
    """A file that is there stays, byte for byte; with --force under another name."""
    file = written(tmp_path, "workers = 3\n")
    asked = ["--settings", str(file), "settings", "init"]
    refused = CliRunner().invoke(main, asked)
    assert (refused.exit_code, file.read_text()) == (2, "workers = 3\n")
    assert "--force" in refused.stderr
    for number in (1, 2):
        assert CliRunner().invoke(main, [*asked, "--force"]).exit_code == 0
        assert (tmp_path / "chipledger.toml.1").read_text() == "workers = 3\n"
        assert (tmp_path / f"chipledger.toml.{number}").exists()
    assert file.read_text(encoding="utf-8") == show.text()


def assigned(text: str) -> list[str]:
    """Return the full names that a file would set where its lines were uncommented."""
    used = tomllib.loads(re.sub(r"^#(?=\w+ = )", "", text, flags=re.MULTILINE))
    return list(_names(used, ()))


def _names(table: Mapping[str, Any], place: tuple[str, ...]) -> Any:
    for name, value in table.items():
        if isinstance(value, Mapping) and value:
            yield from _names(value, (*place, name))
        else:
            yield ".".join((*place, name))


def pairs(text: str) -> list[tuple[str, str]]:
    lines = text.splitlines()
    return list(pairwise(lines))
