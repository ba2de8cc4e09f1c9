"""The table of purchase terms: every option has a row, every row leads to a page, and a wrong cell is named."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from warehouse.errors import ChipledgerError
from warehouse.reference import prepared
from warehouse.schema.vocabulary import PURCHASE_OPTIONS

HEADER = ",".join(prepared.PURCHASE_TERMS.fields)
GOOD = "AWS,spot,,,false,true,,,,true,,A note.,,https://x.test/a https://x.test/b,2026-11-21"


def read(tmp_path: Path, *lines: str, header: str = HEADER) -> list[SimpleNamespace]:
    path = tmp_path / "purchase_term.csv"
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return [SimpleNamespace(**row) for row in prepared.PURCHASE_TERMS.read(path)]


def test_every_option_has_a_row() -> None:
    """On demand, Reserved of either class, three kinds of plan, spot and Capacity Blocks; sorted."""
    rows = [
        (term.purchase_option, term.commitment_discount_type, term.offering_class)
        for term in (SimpleNamespace(**row) for row in prepared.PURCHASE_TERMS.read())
    ]

    assert rows == [
        ("capacity_block", None, None), ("on_demand", None, None), ("reserved", None, "convertible"),
        ("reserved", None, "standard"), ("savings_plan", "Compute", None), ("savings_plan", "EC2Instance", None),
        ("savings_plan", "SageMaker", None), ("spot", None, None),
    ]  # fmt: skip
    assert {option for option, _, _ in rows} == set(PURCHASE_OPTIONS)


def test_what_aws_documents() -> None:
    """A block is sure and final; a standard term can be sold, a convertible one not; spot is interrupted."""
    terms = {
        (term.purchase_option, term.offering_class): term
        for term in (SimpleNamespace(**row) for row in prepared.PURCHASE_TERMS.read())
        if term.commitment_discount_type is None
    }

    block = terms["capacity_block", None]
    assert (block.capacity_guaranteed, block.is_cancellable, block.longest_term_hours) == (True, False, 182 * 24)
    assert (terms["reserved", "standard"].can_be_resold, terms["reserved", "convertible"].can_be_resold) == (
        True,
        False,
    )
    assert (terms["spot", None].is_interruptible, terms["on_demand", None].is_interruptible) == (True, False)


def test_blank_is_unknown(tmp_path: Path) -> None:
    """An empty cell is NULL: neither false nor 0."""
    (term,) = read(tmp_path, GOOD)

    assert (term.can_be_resold, term.lead_time_hours, term.known_from) == (None, None, None)
    assert (term.capacity_guaranteed, term.is_interruptible) == (False, True)


@pytest.mark.parametrize(
    ("line", "field", "reason"),
    [
        (GOOD.replace("spot", "spott"), "purchase_option", "not one of"),
        (GOOD.replace("AWS", " "), "service_provider_name", "empty"),
        (GOOD.replace("false", "no"), "capacity_guaranteed", "not one of true, false"),
        (GOOD.replace("spot,,", "spot,,golden"), "offering_class", "not one of"),
        (GOOD.replace("true,,,,true", "true,-1,,,true"), "lead_time_hours", "not a whole number"),
        (GOOD.replace("true,,,,true", "true,,48,24,true"), "shortest_term_hours", "longer than"),
        (GOOD.replace("https://x.test/b", "a page"), "source_url", "no public address"),
        (GOOD.replace("2026-11-21", "yesterday"), "accessed_on", "not a date"),
        (GOOD + ",more", "purchase_option", "more or fewer cells"),
        (GOOD + "\n" + GOOD, "purchase_option", "a second row"),
    ],
)
def test_a_wrong_cell_is_named(tmp_path: Path, line: str, field: str, reason: str) -> None:
    """Line, field and reason stand in the error."""
    with pytest.raises(ChipledgerError, match=reason) as caught:
        read(tmp_path, line)

    assert caught.value.field == field
    assert caught.value.source == "purchase_term.csv"


def test_an_empty_or_strange_table_is_refused(tmp_path: Path) -> None:
    """No rows, another header, or no CSV at all."""
    with pytest.raises(ChipledgerError, match="the table is empty"):
        read(tmp_path)
    with pytest.raises(ChipledgerError, match="columns unknown"):
        read(tmp_path, GOOD, header=HEADER.replace("note", "notes"))
    with pytest.raises(ChipledgerError, match="not CSV"):
        read(tmp_path, GOOD.replace("A note.", '"A "note'))
