"""Alerts: what is news, told once to each channel, a message a day and kind at most, and nothing from the past."""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from alert_file import write
from click.testing import CliRunner
from few_marts import published_with
from looks import day
from toy_source import installed

from flows.alerts import after_run, deliver, findings
from flows.alerts.deliver import Outcome
from flows.alerts.findings import Item, Message
from flows.cli.main import main
from flows.collect import steps
from flows.config.settings import CHAT_ADDRESSES, AlertSettings, Settings
from flows.mail.sending import Refused, Rejected, Uncertain
from reports.wording import MINUS
from warehouse.errors import ChipledgerError, SettingsError

ROSE = (2.5, "H100", 2.39, 2.89)


@dataclass
class Ear:
    """A channel that keeps what it is told; `fate` is raised in place of taking the next message."""

    name: str = "mail:a@example.com"
    heard: list[Message] = field(default_factory=list)
    fate: Exception | None = None

    def send(self, alert: Message, *, at: datetime, before: Callable[[], None]) -> None:
        before()
        if self.fate:
            raise self.fate
        self.heard.append(alert)

    @property
    def titles(self) -> list[str]:
        return [one.title.removeprefix("chipledger: ") for one in self.heard]


def tell(folder: Path, at: float, *channels: Ear, **table: Any) -> Outcome:
    settings = Settings(data_dir=folder, alerts=table)
    return deliver.send_due(settings, clock=lambda: day(at), channels=channels)


def written(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "alerts.jsonl").read_text().splitlines()]


# --- what is news


def test_a_move_in_a_published_file_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a run publishes it on top of the day before, where the mart of changes is a view."""
    toy, ear = installed(monkeypatch, tmp_path), Ear()
    with published_with("price_change", "accelerator_hour_price", least=()):
        for at, price in enumerate(("2.0", "1.8")):
            toy.learn(at, here={"g6.xlarge": price})
            with steps.open_run(toy.settings(), clock=toy.clock) as run:
                run.publisher.publish()
            tell(tmp_path, at + 0.1, ear, kinds=("move",))
    assert ear.titles == ["1 list price moved by 5 % or more"]


def test_the_first_look_tells_nothing(tmp_path: Path) -> None:
    """Moves, chips, stale scopes and verdicts that were there before are the baseline."""
    ear = Ear()
    write(tmp_path, 3, moves=[ROSE], health=[("runpod", "all", -9)], claims={"c1": "consistent"})
    assert tell(tmp_path, 3, ear).baseline == ["move", "chip", "stale", "claim"]
    assert ear.heard == []
    assert tell(tmp_path, 4, ear) == Outcome()


def test_each_kind_is_told(tmp_path: Path) -> None:
    """A move, a chip, a stale scope and a verdict: a message each, with what a reader needs to check it."""
    ear = Ear()
    write(tmp_path, 2, health=[("runpod", "all", 1.9)], claims={"c1": "consistent"})
    tell(tmp_path, 2, ear)
    write(tmp_path, 6, moves=[ROSE], chips=["H100", "B300"], health=[("runpod", "all", 1.9)], claims={"c1": "stale"})
    tell(tmp_path, 6, ear)
    assert ear.titles == [
        "1 list price moved by 5 % or more", "new chip: B300", "1 source not read for 3 days or more: runpod",
        "1 claim with another verdict",
    ]  # fmt: skip
    assert [one.text.splitlines()[0] for one in ear.heard] == [
        "- RunPod, H100, on-demand: 2.39 to 2.89 USD per chip-hour, +20.9 %, seen 2026-01-03 12:00 UTC",
        "- B300, at RunPod: 1 price, first seen 2026-01-07 00:00 UTC",
        "- runpod: all (1 scope), last read 2026-01-02",
        "- c1: consistent became stale: price 98.32 (article.md); recomputed 55.04",
    ]


def test_a_move_is_told_from_the_threshold_on(tmp_path: Path) -> None:
    """20.9 % is told from 5 and from 20 on, and not from 21 on."""
    for percent, n in ((5, 1), (20, 1), (21, 0)):
        folder = tmp_path / str(percent)
        folder.mkdir()
        ear = Ear()
        write(folder, 2)
        tell(folder, 2, ear, change_percent=percent)
        write(folder, 3, moves=[ROSE])
        tell(folder, 3, ear, change_percent=percent)
        assert len(ear.heard) == n


@pytest.mark.parametrize(
    "others",
    [
        {"source": "import:x"}, {"source": "offline"}, {"source_before": "import:x"}, {"current": False},
        {"kind": "spot_move"}, {"kind": "suspected_error"}, {"kind": "correction"},
    ],
)  # fmt: skip
def test_what_is_not_a_present_list_price_is_not_told(tmp_path: Path, others: dict[str, Any]) -> None:
    """Imports, archives, a live price beside an imported one, prices that are not current, spot, doubtful moves."""
    ear = Ear()
    write(tmp_path, 2)
    tell(tmp_path, 2, ear)
    write(tmp_path, 3, moves=[ROSE], chips=["H100", "V100"], **others)
    tell(tmp_path, 3, ear, kinds=["move"])
    if others.keys() & {"source", "current"}:
        tell(tmp_path, 3, ear, kinds=["chip"])
    assert ear.heard == []


def test_the_past_is_not_told(tmp_path: Path) -> None:
    """What a live source's own archive says of the time before the baseline, and what is learnt after a week."""
    ear = Ear()
    write(tmp_path, 2)
    tell(tmp_path, 2, ear)
    write(tmp_path, 12, moves=[(-200, "H100", 2, 3), (1.9, "H200", 2, 3), (4, "B200", 2, 3)])
    assert tell(tmp_path, 12, ear) == Outcome()


