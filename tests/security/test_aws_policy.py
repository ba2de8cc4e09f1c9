"""The policies that are shipped allow what is really called, and nothing else."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from standin import aws

from extract import SOURCES
from extract.base import Context
from extract.web.http import HttpWeb
from flows.config.settings import MailSettings, Settings
from flows.doctor import services
from flows.mail import sending

ROOT = Path(__file__).parents[2]
POLICIES = ROOT / "packaging/aws"
NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
OF_AWS = [source for source in SOURCES if source.provider == "AWS" and source.kind == "live"]
PUBLIC_FILES_ALONE = {"aws_capacity_block_rates", "aws_price_pages", "aws_spot_feed"}
ONE_OPERATION_TWO_ACTIONS = {"ses:SendEmail": {"ses:SendEmail", "ses:SendRawEmail"}}
"""SES v2 checks the name of its first version, too, where a message is sent raw."""
COMMANDS = {
    r"s3api list-objects-v2": {"s3:ListBucket"},
    r"s3 cp \S+ \"s3://": {"s3:GetObject"},
    r"s3 cp \S+ \S+ \"s3://|s3 sync \S+ \S+ \"s3://": {"s3:PutObject", "s3:ListBucket"},
}
"""What the commands of the example with a bucket call, by pattern; from the CLI's own description of them."""

Statement = dict[str, Any]


def statements(name: str) -> list[Statement]:
    found: list[Statement] = json.loads((POLICIES / name).read_text(encoding="utf-8"))["Statement"]
    return found


def allowed(name: str) -> set[str]:
    return {action for statement in statements(name) for action in statement["Action"]}


@pytest.fixture
def called(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the actions that are called from now on, by botocore's own event before each call."""
    actions: set[str] = set()
    create = botocore.session.Session.create_client

    def note(model: Any, **_: Any) -> None:
        actions.add(f"{model.service_model.signing_name}:{model.name}")

    def watched(self: Any, *given: Any, **named: Any) -> Any:
        client = create(self, *given, **named)
        client.meta.events.register("before-call", note)
        return client

    monkeypatch.setattr(botocore.session.Session, "create_client", watched)
    return actions


def test_prices_need_what_the_policy_allows_and_no_more(standin: aws.StandIn, called: set[str], tmp_path: Path) -> None:
    """Every source of AWS is read, through its API where it has one, and the doctor looks at all."""
    by_source = {}
    for source in OF_AWS:
        before = set(called)
        if source.name in PUBLIC_FILES_ALONE:
            continue
        chosen = {"regions": ["us-east-1"], "access": "api", "instance_types": ["p5.48xlarge"]}
        ctx = Context(
            web=HttpWeb(),
            settings={name: value for name, value in chosen.items() if name in source.settings},
            now=lambda: NOW,
        )
        called.clear()
        assert source.fetch(ctx, "us-east-1" if "us-east-1" in source.scopes(ctx) else source.scopes(ctx)[0]).documents
        by_source[source.name] = set(called)
        called.update(before)
    assert [name for name, actions in by_source.items() if not actions] == []
    called.update(*by_source.values())
    services.aws(Settings(data_dir=tmp_path))
    assert called == allowed("prices.json")


def test_every_source_asks_for_what_it_can_do_without_a_list_of_regions(standin: aws.StandIn, called: set[str]) -> None:
    """The lists of regions are asked for by the same operations, not by others."""
    for source in OF_AWS:
        if source.name not in PUBLIC_FILES_ALONE:
            chosen = {"access": "api", "regions": "all", "bulk_url": standin.url}
            settings = {name: value for name, value in chosen.items() if name in source.settings}
            source.scopes(Context(web=HttpWeb(), settings=settings, now=lambda: NOW))
    assert called <= allowed("prices.json")


def test_mail_needs_what_its_policy_allows_and_no_more(
    called: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message that is sent, and the doctor's question; nobody answers, as the call alone counts."""
    for name, value in (("ACCESS_KEY_ID", "x"), ("SECRET_ACCESS_KEY", "x"), ("CONFIG_FILE", str(tmp_path / "none"))):
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("AWS_ENDPOINT_URL_SESV2", "http://127.0.0.1:9")
    chosen = MailSettings(sender="a@example.com", to=("b@example.com",), transport="ses", region="eu-west-1")
    post = sending.Ses(chosen)
    message = sending.EmailMessage()
    with pytest.raises((sending.Refused, sending.Uncertain)):
        post.hand_over(message, sender=chosen.sender, to="b@example.com", before=lambda: None)
    from flows.doctor.services import _ses

    assert _ses(chosen)["result"] == "fail"
    assert set().union(*(ONE_OPERATION_TWO_ACTIONS.get(each, {each}) for each in called)) == allowed("mail.json")


def test_the_bucket_needs_what_its_policy_allows_and_no_more() -> None:
    """Of the commands in the example; each of them is one that is known here."""
    text = (ROOT / "docs/examples/prices-in-a-bucket.yml").read_text(encoding="utf-8")
    commands = re.findall(r"aws (s3\S* .*)", text)
    needed: set[str] = set()
    for command in commands:
        found = [actions for pattern, actions in COMMANDS.items() if re.match(pattern, command)]
        assert found, command
        needed |= set().union(*found)
    assert needed == allowed("bucket.json")
    assert "--delete" not in text
    assert "s3:DeleteObject" not in allowed("bucket.json")


@pytest.mark.parametrize("name", sorted(path.name for path in POLICIES.glob("*.json")))
def test_a_policy_names_each_action_once_and_whole(name: str) -> None:
    """No wildcard in an action, no denial to hide one, and every resource but of lookups is named."""
    actions = [action for statement in statements(name) for action in statement["Action"]]
    assert all(re.fullmatch(r"[a-z0-9]+:[A-Za-z0-9]+", action) for action in actions)
    assert {statement["Effect"] for statement in statements(name)} == {"Allow"}
    for statement in statements(name):
        if statement["Resource"] == "*":
            assert all(re.match(r"\w+:(Get|Describe|List)", action) for action in statement["Action"])


def test_the_page_shows_the_file() -> None:
    """Letter for letter."""
    text = (ROOT / "docs/settings.md").read_text(encoding="utf-8")
    assert (POLICIES / "prices.json").read_text(encoding="utf-8") in text
