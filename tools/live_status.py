"""What `chipledger check-live --json` found, as Markdown on stdout, and as one issue for each source.

    python tools/live_status.py checks.json [--issues]

With `--issues` and the program `gh`: a source that failed has one open issue, which is opened, or gets a comment where
the error is another than its last one; the issue of a source that is well is closed. Texts of a provider stand in code
fences and are escaped: they are no instructions, and no HTML.
"""

import argparse
import html
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

LABEL = "live"
MAX_LINES = 40
Run = Callable[[Sequence[str]], str]


def main() -> None:
    """Read the checks, write what is wanted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", type=Path)
    parser.add_argument("--issues", action="store_true")
    chosen = parser.parse_args()
    checks = json.loads(chosen.checks.read_text(encoding="utf-8"))["checks"]
    print(markdown(checks))
    if chosen.issues:
        for line in issues(checks, gh):
            print(line)


def gh(arguments: Sequence[str]) -> str:
    """Return what the program gh prints."""
    return subprocess.run(["gh", *arguments], check=True, capture_output=True, text=True).stdout  # noqa: S607 (of PATH)


def title(source: str) -> str:
    """Return the title of the issue of a source."""
    return f"{source} cannot be read live"


def text(check: dict[str, Any]) -> str:
    """Return the body of an issue: the error and what differs, in a fence that no text of a provider ends."""
    lines = [check["error"], *check["differences"][:MAX_LINES]]
    shown = "\n".join(lines).replace("`", "'")
    return (
        f"`chipledger check-live --source {check['source']}` failed.\n\n```\n{shown}\n```\n\n"
        "The bundle is in the artifact `sources` of the run; unpacked below `data/captures` it is a test "
        "(tests/extract/test_bundles.py). docs/operating.md has the steps.\n"
    )


def issues(checks: Sequence[dict[str, Any]], run: Run) -> list[str]:
    """Open, update or close the issue of each source; return what was done."""
    fields = "number,title,body,comments"
    listed = json.loads(run(["issue", "list", "--state", "open", "--label", LABEL, "--limit", "200", "--json", fields]))
    is_open = {each["title"]: each for each in listed}
    run(["label", "create", LABEL, "--force", "--description", "a source cannot be read live"])
    done = []
    for check in checks:
        name, found = title(check["source"]), is_open.get(title(check["source"]))
        if check["verdict"] == "failed" and found is None:
            run(["issue", "create", "--title", name, "--label", LABEL, "--body", text(check)])
            done.append(f"opened: {name}")
        elif check["verdict"] == "failed" and found:
            last = (found["comments"] or [found])[-1]["body"]
            if text(check).strip() != last.strip():
                run(["issue", "comment", str(found["number"]), "--body", text(check)])
                done.append(f"updated: {name}")
        elif check["verdict"] in ("well", "changed") and found:
            run(["issue", "close", str(found["number"]), "--comment", "It can be read again."])
            done.append(f"closed: {name}")
    return done


def cells(check: dict[str, Any]) -> list[str]:
    """Return a check as cells."""
    status = ", ".join(dict.fromkeys(str(answer["status"]) for answer in check["answers"])) or "no answer"
    prices = f"{check['lowest']} to {check['highest']}" if check["rows"] else ""
    size, rows = f"{check['n_bytes']:,}", str(check["rows"])
    return [check["verdict"], check["source"], check["robots"], status, size, rows, prices, check["error"]]


HEADS = ["verdict", "source", "robots.txt", "status", "bytes", "rows", "prices", "error"]


def markdown(checks: Sequence[dict[str, Any]]) -> str:
    """Return a table in Markdown."""
    rows = [[" ".join(html.escape(cell).replace("|", "/").split()) for cell in cells(check)] for check in checks]
    return "\n".join(f"| {' | '.join(row)} |" for row in [HEADS, ["---"] * len(HEADS), *rows])


if __name__ == "__main__":
    main()
