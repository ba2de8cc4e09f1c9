"""All faults of one kind against all subjects, in a process of its own: `python -m faults.child KIND FILE`."""

import json
import logging
import sys
import tempfile
from pathlib import Path

from faults.probe import ask, faulty
from faults.subjects import lab, subjects
from faults.table import FAULTS


def main(kind: str, file: Path) -> None:
    """Write an object for each probe, and one for each pair that makes no sense."""
    logging.disable(logging.CRITICAL)
    found: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder, lab() as running:
        good = {each.name: ask(running, each, None, Path(folder)) for each in subjects()}
        assert all(outcome.rows and not outcome.error for outcome in good.values())
        for fault in (each for each in FAULTS if each.kind == kind):
            for subject in subjects():
                about = {"kind": kind, "fault": fault.name, "subject": subject.name}
                if against := subject.reason_against(fault):
                    found.append({**about, "not_tried": against})
                    continue
                rows = good[subject.name].rows or []
                outcome = ask(running, subject, fault, Path(folder), n_good=len(rows))
                found.append(
                    {
                        **about, "outcome": outcome.name, "seconds": round(outcome.seconds, 3),
                        "mib": round(outcome.mib, 1), "wrong_rows": len(outcome.wrong_rows(rows)),
                        "against_us": faulty(outcome, fault, rows),
                    }
                )  # fmt: skip
    file.write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
