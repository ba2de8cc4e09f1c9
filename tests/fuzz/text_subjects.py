"""The readers of what users write and of what we keep ourselves: settings, contracts, fleets, claims, journal, inputs."""  # noqa: E501

import json
import re
import tempfile
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import bedrock_file
from fleet_file import FLEET, NAMES, PRICES
from fuzz.json_mutants import of_json
from fuzz.rows import of_values, row, text
from fuzz.table_mutants import of_table
from fuzz.verdicts import Row, Subject
from mcp.server.mcpserver.tools import Tool
from pydantic import ValidationError

from flows.backup.snapshot import Item, Manifest
from flows.config import settings
from flows.decisions import hosted as self_hosting
from flows.private import fleet_file, prices
from flows.read_api import server
from warehouse.documents import Document, ScopeFetch
from warehouse.errors import LayoutChanged
from warehouse.landing.folder import Landing, stamp
from warehouse.reference import claims

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
SETTINGS = """\
data_dir = "data"
heartbeat_url = "https://example.com/beat"

[sources.aws_price_list]
enabled = true
access = "bulk"
regions = ["us-east-1", "eu-west-1"]

[sources.vast]
enabled = false

[mail]
to = ["a@example.com"]
from = "b@example.com"
host = "mail.example.com"
port = 587
"""
CLAIMS = (
    "claim_id,subject,metric,value,low,high,unit,conditions,as_of\n"
    'S0-002,LLM training run,savings_pct,,30,50,percent,"cost reduction, said to decide",2026 (undated)\n'
    "S0-003,p5.48xlarge,price_per_instance,98.32,,,usd_per_hour,on demand us-east-1,2025-01\n"
)
ARGUMENTS = {
    "latest_price": {"chip": "H100 SXM", "region": "us-east-1", "limit": 5},
    "price_history": {"offer_id": 7, "since": "2026-01-01", "limit": 3},
    "cost_per_token": {"model": "llama-2-70b", "utilisation": 0.7, "mfu": 0.4},
    "query": {"sql": "select 1", "rows": 5, "seconds": 1.5},
    "audit_claims": {"claims": [{
        "claim_id": "a", "subject": "p5", "metric": "price_per_chip", "unit": "usd_per_hour", "as_of": "2026", "value": "9"  # noqa: E501
    }]},
}  # fmt: skip


def in_file(name: str, read: Callable[[Path], Collection[Row]]) -> Callable[[bytes], Collection[Row]]:
    """Return a reader of bytes from a reader of files."""

    def of(body: bytes) -> Collection[Row]:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).write_bytes(body)
            return read(Path(folder) / name)

    return of


