"""Collecting scopes for a run elsewhere: in processes that die, that nobody starts, that come too late."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from looks import day
from published import content
from toy_source import TOY, Toy, installed

from extract.base import Context
from flows.collect import fan_out, groups, handed_shared, steps
from flows.collect.fan_out import Collected, Known, Scope
from flows.collect.handed import Handed, take_left
from flows.collect.summary import Summary
from flows.config.settings import Settings
from warehouse.documents import Document, Look, Whole
from warehouse.errors import SourceError, Unavailable
from warehouse.landing.folder import Landing

RUN = "20261103T120000.000000Z"
A, B, C, D = ((TOY, name) for name in "abcd")
ROW = {
    "document_sha256": "ab" * 32, "scope": "a", "url": "u", "fetched_at": day(0.5).replace(tzinfo=None),
    "published_at": None, "recorded_at": day(1).replace(tzinfo=None), "whole_size_bytes": 9, "whole_sha256": None,
}  # fmt: skip
"""Of core.document."""
EVENTS = "select offer_id, scope, valid_from, unit_price, document_sha256 from core.price_event order by all"
START = multiprocessing.get_context("fork")


@pytest.fixture
def toy(least_marts: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Toy:
    """Return a source of our own with four scopes, the only one; what is published is the least."""
    monkeypatch.setattr(groups, "POLL_S", 0.02)
    toy = installed(monkeypatch, tmp_path / "data")
    monkeypatch.setattr(fan_out, "source_named", {TOY: toy.source()}.__getitem__)
    types = ("p5.48xlarge", "p4d.24xlarge", "p5en.48xlarge", "g6.xlarge")  # an offer is seen in one scope
    toy.world |= {name: {kind: "9.5"} for name, kind in zip("abcd", types, strict=True)}
    return toy


def handing(data_dir: Path, run_id: str = RUN) -> Handed:
    return Handed(data_dir, Landing(data_dir / "landing"), run_id)


# --- who collects what


def test_the_longest_begin_first() -> None:
    """What was never timed comes before all, in the order of the plan; it may be longer than any."""
    assert fan_out.longest_first([A, B, C, D], {A: 2.0, C: 9.0}) == [B, D, C, A]


def test_groups_take_about_equally_long() -> None:
    """Nine seconds stand against five and four; nothing is lost or doubled; there is no empty group."""
    seconds = {A: 5.0, B: 9.0, C: 4.0, D: 0.5}

    assert fan_out.groups([A, B, C, D], seconds, 2) == [[B, D], [A, C]]
    assert fan_out.groups([A], {}, 4) == [[A]]
    assert fan_out.groups([], {}, 4) == []


def test_a_scope_never_timed_counts_as_the_longest() -> None:
    """It gets no place beside the longest one where another group has less to do."""
    assert fan_out.groups([A, B, C, D], {A: 8.0, B: 1.0, C: 1.0}, 2) == [[D, B], [A, C]]


# --- what is handed over


def a_look(scope: str = "a") -> Look:
    document = Document(
        source=TOY, scope=scope, url="https://example.test/a?b=ä", parameters={"page": "2"}, body=b'{"prices": []}',
        fetched_at=day(3.25), status=200, content_type="text/csv", version_key="v1", published_at=day(2),
        whole=Whole(size=9, sha256="ab" * 32),
    )  # fmt: skip
    return Look(
        source=TOY, scope=scope, observed_at=day(3.25), complete=True, documents=(document,), archived=True,
        notes=("a note — with a dash",),
    )  # fmt: skip


def test_what_was_collected_comes_back_as_it_was(tmp_path: Path) -> None:
    """Looks with bodies, notes, seconds and errors pass through files unchanged, each once."""
    given, asked = handing(tmp_path), handing(tmp_path)
    look = Collected(source=TOY, scope="a", seconds=1.5, looks=(a_look(),), notes=("seen",))
    failed = Collected(source=TOY, scope="b", error=Unavailable("HTTP 503", source="s", field="f", value=1, hint="h"))
    given.give(1, look)
    first = asked.taken(1)
    given.give(1, failed)
    given.give(2, failed)
    (second,) = asked.taken(1)

    assert first == [look]
    assert str(second.error) == str(failed.error)
    assert asked.taken(1) == []


def test_what_the_log_says_comes_back_as_it_was(toy: Toy) -> None:
    """The rows of documents that a source may ask for, and the moment of the last good look."""
    toy.run(0)
    with steps.open_run(toy.settings(), clock=toy.clock) as one:
        one._landed[TOY, "v1"] = ROW
        one._landed[TOY, "v2"] = {**ROW, "scope": "b"}
        known = fan_out.known_to(one, *A)
    handed = handing(toy.data_dir)
    handed.ask(7, {A: known, B: Known()})

    with handed.begun(7, []) as told:
        assert told == {A: known, B: Known()}
    assert known.last_observed == day(0)
    assert known.landed == {"v1": ROW}


def test_a_group_is_begun_once(tmp_path: Path) -> None:
    """Not while somebody is at it, nor afterwards; what was taken back is begun by nobody, what was begun stays."""
    handed, other = handing(tmp_path), handing(tmp_path)
    handed.ask(1, {A: Known()})
    handed.ask(2, {B: Known()})

    with other.begun(1, []) as first, handed.begun(1, []) as second:
        assert (first, second) == ({A: Known()}, None)
        assert (handed.is_begun(1), handed.is_over(1), handed.take_back(1)) == (True, False, False)
    assert (handed.is_over(1), handed.take_back(1)) == (True, False)
    with other.begun(1, []) as again:
        assert again is None
    assert (handed.is_begun(2), handed.is_over(2), handed.take_back(2)) == (False, False, True)
    with other.begun(2, []) as late:
        assert late is None
    with other.begun(3, []) as unasked:
        assert unasked is None


# --- processes that collect


@dataclass
class Forks:
    """Collects each group in a process of its own; `idle` groups are begun by nobody, `broken` ones end before."""

    toy: Toy
    run_id: str
    idle: tuple[int, ...] = ()
    broken: tuple[int, ...] = ()
    sent: list[tuple[int, Sequence[Scope]]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    processes: dict[int, BaseProcess] = field(default_factory=dict)

    def send(self, number: int, scopes: Sequence[Scope]) -> str:
        self.sent.append((number, tuple(scopes)))
        if number not in (*self.idle, *self.broken):
            self.processes[number] = START.Process(target=self.collect, args=(number,))
            self.processes[number].start()
        return str(number)

    def collect(self, number: int) -> None:
        handed = handing(self.toy.data_dir, self.run_id)
        with handed.begun(number, []) as known:
            assert known is not None
            for (source, scope), each in known.items():
                try:
                    told = fan_out.collect_scope(
                        self.toy.settings(), source, scope, run_id=self.run_id, known=each, clock=self.toy.clock
                    )
                except SourceError as error:
                    told = Collected(source=source, scope=scope, error=error)
                handed.give(number, told)

    def ended(self, sent_id: str) -> str:
        return "its run crashed" if int(sent_id) in self.broken else ""

    def cancel(self, sent_id: str) -> None:
        self.cancelled.append(sent_id)


def shared(toy: Toy, forks: Callable[[str], Forks], *planned: Sequence[Scope]) -> tuple[Forks, list[Scope], Summary]:
    """Do a run whose groups are collected by processes; return them, what was left to the run, and its summary."""
    with steps.open_run(toy.settings(), clock=toy.clock) as one:
        take_left(one)
        run_id = one.summary.run_id
        sender, handed = forks(run_id), handing(toy.data_dir, run_id)
        done: list[Collected] = []

        def take(collected: Collected) -> None:
            done.append(collected)
            fan_out.take(one, collected)

        sharing = groups.Sharing(sender, handed, known=lambda scope: fan_out.known_to(one, *scope), take=take)
        left = sharing.collect(planned)
        one.fetch_all([(toy.source(), scope) for _, scope in left])
        fan_out.remember(one.con, run_id, done, one.clock())
        handed.remove()
        return sender, left, one.finish()


def deadly(toy: Toy, name: str, *, times: int, died: Path) -> None:
    """Have the process that fetches a scope killed in the middle of it, so many times."""
    fetch = toy.fetch

    def fetch_or_die(ctx: Context, scope: str) -> Look:
        if scope == name and len(list(died.glob("*"))) < times:
            (died / str(os.getpid())).touch()
            os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
        return fetch(ctx, scope)

    died.mkdir()
    source = replace(toy.source(), fetch=fetch_or_die)
    fan_out.source_named = {TOY: source}.__getitem__


def test_a_process_killed_in_the_middle_costs_nothing(toy: Toy, tmp_path: Path) -> None:
    """What it had collected is kept, the rest is collected elsewhere; the log is that of a run in threads."""
    deadly(toy, "b", times=1, died=tmp_path / "died")
    sender, left, summary = shared(toy, lambda run_id: Forks(toy, run_id), [A, B, D], [C])
    found = content(toy.data_dir / "prices.duckdb")
    alone = replace(toy, data_dir=tmp_path / "alone")
    alone.run(0)

    assert len(list((tmp_path / "died").iterdir())) == 1
    assert (left, [result.status for result in summary.results]) == ([], ["ok"] * 4)
    assert sender.sent[:2] == [(1, (A, B, D)), (2, (C,))]
    assert sorted(scope for _, scopes in sender.sent[2:] for scope in scopes) == [B, D]
    assert found == content(alone.data_dir / "prices.duckdb")
    assert not list((toy.data_dir / "fan_out").iterdir())


def test_a_scope_that_kills_costs_itself_alone(toy: Toy, tmp_path: Path) -> None:
    """After three processes it is given up, by name; the others of its group are collected."""
    deadly(toy, "b", times=99, died=tmp_path / "died")
    _, _, summary = shared(toy, lambda run_id: Forks(toy, run_id), [A, B, C, D])

    assert len(list((tmp_path / "died").iterdir())) == groups.TRIES
    assert sorted((result.scope, result.status) for result in summary.results) == [
        ("a", "ok"), ("b", "failed"), ("c", "ok"), ("d", "ok"),
    ]  # fmt: skip
    assert "not collected in 3 tries" in str(summary.failed[0].error)


def test_a_scope_that_fails_fails_alone(toy: Toy) -> None:
    """Its error is that of the source, as in a run in threads, and it is asked for once."""
    toy.world["b"] = None
    sender, _, summary = shared(toy, lambda run_id: Forks(toy, run_id), [A, B, C, D])

    assert [(result.scope, result.status) for result in summary.failed] == [("b", "failed")]
    assert "HTTP 503" in str(summary.failed[0].error)
    assert len(sender.sent) == 1


def test_what_nobody_begins_is_the_runs_own(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A group that no worker takes is taken back and cancelled, and the run collects it."""
    monkeypatch.setattr(groups, "TAKEN_WITHIN_S", 0.1)
    sender, left, summary = shared(toy, lambda run_id: Forks(toy, run_id, idle=(1,)), [A, B], [C, D])

    assert (sorted(left), sender.cancelled) == ([A, B], ["1"])
    assert [result.status for result in summary.results] == ["ok"] * 4


