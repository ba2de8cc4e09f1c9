"""What others make and we run: actions by hash, packages by licence; and no secret in what we keep in git."""

import re
import subprocess
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
WORKFLOWS = [*sorted((ROOT / ".github/workflows").glob("*.yml")), *sorted((ROOT / "docs/examples").glob("*.yml"))]
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
OF_OTHERS = re.compile(r"\$\{\{[^}]*(github\.event|github\.head_ref|github\.ref_name|inputs\.|github\.actor)")
WRITES = {
    "docs/examples/prices-in-a-release.yml": {"contents"},
    "docs/examples/prices-in-a-bucket.yml": {"id-token"},
    ".github/workflows/sources.yml": {"issues"},
    ".github/workflows/release.yml": {"contents", "pages", "id-token"},
}
"""What may be written, by file: a release of one's own, the token by which a job becomes a role, an issue for each
source that fails, and the site of a public release."""
LICENCES = re.compile(
    r"MIT|BSD|Apache|ISC|PSF|Python Software Foundation|MPL|Mozilla|CNRI|Unlicense|Zlib|0BSD", re.IGNORECASE
)
CHOSEN = {
    # Given under the Artistic License or the GPL, whichever one likes.
    "text-unidecode": "Artistic License",
    # A library of an extra, used as it is and never copied into ours.
    "psycopg": "LGPL-3.0-only",
    "psycopg-binary": "LGPL-3.0-only",
}
SECRETS = {
    "AWS key": r"\b(?:AKIA|ASIA)(?!IOSFODNN7EXAMPLE|STANDIN0|SOMEBODYELSE)[A-Z0-9]{16}\b",
    "private key": r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----",
    "GitHub token": r"\bgh[pousr]_[A-Za-z0-9]{36}\b|\bgithub_pat_[A-Za-z0-9_]{60,}",
    "Slack token": r"\bxox[abprs]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/T[A-Z0-9]{8,}",
    "Google key": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "OpenAI or Stripe key": r"\bsk-[A-Za-z0-9]{32,}|\b[rs]k_live_[A-Za-z0-9]{20,}",
    "token of an index": r"\bpypi-[A-Za-z0-9_-]{50,}|\bnpm_[A-Za-z0-9]{36}\b|\bhf_[A-Za-z0-9]{34}\b",
    "address with a password": r"\b(?:postgresql|postgres|mysql|mongodb|redis|amqp|smtps?)(?:\+\w+)?://[^\s:/@]+:(?!PASSWORD|\$|canary)[^\s:/@]{8,}@",
}


def jobs(file: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))["jobs"]
    return found


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_run_what_was_looked_at_and_may_do_little(file: Path) -> None:
    """Each action by its full hash with its version beside it; no right but those named; no words of others."""
    text = file.read_text(encoding="utf-8")
    used = re.findall(r"uses: .*", text)
    assert [line for line in used if not PINNED.fullmatch(line)] == []
    assert text.count("actions/checkout@") == text.count("persist-credentials: false") > 0
    assert "pull_request_target" not in text
    assert OF_OTHERS.search(text) is None
    assert yaml.safe_load(text)["permissions"] == {}
    allowed = WRITES.get(str(file.relative_to(ROOT)), set())
    for job in jobs(file).values():
        assert job["timeout-minutes"]
        assert {name for name, right in job["permissions"].items() if right != "read"} <= allowed


def test_one_version_of_an_action_is_one_hash() -> None:
    """Everywhere."""
    used = {tuple(line.split(" # ")) for file in WORKFLOWS for line in re.findall(r"uses: (.*)", file.read_text())}
    assert len(used) == len({pinned.partition("@")[0] for pinned, _ in used})


def runtime() -> dict[str, str]:
    """Return the licence of each package that chipledger runs on, with all extras, by name."""
    found: dict[str, str] = {}
    waiting = [("chipledger", ("dask", "lake", "mcp"))]
    while waiting:
        name, extras = waiting.pop()
        key = name.lower().replace("_", "-")
        if key in found:
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:  # of another system
            continue
        said = package.metadata
        classified = [each for each in said.get_all("Classifier") or [] if each.startswith("License ::")]
        found[key] = said.get("License-Expression") or "; ".join(classified) or (said.get("License") or "")[:80]
        for line in package.requires or []:
            asked = Requirement(line)
            if asked.marker is None or any(asked.marker.evaluate({"extra": extra}) for extra in ("", *extras)):
                waiting.append((asked.name, tuple(asked.extras)))
    return found


def test_every_package_may_be_used_and_passed_on() -> None:
    """By its own word; a licence that asks more of whoever passes it on is looked at first."""
    found = runtime()
    assert len(found) > 100
    wrong = {
        name: said
        for name, said in found.items()
        if not LICENCES.search(said) or re.search(r"\b(A?GPL|LGPL|SSPL|BUSL)", said)
    }
    assert {name: said for name, said in wrong.items() if CHOSEN.get(name, "\0") not in said} == {}


@pytest.mark.parametrize(
    "text", ["AKIA" + "QWERTYUIOPASDFGH", "-----BEGIN RSA " + "PRIVATE KEY-----", "ghp_" + "a" * 36, "sk-" + "a" * 40]
)
def test_the_scan_sees_a_secret(text: str) -> None:
    assert scanned(f"x = '{text}'") != []


def scanned(text: str) -> list[tuple[str, str]]:
    return [(kind, found[0][:12]) for kind, pattern in SECRETS.items() for found in re.finditer(pattern, text)]


def test_no_file_holds_a_secret() -> None:
    """Of those in git, as they stand."""
    either = "|".join(f"(?:{pattern})" for pattern in SECRETS.values())
    found = subprocess.run(["git", "grep", "-I", "-o", "-P", "-e", either], cwd=ROOT, capture_output=True, check=False)
    assert (found.returncode, found.stdout.decode("utf-8", "replace"), found.stderr) == (1, "", b"")


@pytest.mark.prove
def test_no_commit_ever_held_a_secret() -> None:
    """All lines that were ever added."""
    log = ["git", "log", "--all", "-p", "--unified=0", "--no-color", "--no-textconv", "--format=commit %h"]
    history = subprocess.run(log, cwd=ROOT, capture_output=True, check=True).stdout.decode("utf-8", "replace")
    added = "\n".join(line for line in history.splitlines() if line.startswith("+"))
    assert len(added) > 1_000_000
    assert scanned(added) == []
