"""Every source against every fault of the wire: bounded time and memory, the right error, and never a wrong row."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from extract import SOURCES
from faults.probe import Outcome, ask, faulty
from faults.subjects import NOT_ASKED, Lab, lab, subjects
from faults.table import FAULTS
from warehouse.errors import ChipledgerError

ROOT = Path(__file__).parents[2]
KINDS = tuple(dict.fromkeys(fault.kind for fault in FAULTS))
SHORT = [fault for fault in FAULTS if fault.short]
CHILD_S = 1800


@pytest.fixture(scope="module")
def running() -> Iterator[Lab]:
    """Return all fault servers, running."""
    with lab() as found:
        yield found


@pytest.fixture(scope="module")
def good(running: Lab, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """Return what each subject says where nothing is wrong."""
    folder = tmp_path_factory.mktemp("good")
    return {subject.name: ask(running, subject, None, folder) for subject in subjects() if subject.is_quick}


def test_every_source_is_in_the_table() -> None:
    """Registered ones are tried, or named with the reason why they cannot be."""
    assert {subject.source.name for subject in subjects()} | NOT_ASKED.keys() == {source.name for source in SOURCES}
    assert not {subject.source.name for subject in subjects()} & NOT_ASKED.keys()
    assert all(NOT_ASKED.values())


def test_all_is_read_where_nothing_is_wrong(good: dict[str, Outcome]) -> None:
    """Otherwise a fault would prove nothing."""
    assert {name: str(outcome.error) for name, outcome in good.items() if outcome.error} == {}
    assert [name for name, outcome in good.items() if not outcome.rows] == []


@pytest.mark.parametrize("fault", SHORT, ids=lambda fault: fault.name)
def test_a_fault_comes_to_an_error_and_no_wrong_row(
    fault: Any, running: Lab, good: dict[str, Outcome], tmp_path: Path
) -> None:
    """A dozen telling faults: of what is read each on every other source, of the wire on every third; at length all."""
    found = {}
    for at, subject in enumerate(subjects(), start=SHORT.index(fault)):
        is_asked = at % (2 if fault.kind in ("text", "content", "size") else 3) == 0
        if is_asked and subject.name in good and not subject.reason_against(fault):
            rows = good[subject.name].rows or []
            outcome = ask(running, subject, fault, tmp_path, n_good=len(rows))
            if wrong := faulty(outcome, fault, rows):
                found[subject.name] = wrong
    assert found == {}


def test_a_wrong_outcome_is_seen(running: Lab, good: dict[str, Outcome], tmp_path: Path) -> None:
    """Another class of error, a row that is not in the good document, an error that says too little."""
    fault = next(fault for fault in FAULTS if fault.name == "status 404")
    subject = subjects()[-1]
    rows = good[subject.name].rows or []
    outcome = ask(running, subject, fault, tmp_path)
    assert faulty(outcome, fault, rows) == []

    def named(**changes: Any) -> list[str]:
        return faulty(Outcome(**{**vars(outcome), **changes}), fault, rows)

    assert named(error=ValueError("no"))[0].startswith("ValueError in place of")
    assert "wrong rows" in named(error=None, rows=[{"unit_price": "0.01"}])[1]
    assert "without source" in named(error=type(outcome.error)("no"))[0]  # type: ignore[misc]
    assert isinstance(outcome.error, ChipledgerError)
    assert named(seconds=1e9)
    assert named(mib=1e9)
    assert named(struck=0) == ["the fault never struck"]
    assert named(left=("git",)) == ["still running: ('git',)"]
    hole = Outcome(**{**vars(outcome), "error": None, "rows": [], "lost": 1, "holes": ("there is none",)})
    passing = next(fault for fault in FAULTS if fault.name == "status 503")
    assert (hole.name, faulty(hole, fault, rows)) == ("hole", [])
    assert faulty(hole, passing, rows)[0].startswith("hole in place of")
    assert faulty(replace(hole, holes=()), fault, rows)[0].startswith("gate in place of")


@pytest.mark.prove
@pytest.mark.parametrize("kind", KINDS)
def test_all_faults_of_a_kind(kind: str, tmp_path: Path) -> None:
    """The whole table, a process for each kind; printed, and kept where CHIPLEDGER_PROOF_DIR says."""
    file = tmp_path / "found.json"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}"}
    subprocess.run(
        [sys.executable, "-m", "faults.child", kind, str(file)], check=True, env=environment, timeout=CHILD_S
    )
    found = json.loads(file.read_text())
    tried = [each for each in found if "outcome" in each]
    told = {
        "kind": kind, "faults": len({each["fault"] for each in tried}), "tried": len(tried),
        "not_tried": len(found) - len(tried), "wrong_rows": sum(each["wrong_rows"] for each in tried),
        "longest_s": max(each["seconds"] for each in tried), "most_mib": max(each["mib"] for each in tried),
        "outcomes": dict(Counter(each["outcome"] for each in tried)),
    }  # fmt: skip
    print(f"\n{json.dumps(told)}")
    if folder := os.environ.get("CHIPLEDGER_PROOF_DIR"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        name = kind.replace(" ", "-").replace(".", "-")
        (Path(folder) / f"faults-{name}.json").write_text(json.dumps({**told, "probes": found}, indent=1))
    assert [each for each in tried if each["against_us"]] == []