def test_a_group_whose_run_ends_before_it_begins_is_sent_again(toy: Toy) -> None:
    """As where its worker could not start it."""
    sender, left, summary = shared(toy, lambda run_id: Forks(toy, run_id, broken=(1,)), [A, B], [C, D])

    assert (left, len(summary.results), summary.failed) == ([], 4, [])
    assert sorted(scope for number, scopes in sender.sent if number > 2 for scope in scopes) == [A, B]


def test_what_a_killed_run_was_given_is_landed_by_the_next(toy: Toy) -> None:
    """The run died with its groups at work: what they collected is not collected again, and counts from its time."""
    handed = handing(toy.data_dir)
    handed.ask(1, {A: Known(), B: Known()})
    Forks(toy, RUN).collect(1)
    toy.at, toy.world["a"], toy.world["b"] = 1, {"p5.48xlarge": "7"}, None

    with steps.open_run(toy.settings(), clock=toy.clock) as one:
        take_left(one)
        summary = one.finish()

    assert [(result.scope, result.status, result.observed_at) for result in summary.results] == [
        ("a", "ok", day(0)), ("b", "ok", day(0)),
    ]  # fmt: skip
    assert not list((toy.data_dir / "fan_out").iterdir())


def test_the_last_time_is_remembered(toy: Toy) -> None:
    """Of each scope that was collected; one that failed says nothing of how long it takes."""
    toy.world["b"] = None
    shared(toy, lambda run_id: Forks(toy, run_id), [A, B])
    with steps.open_run(toy.settings(), clock=lambda: day(1)) as one:
        before = fan_out.last_seconds(one.con)
        fan_out.remember(one.con, "r", [Collected(source=TOY, scope="a", seconds=77.0)], day(1))

        assert set(before) == {A}
        assert before[A] < 60
        assert fan_out.last_seconds(one.con) == {A: 77.0}


