"""Records of what was sent, of machines that share a warehouse: one record, in the folder or bucket of its landing."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.message import EmailMessage
from pathlib import Path

import pytest
from alert_file import write
from landing_places import new_place, s3_environment, s3_server
from looks import day

from flows.alerts import deliver
from flows.alerts.findings import Message
from flows.config.settings import MailSettings, Settings
from flows.mail import sending
from flows.mail.sending import Outcome, Refused
from flows.shared.append_log import Lines
from reports.weekly.mail import Letter
from warehouse.errors import WriterBusy

A, B = "a@example.com", "b@example.com"
LETTER = Letter(week="2026-W02", subject="RunPod raised H100 21 %", text="text\n", html="<p>text</p>")


@dataclass
class Taker:
    """A way for mails and a channel of alerts, which takes all but what is for those it refuses."""

    name: str = "json:123"
    refused: set[str] = field(default_factory=set)
    taken: list[str] = field(default_factory=list)

    def hand_over(self, message: EmailMessage, *, sender: str, to: str, before: Callable[[], None]) -> None:
        if to in self.refused:
            raise Refused("mailbox busy")
        before()
        self.taken.append(to)

    def send(self, alert: Message, *, at: datetime, before: Callable[[], None]) -> None:
        before()
        self.taken += alert.ids


@pytest.fixture(params=["folder", pytest.param("bucket", marks=pytest.mark.prove)])
def machines(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Settings, Settings]]:
    """Return the settings of two machines that share a warehouse, and read one published file."""
    for name in ("one", "two", "landing"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(Settings, "published", lambda self: tmp_path / "prices.duckdb")

    def settings(name: str, landing: object, endpoint: str = "") -> Settings:
        shared = {"url": f"ducklake:sqlite:{tmp_path}/c", "landing": str(landing), "s3_endpoint": endpoint}
        return Settings(data_dir=tmp_path / name, warehouse=shared)

    if request.param == "folder":
        yield settings("one", tmp_path / "landing"), settings("two", tmp_path / "landing")
        return
    for name, value in s3_environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    with s3_server() as endpoint:
        where = new_place(endpoint).place
        yield settings("one", where, endpoint), settings("two", where, endpoint)


def mail(machine: Settings, post: Taker) -> Outcome:
    chosen = MailSettings(sender="prices@example.com", to=(A, B), host="localhost")
    record = sending.record(machine.data_dir, machine.shared_records())
    return sending.send(record, LETTER, chosen, post=post, clock=lambda: day(0))


def test_a_week_is_mailed_by_one_of_two_machines(machines: tuple[Settings, Settings]) -> None:
    """What one had sent alone before counts for both; what was refused to one, another sends."""
    one, two = machines
    alone = Lines(path=one.data_dir / "mail.jsonl", needed=())
    alone.add({"kind": "sent", "week": "2026-W01", "to": A})
    first, second = mail(one, Taker(refused={B})), mail(two, Taker())

    assert (first.sent, set(first.failed)) == ([A], {B})
    assert (second.already, second.sent) == ([A], [B])
    shared = Lines(path=two.data_dir / "mail.jsonl", needed=(), shared=two.shared_records())
    assert [(line["kind"], line["to"]) for line in shared.entries()] == [
        ("sent", A), ("handing", A), ("sent", A), ("failed", B), ("handing", B), ("sent", B),
    ]  # fmt: skip


@pytest.mark.prove
def test_an_alert_is_sent_by_one_of_two_machines(tmp_path: Path, machines: tuple[Settings, Settings]) -> None:
    """The second finds that the channel has it; each has sent what was news when it ran."""
    channel = Taker()
    write(tmp_path, 2)
    deliver.send_due(machines[0], clock=lambda: day(2), channels=[channel])
    for at, moves in ((3, [(2.5, "H100", 2.39, 2.89)]), (4, [(3.5, "H200", 4.0, 5.0)])):
        write(tmp_path, at, moves=moves)
        for machine in machines if at == 3 else reversed(machines):
            deliver.send_due(machine, clock=lambda at=at: day(at), channels=[channel])

    assert len(channel.taken) == len(set(channel.taken)) == 2


def test_of_two_machines_at_once_one_sends(machines: tuple[Settings, Settings]) -> None:
    """A folder has a lock; in a bucket the second is refused before its message leaves."""
    one, two = (Lines(path=each.data_dir / "mail.jsonl", needed=(), shared=each.shared_records()) for each in machines)
    busy = pytest.raises(WriterBusy, match=r"another (process sends mail|machine writes this record)")
    with busy, one.locked(who="sends mail"), two.locked(who="sends mail"):
        assert [*one.entries()] == [*two.entries()] == []
        one.add({"kind": "handing"})
        two.add({"kind": "handing"})


def test_a_record_moves_there_and_back(machines: tuple[Settings, Settings]) -> None:
    """What a machine had alone is shared by the move, and what was sent since comes back, each line once."""
    alone, shared = (
        Lines(path=one.data_dir / "mail.jsonl", needed=(), shared=one.shared_records()) for one in machines
    )
    alone.shared = None
    alone.add({"week": 1})
    shared.take(alone)
    shared.add({"week": 2})
    alone.take(shared)
    alone.take(shared)

    assert [*alone.entries()] == [*shared.entries()] == [{"week": 1}, {"week": 2}]