def subjects(shared: Path | None) -> Iterator[Subject]:
    """Yield the readers."""
    yield Subject(
        name="prices.toml", documents={"made": PRICES.replace("Lambda", "RunPod").encode()},
        read=lambda body: of_values(prices.read("prices.toml", body, NAMES)) , derived=EVERY_RULE, unknown=EVERY_RULE,
    )  # fmt: skip
    yield Subject(
        name="fleet.csv", documents={"made": FLEET.encode()}, changes=lambda body: of_table(body.decode()),
        read=lambda body: {
            frozenset(pair for pair in each if pair[0] != "line_number")
            for each in of_values(fleet_file.read("fleet.csv", body, NAMES))
        }, derived=EVERY_LINE, unknown=EVERY_LINE,
    )  # fmt: skip
    told = [row({"setting": "all"})]
    yield Subject(
        name="chipledger.toml", documents={"made": SETTINGS.encode()},
        read=in_file("chipledger.toml", lambda path: (settings.read(path, environ={}), told)[1]),
    )  # fmt: skip
    tables = {"made": CLAIMS.encode()}
    if shared:
        lines = (shared / "data" / "seed_claims.csv").read_text().splitlines(keepends=True)
        tables["captured"] = "".join(lines[:30]).encode()
    yield Subject(
        name="claims", documents=tables, changes=lambda body: of_table(body.decode()),
        read=in_file("claims.csv", lambda path: {
            row({"id": claim.claim_id, "value": claim.value, "low": claim.low, "high": claim.high, "unit": claim.unit}) for claim in claims.read_table(path)  # noqa: E501
        }), derived=("id", "unit"), optional=tuple(claims.MODEL.fields),
    )  # fmt: skip
    yield Subject(
        name="bedrock index", documents={"made": json.dumps(bedrock_file.listed()).encode()}, changes=of_json,
        read=in_file("index.json", lambda path: of_values(self_hosting.read_bedrock(path).hosted)),
        amounts=_per_million,
        derived=("url", "provider", "as_of"),
    )  # fmt: skip
    yield Subject(
        name="journal", documents={"made": _journal()}, read=in_file("journal.jsonl", _entries), derived=ENTRY
    )
    item = Item(path="build.duckdb", size=5, sha256="0" * 64, is_private=False)
    manifest = Manifest(made_at="2026-11-21T09:00:00Z", version="1", items=(item,), log={}).text()
    yield Subject(
        name="backup manifest", documents={"made": manifest}, changes=of_json,
        read=lambda body: {row({"path": each.path}) for each in Manifest.parse(body, Path("x")).items},
    )  # fmt: skip
    api = server.ReadApi(lambda: Path("none"), lambda: NOW)
    for name, arguments in ARGUMENTS.items():
        yield Subject(
            name=f"mcp {name}", documents={"made": json.dumps(arguments).encode()}, changes=of_json,
            read=lambda body, tool=api.typed[name]: _validated(tool, body),
        )  # fmt: skip


EVERY_RULE = ("place", "rule", "valid_from", "valid_to", "contract_id", "kind", "region_id", "purchase_option",
              "discount", "accelerator_name", "form_factor", "instance_type", "service_provider_name", "tier")  # fmt: skip  # noqa: E501
EVERY_LINE = ("line_number", "instance_type", "accelerator_name", "form_factor", "purchase_option",
              "share_of_use", "service_provider_name", "commitment_term_hours", "commitment_ends_on")  # fmt: skip
ENTRY = ("kind", "content", "recorded_at")


def _per_million(body: bytes) -> set[str]:
    """Return every number of a price list in USD per million, were it per thousand tokens, or per million."""
    found = {
        Decimal(each)
        for each in re.findall(
            r"(?<![\w.])\d{1,30}(?:\.\d{1,30})?(?:[eE][-+]?\d{1,2})?", body.decode("utf-8", "replace")
        )
    }
    return {text(number * by) for number in found for by in (1, 1000, 1_000_000)}


def _validated(tool: Tool, body: bytes) -> Collection[Row]:
    try:
        arguments = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise LayoutChanged("the client's library refuses it", source="mcp") from error
    if not isinstance(arguments, dict):
        raise LayoutChanged("the client's library refuses it", source="mcp")
    try:
        tool.fn_metadata.validate_arguments(arguments)
    except ValidationError as error:
        raise server.refusal(error, tool.parameters["properties"]) from error
    return {row({"arguments": "accepted"})}


def _journal() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        landing = Landing(Path(folder))
        document = Document(source="vast", scope="all", url="https://x", body=b"{}", fetched_at=NOW)
        look = ScopeFetch(source="vast", scope="all", observed_at=NOW, complete=True, documents=(document,))
        landing.record_fetch(look, run_id="r", recorded_at=NOW)
        landing.record("failure", NOW, source="ovh", scope="FR", observed_at=stamp(NOW), error="HTTP 500", run_id="r")
        landing.record("decision", NOW, quarantine_id=7, decision="accept", decided_by="me")
        return landing.journal.file(landing.part).read_bytes()


def _entries(path: Path) -> Collection[Row]:
    return {
        row({"kind": entry.kind, "content": json.dumps(dict(entry.content), sort_keys=True),
             "recorded_at": entry.recorded_at})
        for entry in Landing(path.parent).entries()
    }  # fmt: skip