# --- on a shared warehouse


@dataclass
class Here:
    """Collects each group at once, in this process but through a warehouse opened anew; `dies` breaks one off."""

    settings: Settings
    clock: steps.Clock
    run_id: str
    dies: tuple[int, Scope] | None = None
    sent: list[tuple[int, Sequence[Scope]]] = field(default_factory=list)

    def send(self, number: int, scopes: Sequence[Scope]) -> str:
        self.sent.append((number, tuple(scopes)))
        with handed_shared.opened(self.settings, self.run_id) as handed, handed.begun(number, scopes) as known:
            assert known is not None
            for source, scope in known:
                if (number, (source, scope)) == self.dies:
                    break
                told = fan_out.collect_scope(self.settings, source, scope, run_id=self.run_id, clock=self.clock)
                handed.give(number, told)
        with handed_shared.opened(self.settings, self.run_id) as other, other.begun(number, scopes) as again:
            assert again is None
        return str(number)

    def ended(self, sent_id: str) -> str:
        return ""

    def cancel(self, sent_id: str) -> None:
        raise AssertionError("all of them were begun")


@pytest.mark.prove
def test_on_a_shared_warehouse_whoever_collects_loads(toy: Toy, tmp_path: Path) -> None:
    """The run gets results and no looks; a group broken off is sent again; the log is that of a run in threads."""
    chosen = toy.settings().replace(warehouse={"url": f"ducklake:sqlite:{tmp_path}/catalog.sqlite"})
    with steps.open_run(chosen, clock=toy.clock) as one:
        here = Here(chosen, toy.clock, one.summary.run_id, dies=(1, B))
        handed = handed_shared.of_run(one)
        done: list[Collected] = []
        sharing = groups.Sharing(here, handed, known=lambda scope: Known(), take=done.append)
        left = sharing.collect([[A, B], [C, D]])
        for each in done:
            fan_out.take(one, each)
        found = one.con.execute(EVENTS).fetchall()
        runs = one.con.execute("select run_id, scope, status from core.scope_run order by all").fetchall()

        assert (left, here.sent) == ([], [(1, (A, B)), (2, (C, D)), (3, (B,))])
        assert [each.looks for each in done] == [()] * 4
        assert sorted((each.scope, each.status) for each in one.summary.results) == [(name, "ok") for name in "abcd"]
        assert runs == [(one.summary.run_id, name, "ok") for name in "abcd"]
        assert set(fan_out.last_seconds(one.con)) == {A, B, C, D}
        assert (handed.is_over(3), handed.take_back(3), handed.take_back(4)) == (True, False, True)
        with handed_shared.opened(chosen, one.summary.run_id) as late, late.begun(4, [A]) as nothing:
            assert nothing is None
    alone = replace(toy, data_dir=tmp_path / "alone")
    alone.run(0)
    with steps.open_run(alone.settings(), clock=toy.clock) as one:
        assert found == one.con.execute(EVENTS).fetchall()


@pytest.mark.parametrize(("how", "n_notes"), [("threads", 0), ("dask", 1), ("workers", 1)])
def test_a_run_without_prefect_says_that_it_collects_in_threads(toy: Toy, how: str, n_notes: int) -> None:
    """One note, which names what does as the setting says."""
    toy.at, toy.world = 0, {"a": None}
    summary = steps.run(toy.settings().replace(run={"fan_out": how}), clock=toy.clock)
    told = [note for note in summary.notes if "collects in its own threads" in note]
    assert len(told) == n_notes
    assert all(how in note and "flows/daily.py" in note for note in told)
