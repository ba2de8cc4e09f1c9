"""Past versions of the bulk files against the stand-in for AWS: oldest first, each once, and holes by name."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from price_list_files import Ask, rows
from standin import aws, faults
from standin.world import edition

from extract.aws.price_list import SOURCE
from extract.base import Context
from warehouse.documents import ScopeFetch
from warehouse.errors import LayoutChanged, Unavailable


def archive(
    context: Context, scope: str = "us-east-1", *, since: datetime | None = None, until: datetime | None = None
) -> Iterator[ScopeFetch]:
    assert SOURCE.backfill is not None
    return SOURCE.backfill(context, scope, since, until)


def p5(look: ScopeFetch) -> list[str]:
    return rows(look).filter(instance_type="p5.48xlarge", purchase_option="on_demand")["unit_price"].to_list()


def test_past_versions_come_oldest_first(ask: Ask) -> None:
    """Each version is a look at its publication, archived, never complete; the price cut of June 2025 shows."""
    looks = list(archive(ask("api")))

    assert [look.observed_at for look in looks] == sorted(look.observed_at for look in looks)
    assert [p5(look) for look in looks] == [["98.32"], ["55.04"], ["55.04"]]
    assert {(look.complete, look.archived) for look in looks} == {(False, True)}
    assert all(look.documents[0].published_at == look.observed_at for look in looks)


def test_past_versions_between_two_dates(standin: aws.StandIn, ask: Ask) -> None:
    """Only versions published from `since` to `until` are fetched."""
    (look,) = archive(ask("bulk"), since=datetime(2025, 6, 1, tzinfo=UTC), until=datetime(2025, 7, 1, tzinfo=UTC))

    assert p5(look) == ["55.04"]
    assert standin.count("bulk:prices") == 1


def test_a_landed_past_version_is_not_fetched_again(standin: aws.StandIn, ask: Ask) -> None:
    """A second backfill reads from the landing."""
    first = list(archive(ask("bulk")))
    landed = {document.version_key: document for look in first for document in look.documents}
    standin.forget()

    assert list(archive(ask("bulk", landed=landed.get))) == first
    assert standin.count("bulk:prices") == 0


def test_a_missing_file_is_a_hole(standin: aws.StandIn, ask: Ask) -> None:
    """A version without this region is a look without documents, named, and the walk goes on."""
    standin.publish(edition("20261101200000", {"us-west-2": {"p5.48xlarge": "50"}}))
    standin.publish(edition("20261102200000", {"us-east-1": {"p5.48xlarge": "49"}}))

    *_, hole, last = archive(ask("bulk"))

    assert hole.documents == ()
    assert "20261101200000/us-east-1" in hole.notes[0]
    assert p5(last) == ["49"]


def test_an_unreadable_past_version_is_a_hole(standin: aws.StandIn, ask: Ask) -> None:
    """HTML in place of an old file costs that version only; so does a file of another version."""
    versions = [look.observed_at.strftime("%Y%m%d%H%M%S") for look in archive(ask("bulk"))]
    standin.fault(f"bulk:us-east-1:{versions[0]}", faults.Html())
    standin.fault(f"bulk:us-east-1:{versions[1]}", faults.Edit(lambda body: body.replace(b"2025-", b"2024-")))

    first, second, third = archive(ask("bulk"))

    assert (first.documents, second.documents) == ((), ())
    assert versions[0] in first.notes[0]
    assert "2024-" in second.notes[0]
    assert p5(third) == ["55.04"]


def test_ill_formed_versions_are_named(standin: aws.StandIn, ask: Ask) -> None:
    """An entry that cannot be read is named in a note, and the others are walked."""

    def spoil(body: bytes) -> bytes:
        index = json.loads(body)
        index["versions"] |= {"tomorrow": {}, "20990101000000": {"offerVersionUrl": 5}, "20990231000000": None}
        return json.dumps(index).encode()

    standin.fault("bulk:versions", faults.Edit(spoil))

    looks = list(archive(ask("bulk")))

    assert len(looks) == 3
    assert "20990101000000, 20990231000000, tomorrow" in looks[0].notes[0]


@pytest.mark.parametrize(
    "index", [b"{}", b'{"versions": []}', b'{"versions": {}}', b'{"versions": {"x": {}}}', b"<html>"]
)
def test_no_version_at_all_is_another_layout(standin: aws.StandIn, ask: Ask, index: bytes) -> None:
    """An index that names no version is refused."""
    standin.fault("bulk:versions", faults.Edit(lambda body: index))

    with pytest.raises(LayoutChanged):
        list(archive(ask("bulk")))


def test_an_outage_ends_the_walk(standin: aws.StandIn, ask: Ask) -> None:
    """What cannot be reached is no hole: the walk stops, to be begun again."""
    standin.fault("bulk:prices", faults.Status(503), after=1)
    walk = archive(ask("bulk"))

    assert p5(next(walk)) == ["98.32"]
    with pytest.raises(Unavailable):
        next(walk)
