"""The canary's issues: one a source, opened, updated where the error is another, closed when it is well."""

import json
from collections.abc import Sequence
from typing import Any

from scripts import script

STATUS = script("tools/live_status.py")


def check(source: str, verdict: str, error: str = "") -> dict[str, Any]:
    return {
        "source": source, "verdict": verdict, "error": error, "differences": ["- column: GPU"], "answers": [],
        "robots": "allowed", "n_bytes": 1, "rows": 1, "lowest": "1", "highest": "2",
    }  # fmt: skip


class Gh:
    """The program gh with these open issues."""

    def __init__(self, *issues: dict[str, Any]) -> None:
        self.issues, self.calls = issues, list[list[str]]()

    def __call__(self, arguments: Sequence[str]) -> str:
        self.calls.append(list(arguments))
        return json.dumps(self.issues) if arguments[:2] == ["issue", "list"] else ""

    @property
    def done(self) -> list[list[str]]:
        return [call[1:3] for call in self.calls if call[0] == "issue" and call[1] != "list"]


def test_one_issue_a_source() -> None:
    """Opened once, updated with another error, silent with the same, closed when well, also in another shape."""
    failed, other = check("lambda", "failed", "cut short"), check("lambda", "failed", "another column")
    first = {"number": 7, "title": STATUS.title("lambda"), "body": STATUS.text(failed), "comments": []}

    assert STATUS.issues([failed, check("ovh", "well")], Gh()) == ["opened: lambda cannot be read live"]
    assert STATUS.issues([failed], Gh(first)) == []
    assert STATUS.issues([other], Gh(first)) == ["updated: lambda cannot be read live"]
    again = first | {"comments": [{"body": STATUS.text(other)}]}
    assert STATUS.issues([other], Gh(again)) == []
    for verdict in ("well", "changed"):
        gh = Gh(again)
        assert STATUS.issues([check("lambda", verdict)], gh) == ["closed: lambda cannot be read live"]
        assert gh.done == [["close", "7"]]
    assert STATUS.issues([check("lambda", "left out")], Gh(first)) == []


def test_texts_of_providers_are_no_html() -> None:
    """Nor do they leave their cell or their fence."""
    hostile = check("lambda", "failed", "```</td><script>alert(1)</script> | x")

    assert "<script>" not in STATUS.markdown([hostile])
    assert STATUS.markdown([hostile]).splitlines()[2].count("|") == 9
    assert STATUS.text(hostile).count("```") == 2