def test_a_move_that_was_told_and_was_none_is_taken_back(tmp_path: Path) -> None:
    """Once; a correction that nobody was told of as a move stays silent."""
    ear = Ear()
    write(tmp_path, 2)
    tell(tmp_path, 2, ear)
    write(tmp_path, 3, moves=[ROSE])
    tell(tmp_path, 3, ear)
    for at in (4, 5):
        write(tmp_path, at, moves=[ROSE, (3.5, "H100", 2.89, 2.39)], kind="correction")
        tell(tmp_path, at, ear)
    assert ear.titles == ["1 list price moved by 5 % or more", "1 move reverted"]
    assert ear.heard[1].text.splitlines()[0].endswith("reverted within a week, so not a move")


@pytest.mark.parametrize("after", [{}, {"moves": [ROSE, (3.5, "H100", 2.89, 2.39)], "kind": "correction"}])
def test_a_move_that_was_refused_and_is_none_any_more_is_not_told(tmp_path: Path, after: dict[str, Any]) -> None:
    """Its price was withdrawn, or is back: who never heard of it hears nothing, and a dry run shows nothing."""
    ear, deaf = Ear(), Ear(name="json:1", fate=Refused("503"))
    write(tmp_path, 2)
    tell(tmp_path, 2, ear, deaf)
    write(tmp_path, 3, moves=[ROSE])
    tell(tmp_path, 3, ear, deaf)
    write(tmp_path, 4, **after)
    deaf.fate = None
    assert deliver.preview(Settings(data_dir=tmp_path), clock=lambda: day(4)) == ([], [])
    tell(tmp_path, 4, ear, deaf)
    assert (len(ear.heard), deaf.heard) == (1 + bool(after), [])


def test_a_scope_that_is_stale_again_is_told_again(tmp_path: Path) -> None:
    """Stale, still stale, read, stale: two messages, and no late one of what was read. Never read is stale at once."""
    ear, late = Ear(), Ear(name="json:1", fate=Refused("503"))
    for at, last in ((1, 1), (5, 1), (6, 1), (7, 7), (11, 7)):
        write(tmp_path, at, health=[("runpod", "all", last)])
        late.fate = late.fate if at < 7 else None
        tell(tmp_path, at, ear, late)
    assert ear.titles == ["1 source not read for 3 days or more: runpod"] * 2
    assert late.titles == ["1 source not read for 3 days or more: runpod"]
    write(tmp_path, 12, health=[("lambda", "all", None)])
    tell(tmp_path, 12, ear)
    assert ear.heard[-1].text.startswith("- lambda: all (1 scope), never read")


def test_a_source_may_be_silent_as_long_as_its_prices_last(tmp_path: Path) -> None:
    """With half a day in the settings, a source whose prices last three days is stale after three; the clock counts."""
    ear = Ear()
    write(tmp_path, 1, health=[("runpod", "all", 1)])
    for at in (1, 3.9, 4.1):
        tell(tmp_path, at, ear, stale_days=0.5)
        assert len(ear.heard) == (at == 4.1)


