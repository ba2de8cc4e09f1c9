"""The doctor says of each best option whether the account's quota allows one machine, through real boto3."""

from pathlib import Path

import duckdb
import pytest
from choice_file import choice_folder
from cost_file import P5, TRN1
from standin import aws, faults

from flows.config.settings import Settings
from flows.doctor import services
from flows.doctor.services import Need

P_QUOTA = "Running On-Demand P instances"


def need(instance_type: str, option: str = "on_demand", *, is_seen: bool = True) -> Need:
    return Need(instance_type, "us-east-1", option, is_seen, "fine-tuning")


@pytest.mark.parametrize(
    ("instance_type", "option", "name"),
    [
        (P5, "on_demand", P_QUOTA), (P5, "savings_plan", P_QUOTA), (P5, "reserved", P_QUOTA),
        (P5, "spot", "All P5 Spot Instance Requests"), ("p5en.48xlarge", "spot", "All P5 Spot Instance Requests"),
        ("p4d.24xlarge", "spot", "All P4, P3 and P2 Spot Instance Requests"), (P5, "capacity_block", None),
        ("p6-b200.48xlarge", "spot", None), ("p6-b200.48xlarge", "on_demand", P_QUOTA),
        (TRN1, "on_demand", "Running On-Demand Trn instances"), (TRN1, "spot", "All Trn Spot Instance Requests"),
        ("g6.xlarge", "on_demand", "Running On-Demand G and VT instances"), ("dl1.24xlarge", "on_demand", None),
    ],
)  # fmt: skip
def test_the_quota_that_counts(standin: aws.StandIn, instance_type: str, option: str, name: str | None) -> None:
    """Letters name families, and some quotas of spot name generations: one of others is none."""
    told = dict.fromkeys(standin.quotas.applied["us-east-1"], 8.0)
    assert services.quota_of(need(instance_type, option), told) == (name and (name, 8.0))


def test_newer_accounts_have_one_quota_of_spot_for_all_p() -> None:
    """AWS's page lists P5 apart in 2024, and all of P together later."""
    assert services.quota_of(need("p6-b200.48xlarge", "spot"), {"All P Spot Instance Requests": 1.0}) == (
        "All P Spot Instance Requests", 1.0,
    )  # fmt: skip


def test_allowed_not_allowed_and_not_known() -> None:
    """A p5 needs 192 vCPUs. A quota that is not listed is not 0."""

    def told(told_quotas: dict[str, float] | str, one: Need) -> tuple[object, object]:
        (row,) = services.checked([one], lambda _region: told_quotas)
        return row["result"], row["found"]

    assert told({P_QUOTA: 192}, need(P5)) == ("ok", f"{P_QUOTA}: 192 vCPUs, one needs 192")
    assert told({P_QUOTA: 191}, need(P5)) == ("warn", f"NOT ALLOWED. {P_QUOTA}: 191 vCPUs, one needs 192")
    assert told({}, need(P5)) == ("warn", "the account lists no quota that names its family")
    assert told({P_QUOTA: 1}, need("p99.48xlarge")) == (
        "warn", f"{P_QUOTA}: 1 vCPUs; how many it needs is not known",
    )  # fmt: skip
    assert told({P_QUOTA: 192}, need(P5, "capacity_block")) == (
        "warn", "no quota in vCPUs is known for capacity_block",
    )  # fmt: skip
    assert told("no answer: Timeout", need(P5, is_seen=False)) == (
        "warn", "no answer: Timeout; never seen obtainable",
    )  # fmt: skip


def of_quotas(settings: Settings) -> dict[str, tuple[object, str]]:
    """Return what the doctor says of quotas: result and finding by check."""
    rows = [row for row in services.aws(settings) if str(row["check"]).startswith("quota")]
    return {str(row["check"]): (row["result"], str(row["found"])) for row in rows}


def test_the_doctor_asks_each_region_once(standin: aws.StandIn, tmp_path_factory: pytest.TempPathFactory) -> None:
    """All pages of the region are read; p5 has what it needs, trn1 loses its quota, a block has none."""
    standin.quotas.page_size = 3
    del standin.quotas.applied["us-east-1"]["Running On-Demand Trn instances"]
    rows = of_quotas(Settings(data_dir=choice_folder(tmp_path_factory), decision={"horizon_months": 6}))

    assert all(check.endswith(" in us-east-1") for check in rows)
    assert all(found.endswith("; never seen obtainable") for _, found in rows.values())
    assert {str(r.parameters.get("MaxResults")) for r in standin.seen("quotas:us-east-1")} == {"1", "None"}
    assert standin.count("quotas:us-east-1") == 1 + 3  # the permission, and seven quotas in pages of three
    on_demand = {result for check, (result, _) in rows.items() if " p" in check and "on_demand" in check}
    blocks = {found.partition(";")[0] for check, (_, found) in rows.items() if "capacity_block" in check}
    assert on_demand == {"ok"}
    assert blocks == {"no quota in vCPUs is known for capacity_block"}


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settings:
    """Return settings of a deployment whose best options are two."""
    duckdb.connect(str(tmp_path / "prices.duckdb")).close()
    monkeypatch.setattr(services, "needed", lambda *_: [need(P5), need(TRN1)])
    return Settings(data_dir=tmp_path)


def test_a_refusal_is_named_and_nothing_else_is_said(standin: aws.StandIn, settings: Settings) -> None:
    """Throttled, no quota is taken for 0; with one region refused nothing is said of it."""
    standin.fault("quotas", faults.THROTTLED)
    assert set(of_quotas(settings).values()) == {("warn", "no answer: ThrottlingException")}


def test_without_credentials_no_quota_is_asked(
    standin: aws.StandIn, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked, and each best option still stands there."""
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    assert set(of_quotas(settings).values()) == {("warn", "not checked: no credentials")}
    assert len(of_quotas(settings)) == 2
    assert standin.count() == 0


def test_a_file_without_choices_is_a_note(standin: aws.StandIn, tmp_path: Path) -> None:
    """A file of an older version has no mart.option_ladder: the doctor says so and goes on."""
    duckdb.connect(str(tmp_path / "prices.duckdb")).close()
    (row,) = of_quotas(Settings(data_dir=tmp_path)).values()
    assert row[1].startswith("not checked: ")
    assert standin.count("quotas") == 1
