"""The doctor says which calls the credentials allow, and asks nobody where there are none."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from standin import api, aws, ec2, faults

from extract import SOURCES
from extract.aws.client import EXPIRED_HINT
from flows.cli import main
from flows.config.settings import Settings
from flows.doctor import services

ACTIONS = [each.action for each in services.PERMISSIONS]

SSO = """[profile nobody]
sso_start_url = https://example.invalid/start
sso_region = us-east-1
sso_account_id = 123456789012
sso_role_name = reader
"""
"""A profile whose session nobody has begun."""


def told(data_dir: Path) -> dict[str, tuple[object, object, object]]:
    """Return result, finding and advice of each operation."""
    rows = {row["check"]: row for row in services.aws(Settings(data_dir=data_dir))}
    return {name: (rows[name]["result"], rows[name]["found"], rows[name]["advice"]) for name in ACTIONS}


def test_the_operations_are_those_of_the_policy() -> None:
    """What the documentation asks for is what is tried out, and nothing else."""
    policy = json.loads((Path(__file__).parents[2] / "packaging/aws/prices.json").read_text(encoding="utf-8"))
    assert policy["Statement"][0]["Action"] == sorted(ACTIONS)


def test_all_allowed(standin: aws.StandIn, tmp_path: Path) -> None:
    """One request for each operation; a type that the region does not sell in blocks is an answer, not a refusal."""
    assert set(told(tmp_path).values()) == {("ok", "allowed", "")}
    assert sorted(request.operation for request in standin.seen()) == sorted(
        action.partition(":")[2] for action in ACTIONS
    )


def test_nothing_is_asked_where_no_source_of_aws_is_on(standin: aws.StandIn, tmp_path: Path) -> None:
    """The doctor said that its prices come through the public files, and tried every right."""
    off = {source.name: {"enabled": False} for source in SOURCES if source.name.startswith("aws_")}
    (row,) = services.aws(Settings(data_dir=tmp_path, sources=off))

    assert (row["result"], row["found"]) == ("ok", "no source of AWS is on")
    assert not standin.seen()


def test_one_denied(standin: aws.StandIn, tmp_path: Path) -> None:
    """What is denied is a note that says what it would add, or to log in again; the rest stays allowed."""
    standin.fault("ec2:DescribeSpotPriceHistory", ec2.UNAUTHORIZED)
    standin.fault("ec2:DescribeRegions", ec2.EXPIRED)

    rows = told(tmp_path)

    assert rows.pop("ec2:DescribeSpotPriceHistory") == (
        "warn", "denied: UnauthorizedOperation", "Would add spot prices by zone",
    )  # fmt: skip
    assert rows.pop("ec2:DescribeRegions") == ("warn", "denied: RequestExpired", EXPIRED_HINT)
    assert set(rows.values()) == {("ok", "allowed", "")}


@pytest.mark.parametrize("operation", ["GetProducts", "GetAttributeValues"])
def test_where_prices_come_from_without_a_right(standin: aws.StandIn, tmp_path: Path, operation: str) -> None:
    """A run reads the public files then, unless its setting is the API."""
    standin.fault(f"api:{operation}", faults.ACCESS_DENIED)

    def where(**chosen: str) -> object:
        return services.aws(Settings(data_dir=tmp_path, sources={"aws_price_list": chosen}))[0]["found"]

    assert where() == f"through the public bulk files, as pricing:{operation} is denied"
    assert where(access="api") == "through the Price List API, with the credentials found"
    standin.heal()
    assert where() == "through the Price List API, with the credentials found"


def test_what_is_not_known_is_not_denied(standin: aws.StandIn, tmp_path: Path) -> None:
    """An error that passes, or a page for people, says nothing of the permission, and is not tried again."""
    standin.fault("api:GetProducts", faults.THROTTLED)
    standin.fault("ec2:DescribeRegions", faults.Reset())
    standin.fault("ec2:DescribeInstanceTypes", faults.Html("<br>"))

    rows = told(tmp_path)

    assert rows["pricing:GetProducts"][:2] == ("warn", "no answer: ThrottlingException")
    assert rows["ec2:DescribeRegions"][:2] == ("warn", "no answer: ConnectionClosedError")
    assert rows["ec2:DescribeInstanceTypes"][:2] == ("warn", "not checked: ResponseParserError")
    assert (standin.count("api:GetProducts"), standin.count("ec2:DescribeRegions")) == (1, 1)


def test_without_credentials_nobody_is_asked(
    standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No request is made, and each row says what credentials would add."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")

    rows = told(tmp_path)

    assert {(result, found) for result, found, _ in rows.values()} == {("warn", "not checked: no credentials")}
    assert all(str(advice).startswith("Would add ") for _, _, advice in rows.values())
    assert standin.count() == 0


def test_a_profile_that_does_not_exist_is_named_by_its_error(
    standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Broken settings of AWS are a note, not a traceback; a run reads the public files then."""
    monkeypatch.setenv("AWS_PROFILE", "nobody")

    where = services.aws(Settings(data_dir=tmp_path))[0]["found"]
    assert where == "through the public bulk files, as the credentials found do not work (not checked: ProfileNotFound)"
    (found,) = {(result, found) for result, found, _ in told(tmp_path).values()}
    assert found == ("warn", "not checked: ProfileNotFound")
    (tmp_path / "config").write_text(SSO, encoding="utf-8")
    for name, value in {"CONFIG_FILE": str(tmp_path / "config"), "ACCESS_KEY_ID": "", "SECRET_ACCESS_KEY": ""}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    assert {found for _, found, _ in told(tmp_path).values()} == {"not checked: SSOTokenLoadError"}
    assert caplog.text == ""
    assert standin.count() == 0


def test_keys_are_not_shown(standin: aws.StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Wrong keys are denied by name of the error, with exit code 0, and stand nowhere in the output."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIASOMEBODYELSE0000")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not to be seen")
    message = "Credential=AKIASOMEBODYELSE0000/20261121/us-east-1/ec2/aws4_request"
    standin.fault("ec2", ec2.QueryError("IncompleteSignature", message))

    file = tmp_path / "chipledger.toml"
    others = (source.name for source in SOURCES if source.name != "aws_price_list")
    file.write_text("".join(f"[sources.{name}]\nenabled = false\n" for name in others))
    for more in ([], ["--json"]):
        done = CliRunner().invoke(main.main, ["--settings", str(file), "--data-dir", str(tmp_path), "doctor", *more])
        assert done.exit_code == 0, done.output
        assert done.output.count("denied: ") == len(ACTIONS)
        assert "denied: UnrecognizedClientException" in done.output
        for secret in ("AKIA", "not to be seen", api.SECRET_KEY + '"'):
            assert secret not in done.output