def test_a_verdict_that_comes_back_is_told_each_time(tmp_path: Path) -> None:
    """There, back and there are three pieces of news; a new claim is none, nor is one by prices of last month."""
    ear = Ear()
    for at, verdict in enumerate(("consistent", "stale", "consistent", "stale", "stale")):
        write(tmp_path, at, claims={"c1": verdict} | ({"c2": "stale"} if at > 2 else {}))
        tell(tmp_path, at, ear)
    assert len(ear.heard) == 3
    write(tmp_path, 6, claims={"c1": "consistent", "c2": "stale"}, evidence=30)
    tell(tmp_path, 6, ear)
    assert len(ear.heard) == 3


def test_no_baseline_before_any_live_price(tmp_path: Path) -> None:
    """After a run over the archive alone, the first live run tells no chip, as it is the baseline."""
    ear = Ear()
    write(tmp_path, 1, chips=["H100"], source="offline")
    assert "chip" not in tell(tmp_path, 1, ear).baseline
    write(tmp_path, 2, chips=["H100", "B300"])
    assert "chip" in tell(tmp_path, 2, ear).baseline
    assert ear.heard == []


# --- told once


def test_one_message_a_day_and_kind(tmp_path: Path) -> None:
    """Two runs on a day, two moves: the second is told tomorrow, and nothing twice."""
    ear, second = Ear(), (2.6, "H200", 4, 5)
    write(tmp_path, 2)
    tell(tmp_path, 2, ear)
    write(tmp_path, 2.55, moves=[ROSE])
    tell(tmp_path, 2.55, ear)
    write(tmp_path, 2.7, moves=[ROSE, second])
    tell(tmp_path, 2.7, ear)
    assert [len(one.ids) for one in ear.heard] == [1]
    tell(tmp_path, 3.1, ear)
    tell(tmp_path, 4.1, ear)
    assert [one.text.splitlines()[0][:15] for one in ear.heard] == ["- RunPod, H100,", "- RunPod, H200,"]


def test_what_failed_is_told_again_to_that_channel_alone(tmp_path: Path) -> None:
    """On the same day, as nothing arrived; the other channel is left in peace."""
    good, bad = Ear("mail:a@example.com"), Ear("json:123", fate=Refused("the service answered 500"))
    write(tmp_path, 2)
    tell(tmp_path, 2, good, bad)
    write(tmp_path, 3, moves=[ROSE])
    outcome = tell(tmp_path, 3, good, bad)
    assert (outcome.failed, outcome.is_good) == ({"json:123": "the service answered 500"}, False)
    bad.fate = None
    assert tell(tmp_path, 3.1, good, bad).sent == {"json:123": ["chipledger: 1 list price moved by 5 % or more"]}
    assert tell(tmp_path, 4, good, bad) == Outcome()
    assert (len(good.heard), len(bad.heard)) == (1, 1)


@pytest.mark.parametrize(
    ("fate", "uncertain", "failed", "line"),
    [
        (Uncertain(), {"mail:a": 1}, {}, "may have arrived, not sent again: mail:a: 1 items"),
        (Rejected("550 no"), {}, {"mail:a": "550 no"}, "failed; refused for good, not sent again: mail:a: 550 no"),
    ],
)
def test_what_may_have_arrived_or_never_will_is_not_told_again(
    tmp_path: Path, fate: Exception, uncertain: dict[str, int], failed: dict[str, str], line: str
) -> None:
    """It is named once, and the exit code is that of a failure."""
    ear = Ear("mail:a", fate=fate)
    write(tmp_path, 2)
    tell(tmp_path, 2, ear)
    write(tmp_path, 3, moves=[ROSE])
    outcome = tell(tmp_path, 3, ear)
    assert (outcome.uncertain, outcome.failed, outcome.is_good) == (uncertain, failed, False)
    assert [*deliver.lines(outcome)] == [line]
    ear.fate = None
    assert tell(tmp_path, 4, ear) == Outcome()
    assert ear.heard == []


def test_a_process_killed_while_telling_tells_nothing_twice(tmp_path: Path) -> None:
    """It left a line before the message and half a line after it: the next run names it, and does not send it again."""
    ear = Ear(fate=KeyboardInterrupt())  # type: ignore[arg-type]
    write(tmp_path, 2)
    tell(tmp_path, 2, ear)
    write(tmp_path, 3, moves=[ROSE])
    with pytest.raises(KeyboardInterrupt):
        tell(tmp_path, 3, ear)
    with (tmp_path / "alerts.jsonl").open("a") as file:
        file.write('{"what": "sent", "at": "2026')
    ear.fate = None
    assert tell(tmp_path, 3.1, ear).uncertain == {ear.name: 1}
    assert tell(tmp_path, 4, ear) == Outcome()
    assert ear.heard == []


