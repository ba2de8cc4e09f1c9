"""Which marts a mart is made of, as its SELECT says."""

from pathlib import Path

import pytest

from transform import models
from transform.models import Mart, MartMacro, made_of


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Four marts and a macro: `chain` reads `middle`, which reads `base`; a comment names `alone`."""
    texts = {
        "base": "select price_id from core.price",
        "middle": "select 1 from mart.base as one join core.mart_other using (x)",
        "chain": "select 1 from mart.middle -- not of mart.alone\nunion all select 1 from smart.alone",
        "alone": "select 1",
        "asked": "select 1 from mart.chain join mart.nowhere using (x)",
    }
    for name, text in texts.items():
        (tmp_path / f"{name}.sql").write_text(text)
    monkeypatch.setattr(models, "SQL", tmp_path)
    monkeypatch.setattr(models, "MARTS", tuple(Mart(name, "") for name in texts if name != "asked"))
    monkeypatch.setattr(models, "MACROS", (MartMacro("asked", "", {}),))
    monkeypatch.setattr(models, "_texts", models._texts.__wrapped__)


@pytest.mark.usefixtures("few")
def test_a_mart_is_made_of_what_it_names_and_what_that_names() -> None:
    """Macros, too; a comment, another schema and what is no mart do not count."""
    assert made_of(["asked"]) == {"asked", "chain", "middle", "base"}
    assert made_of(["base", "alone"]) == {"base", "alone"}
    assert made_of([]) == set()


@pytest.mark.usefixtures("few")
def test_what_is_no_mart_has_no_answer() -> None:
    with pytest.raises(KeyError, match="nowhere"):
        made_of(["nowhere"])


def test_every_mart_comes_after_those_it_is_made_of() -> None:
    """The order of creation in a published file; macros name only what is there."""
    order = [each.name for each in (*models.MARTS, *models.MACROS)]
    made = [mart.name for mart in models.MARTS]
    late = {name: after for at, name in enumerate(made) if (after := made_of([name]) - set(made[: at + 1]))}

    assert late == {}
    assert made_of(order) == set(order)