def test_a_channel_that_joins_later_gets_what_is_news_from_then_on(tmp_path: Path) -> None:
    """Not what the others were told before."""
    early, late = Ear("mail:a@example.com"), Ear("mail:b@example.com")
    write(tmp_path, 2)
    tell(tmp_path, 2, early)
    write(tmp_path, 3, moves=[ROSE])
    tell(tmp_path, 3, early)
    tell(tmp_path, 4, early, late)
    write(tmp_path, 5, moves=[ROSE, (4.5, "H200", 4, 5)])
    tell(tmp_path, 5, early, late)
    assert [len(ear.heard) for ear in (early, late)] == [2, 1]
    assert "H200" in late.heard[0].text


def test_the_record_only_grows_and_a_mangled_line_is_named(tmp_path: Path) -> None:
    """Lines are appended; without a readable record nothing is sent."""
    write(tmp_path, 2)
    tell(tmp_path, 2, Ear())
    before = (tmp_path / "alerts.jsonl").read_bytes()
    write(tmp_path, 3, moves=[ROSE])
    tell(tmp_path, 3, Ear())
    after = (tmp_path / "alerts.jsonl").read_bytes()
    assert after.startswith(before)
    assert [entry["what"] for entry in written(tmp_path)][-3:] == ["news", "handing", "sent"]
    (tmp_path / "alerts.jsonl").write_bytes(after + b'{"no": 1}\n')
    with pytest.raises(ChipledgerError, match="unreadable line"):
        tell(tmp_path, 4, Ear())


# --- words


HOSTILE = (
    "[x](http://evil.example)<!channel>@everyone *b* `c` ![i](//e) www.evil.example\r\nBcc: v@example.com :tada: #h"
)


def test_text_from_outside_is_text_alone(tmp_path: Path) -> None:
    """No link, mention, picture, tag, emoji, heading or second line comes from a provider's words."""
    ear = Ear()
    write(tmp_path, 2)
    tell(tmp_path, 2, ear)
    write(tmp_path, 3, moves=[(2.5, HOSTILE, 1, 2)], chips=["H100", HOSTILE], provider=HOSTILE)
    tell(tmp_path, 3, ear)
    assert len(ear.heard) == 2
    for one in ear.heard:
        lines = one.text.splitlines()
        assert len(lines) == 3
        assert not set("<>[]*`!@#|~\\&{}=$^") & set(one.title + lines[0])
        assert "//" not in lines[0]
        assert "www." not in lines[0]
        assert "x?(http?/evil.example)??channel" in lines[0]
        assert "\n" not in one.title


def test_a_repricing_is_one_line_where_it_moved_alike() -> None:
    """Twelve regions of one machine are one line, one of another price another; the largest move stands first."""
    fact = {
        "service_provider_name": "AWS", "offered": "p5.48xlarge", "accelerator_name": "H100", "form_factor": "SXM",
        "purchase_option": "on_demand", "commitment_term_hours": None, "purchase_payment_model": None, "tier": None,
        "pricing_currency": "USD", "is_per_chip": True, "price_before": 12.29, "price_after": 6.88,
        "change_ratio": -0.44, "observed_at": "2026-01-03T12:00:00", "region_id": "us-east-1",
    }  # fmt: skip
    facts = [fact | {"region_id": f"r{n:02}"} for n in range(12)] + [
        fact | {"price_after": 5.0, "change_ratio": -0.593}
    ]
    items = [Item(kind="move", id=str(n), fact=each) for n, each in enumerate(facts)]
    told = findings.message("move", items, AlertSettings(change_percent=5))
    assert (told.title, len(told.ids)) == ("chipledger: 2 list prices moved by 5 % or more", 13)
    assert told.text.splitlines()[:2] == [
        "- AWS, p5.48xlarge (H100 SXM), on-demand in us-east-1: 12.29 to 5.00 USD per chip-hour, "
        f"{MINUS}59.3 %, seen 2026-01-03 12:00 UTC",
        "- AWS, p5.48xlarge (H100 SXM), on-demand in r00, r01, r02 and 9 more: 12.29 to 6.88 USD per chip-hour, "
        f"{MINUS}44.0 %, seen 2026-01-03 12:00 UTC",
    ]


# --- settings and commands


def test_nothing_set_up_costs_nothing(tmp_path: Path) -> None:
    """No import of Apprise, DuckDB or polars, no file; the run's own outcome stands."""
    write(tmp_path, 2)
    code = (
        "import sys; from pathlib import Path; from flows.alerts import after_run; "
        "from flows.config.settings import Settings; "
        f"print(after_run.alert(Settings(data_dir=Path({str(tmp_path)!r})), clock=None)); "
        "print(sorted({'apprise', 'polars', 'duckdb'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={})
    assert done.stdout == "True\n[]\n"
    assert not (tmp_path / "alerts.jsonl").exists()


@pytest.mark.parametrize(
    ("table", "told"), [({}, 2), ({"chips": ["H100"]}, 1), ({"chips": ["B200"]}, 0), ({"regions": ["us-east-1"]}, 0)]
)
def test_only_what_is_watched_is_told(tmp_path: Path, table: dict[str, Any], told: int) -> None:
    """Of moves: a new chip is told all the same. What is in no known region is in none that is named."""
    write(tmp_path, 2)
    tell(tmp_path, 2, ear := Ear(), **table)
    write(tmp_path, 3, moves=[ROSE, (2.5, "H200", 4.0, 5.0)], chips=["H100", "H200", "B200", "B300"])
    tell(tmp_path, 3, ear, **table)
    assert sum("B300" in one.text for one in ear.heard) == 1
    assert sum(chip in one.text for one in ear.heard for chip in ("H100", "H200")) == told
    watching = AlertSettings(chips=("H100",), regions=("us-east-1",))
    moved = [("H100", "us-east-1"), ("H100", "us-west-2"), (None, "us-east-1")]
    assert [watching.matches({"accelerator_name": c, "region_id": r}) for c, r in moved] == [True, False, False]


@pytest.mark.parametrize(
    ("table", "field"),
    [({"change_percent": 0}, "alerts.change_percent"), ({"stale_days": 0.1}, "alerts.stale_days"),
     ({"kinds": ["price"]}, "alerts.kinds.0"), ({"to": ["a@b.example\nBcc: c@d.example"]}, "alerts.to.0"),
     ({"chips": ["H1000"]}, "alerts.chips"), ({"urls": ["slack://x"]}, "alerts.urls"),
     ({"change_percent": float("nan")}, "alerts.change_percent")],
)  # fmt: skip
def test_a_wrong_setting_is_named(tmp_path: Path, table: dict[str, Any], field: str) -> None:
    """With its place, as the settings of the sources are."""
    with pytest.raises(SettingsError) as error:
        tell(tmp_path, 1, Ear(), **table)
    assert error.value.field == field


def test_nobody_to_tell_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The command refuses; after a run it is a warning, and the run's own outcome stands."""
    monkeypatch.delenv(CHAT_ADDRESSES, raising=False)
    write(tmp_path, 1)
    (tmp_path / "chipledger.toml").write_text("[alerts]\nchange_percent = 3\n")
    given = ["--settings", str(tmp_path / "chipledger.toml"), "--data-dir", str(tmp_path), "alert"]
    done = CliRunner().invoke(main, given)
    assert (done.exit_code, "alerts have no recipient" in done.output) == (2, True)
    after_run.alert(Settings(data_dir=tmp_path, alerts={"to": ["a@example.com"]}), clock=lambda: day(1))
    assert "mail is not set up (field mail" in caplog.text


def test_a_dry_run_writes_and_sends_nothing(tmp_path: Path) -> None:
    """It says what would be told, and may be asked again and again."""
    write(tmp_path, 2)
    given = ["--data-dir", str(tmp_path), "alert", "--dry-run"]
    first = CliRunner().invoke(main, given)
    assert first.output.splitlines()[0] == "first run, recorded and not sent: move"
    assert not (tmp_path / "alerts.jsonl").exists()
    tell(tmp_path, 2, Ear())
    before = (tmp_path / "alerts.jsonl").read_bytes()
    write(tmp_path, 3, moves=[ROSE])
    for _ in range(2):
        done = CliRunner().invoke(main, [*given, "--json"])
        made = json.loads(done.output)
        assert [one["title"] for one in made["messages"]] == ["chipledger: 1 list price moved by 5 % or more"]
    assert (tmp_path / "alerts.jsonl").read_bytes() == before
