"""Imports of observations: what a row becomes, and which rows their own collector takes back."""

import re
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from extract import observations
from warehouse.documents import Document
from warehouse.errors import LayoutChanged
from warehouse.reference.accelerators import resolve

HEADER = "observed_at_utc,provider,region,pricing,usd_per_hour,gpu,gpu_count,source,tier_raw,gpu_raw,flags"
DOUBTFUL = (
    "suspect_label_price_of_next_card", "suspect_tier_preemptible_as_on_demand", "suspect_label_nvl",
    "placeholder_community_price", "placeholder_or_mig_slice", "unit_unknown", "unit_mixed_row",
    "blended_tier_lowestPrice", "min_over_sizes_may_include_spot", "stale_carried_forward", "fx_converted_eur",
)  # fmt: skip
"""Flags of the neoclouds' history whose rows are no prices."""


def document(*rows: str, header: str = HEADER) -> Document:
    """Return a CSV of rows, each the price, source, tier, raw label and flags of eight H100 at Lambda."""
    lines = [f"2026-05-01T10:00:00Z,lambda,,on_demand,{row}" for row in rows]
    body = "\n".join([header, *lines]).encode()
    now = datetime(2026, 11, 21, tzinfo=UTC)
    return Document(source="import", scope="seen.csv", url="seen.csv", body=body, fetched_at=now)


def flags(text: str) -> str:
    return f"31.92,H100,8,me/prices,api,H100 SXM,{text}"


@pytest.mark.parametrize("flag", DOUBTFUL)
@pytest.mark.parametrize("text", ["{}", "cheapest_listed;{}", "{} ; api_price"])
def test_a_flagged_row_is_no_price_and_is_kept_with_its_flag(flag: str, text: str) -> None:
    """Also beside other flags; the rest of the file is read."""
    seen = document(flags(text.format(flag)), flags(""))
    observed = observations.parse(seen)
    assert {origin: len(rows) for origin, rows in observed.prices.items()} == {"me/prices": 1}
    [(origin, rows)] = observed.set_aside.items()
    assert (origin, rows["value"].to_list(), rows["unit_price"].to_list()) == ("me/prices", [flag], ["31.92"])
    assert rows.select("field", "is_withdrawn").row(0) == ("flags", True)


@pytest.mark.parametrize(
    "text",
    ["", "api_price", "no_capacity", "unit_fixed_instance_to_gpu", "label_fixed_was_H200", "form_factors_merged",
     "git_commit_date", "aggregator_getdeploying", "via_prime_intellect", "page_price", "sold_out", "API_price"],
)  # fmt: skip
def test_harmless_flags_take_nothing_back(text: str) -> None:
    """What was repaired, or says where a price comes from, stays: also a price at which nothing was free."""
    observed = observations.parse(document(flags(text)))
    assert observed.set_aside == {}
    assert observed.prices["me/prices"]["statistic"].to_list() == ["price"]


@pytest.mark.parametrize(
    ("text", "flag"),
    [("eur_to_usd", "eur_to_usd"), ("api_price;currency_converted", "currency_converted"), ("s", "s"), ("??", "??"),
     ("aggregator_estimated", "aggregator_estimated"), ("via_fx_feed", "via_fx_feed"), ("via_x;suspect", "suspect"),
     ("min_over_", "min_over_"), ("unmedian_of_offers", "unmedian_of_offers"), ("not_doubtful", "not_doubtful")],
)  # fmt: skip
def test_any_other_flag_holds_its_row(text: str, flag: str) -> None:
    """Whoever writes it, and in whatever words: also one that was cut short with its file. A person decides."""
    observed = observations.parse(document(flags(text)))
    assert observed.prices == {}
    (kept,) = observed.set_aside.values()
    assert kept.select("field", "value", "is_withdrawn", "unit_price").rows() == [("flags", flag, False, "31.92")]


def test_an_origin_of_flagged_rows_alone_has_no_prices() -> None:
    """Nothing of it is loaded as a price."""
    seen = document(flags("unit_unknown"), flags("unit_unknown"), flags("fx_converted_eur"))
    observed = observations.parse(seen)
    assert observed.prices == {}
    assert len(observed.set_aside["me/prices"]) == 3


@pytest.mark.parametrize(
    ("text", "statistic"),
    [("median_of_offers", "median"), ("median_from_report", "median"), ("aggregator;median_of_offers", "median"),
     ("cheapest_listed", "floor"), ("cheapest_live_offer", "floor"), ("cheapest_listed;api_price", "floor")],
)  # fmt: skip
def test_the_middle_and_the_least_are_no_prices(text: str, statistic: str) -> None:
    """Each is a statistic of its own, so that it is never compared with a price."""
    assert observations.parse(document(flags(text))).prices["me/prices"]["statistic"].to_list() == [statistic]


def test_the_label_is_the_collectors_own_words() -> None:
    """The raw name identifies the chip, and a cautious reading stands in where there is none; the tier is kept."""
    rows = observations.parse(
        document("3,H100-SXM,1,me@abc,secure,NVIDIA H100 80GB HBM3,", "3,H100-SXM,1,me@def,Secure Cloud,,")
    ).prices["me"]
    assert rows.select("accelerator_label", "accelerator_count", "tier").rows() == [
        ("NVIDIA H100 80GB HBM3", "1", "secure"),
        ("H100-SXM", "1", "Secure Cloud"),
    ]


def test_rows_set_aside_have_the_columns_of_prices() -> None:
    """And why, so that they can be kept beside them."""
    observed = observations.parse(document(flags("unit_unknown"), flags("")))
    prices, aside = observed.prices["me/prices"], observed.set_aside["me/prices"]
    why = ("reason", "field", "value", "is_withdrawn")
    assert aside.drop(why).schema == prices.schema
    assert aside.drop(why).equals(prices)
    assert aside.select(why).schema == dict(zip(why, (pl.String, pl.String, pl.String, pl.Boolean), strict=True))


def test_flags_may_be_missing() -> None:
    """A file without the column has no doubtful rows; one without prices is no such file."""
    plain = document("3,H100,1", header="observed_at_utc,provider,region,pricing,usd_per_hour,gpu,gpu_count")
    observed = observations.parse(plain)
    assert observed.set_aside == {}
    assert [len(rows) for rows in observed.prices.values()] == [1]
    with pytest.raises(LayoutChanged, match="usd_per_hour"):
        observations.parse(document("H100,1", header="observed_at_utc,provider,region,pricing,gpu,gpu_count"))


def documented(head: str) -> list[str]:
    """Return the flags of a table of docs/importing.md, found by its first line."""
    text = (Path(__file__).parents[2] / "docs" / "importing.md").read_text()
    table = text.split(head)[1].split("\n\n")[0]
    return [word for line in table.splitlines()[2:] for word in re.findall(r"`([\w…]+)`", line.split("|")[1])]


def test_the_flags_are_documented() -> None:
    """docs/importing.md names the beginning of each flag that withdraws a row, and flags of every harmless kind."""
    assert documented("| flag | why the row is no price |") == list(observations.WITHDRAWN)
    harmless = documented("| flag | meaning |")
    assert len(harmless) > 20
    for flag in harmless:
        assert not observations.parse(
            document(flags(flag.replace("NAME", "somebody").replace("…", "was_H200")))
        ).set_aside


@pytest.mark.parametrize("nothing", ["nan", "NULL", "None", "n/a", "<NA>"])
def test_what_programs_write_for_nothing_is_no_machine(nothing: str) -> None:
    """Taken for an instance type it would put the chip's own label aside; for a region, AWS would have one more."""
    told = f"1.5,H100,8,me,{nothing},{nothing},,{nothing}"
    (rows,) = observations.parse(document(told, header=f"{HEADER},instance_type")).prices.values()
    assert rows.select("instance_type", "accelerator_label", "accelerator_count").row(0) == (None, "H100", "8")
    here = prices(seen("instance_type", f"aws,{nothing},on_demand,55.04,p5.48xlarge"), "region_id")
    seller = prices(seen("gpu,gpu_count", f"{nothing},,on_demand,3,H100,1"), "service_provider_name")
    # The row gate refuses AWS's without a region, and what nobody sells.
    assert (here, rows["tier"].to_list(), seller) == ([(None,)], [None], [(None,)])


NAMES = "observed_at_utc,provider,region,pricing,usd_per_hour"
"""The columns of the files below, before those that each test is about."""


def seen(columns: str, *rows: str, header: str = NAMES) -> observations.Observed:
    """Return what a CSV says that has these columns behind `header`, and rows of a day."""
    body = "\n".join([f"{header},{columns}", *(f"2026-05-01,{row}" for row in rows)]).encode()
    now = datetime(2026, 11, 21, tzinfo=UTC)
    return observations.parse(Document(source="import", scope="me.csv", url="me.csv", body=body, fetched_at=now))


def prices(observed: observations.Observed, *columns: str) -> list[tuple[object, ...]]:
    """Return columns of the one origin's prices."""
    return observed.prices["me"].select(columns).rows() if observed.prices else []


def aside(observed: observations.Observed) -> list[tuple[object, ...]]:
    """Return field, value and reason of what is set aside and waits for a person."""
    rows = observed.set_aside["me"]
    assert not rows["is_withdrawn"].any()
    return rows.select("field", "value", "reason").rows()


def test_the_chip_speaks_where_its_raw_name_cannot_be_read() -> None:
    """The raw words stay in the label, so that two machines of one chip stay two offers; both have a price per chip.

    Where both name a chip and not the same, as collectors that repaired only one of them have it, the row waits.
    """
    whole_row = "NVIDIA H100 SXM 80 GB 208 1800 GiB 22 TiB SSD"
    observed = seen(
        "gpu,gpu_count,gpu_raw",
        f"crusoe,us-1,on_demand,31.20,H100-SXM,8,{whole_row}",
        "crusoe,us-1,on_demand,31.20,H100-SXM,8,NVIDIA H100 SXM5 80GB",
        "crusoe,us-1,on_demand,31.20,warp core,8,flux capacitor",
        "lambda,,on_demand,1.49,GH200,1,H200",
    )
    assert aside(observed) == [("instance_type", "H200", "the chip is GH200, and in the provider's words H200")]
    labels = [label for (label,) in prices(observed, "accelerator_label")]
    assert labels == [f"H100-SXM [{whole_row}]", "NVIDIA H100 SXM5 80GB", "flux capacitor"]
    chips = [resolve(str(label), "crusoe") for label in labels]
    assert [chip and (chip.accelerator_name, chip.form_factor) for chip in chips] == [("H100", "SXM")] * 2 + [None]
    assert observed.notes == ("me.csv: 1 price without a known chip and number of chips: flux capacitor 1",)


def test_the_chip_speaks_beside_a_machine_that_no_table_has() -> None:
    """A machine keeps its name, and has the chip and count of its row; where that has none, it is told."""
    observed = seen(
        "instance_type,gpu,gpu_count",
        "azure,eastus,on_demand,88.488,Standard_ND96x_H100_v9,H100,8",
        "azure,eastus,on_demand,24.48,Standard_ND40s_v2,,",
    )
    assert prices(observed, "instance_type", "accelerator_label", "accelerator_count") == [
        ("Standard_ND96x_H100_v9", "H100", "8"),
        ("Standard_ND40s_v2", None, None),
    ]
    assert observed.notes == ("me.csv: 1 price without a known chip and number of chips: Standard_ND40s_v2 1",)


def test_the_table_speaks_for_machines_of_the_big_clouds() -> None:
    """And the names of slices of TPUs; the network too, as in prices that are fetched. Another chip or number waits.

    Else the price of one chip of a p5.48xlarge would be that of the machine, an eighth a chip-hour.
    """
    observed = seen(
        "instance_type,gpu,gpu_count",
        "azure,eastus,on_demand,98.32,Standard_ND96isr_H100_v5,,",
        "gcp,us-central1,on_demand,88.49,a3-highgpu-8g,H100,8.00",
        "azure,eastus,on_demand,32.77,Standard_ND96amsr_A100_v4,A100,8",
        "aws,us-east-1,on_demand,21.957642,p4d.24xlarge,A100,8.0",
        "azure,eastus,on_demand,98.32,Standard_ND96isr_H100_v5,A100-80GB,8",
        "azure,eastus,on_demand,98.32,Standard_ND96isr_H100_v5,H100,1",
        "aws,us-east-1,on_demand,6.88,p5.48xlarge,H100,1",
        "aws,us-east-1,on_demand,21.957642,p4d.24xlarge,A100 80GB,8",
        "gcp,us-east5,on_demand,21.6,v6e-8,,",
        "gcp,us-east5,on_demand,16.8,,v5p-8,",
        "gcp,us-east5,on_demand,2.7,v6e-8,TPU v6e,1",
        "Acme,us,on_demand,2.7,v6e-8,,",
    )
    assert prices(observed, "instance_type", "accelerator_label", "accelerator_count", "fabric") == [
        ("Standard_ND96isr_H100_v5", "NVIDIA H100 SXM 80GB", "8", "InfiniBand"),
        ("a3-highgpu-8g", "NVIDIA H100 SXM 80GB", "8", None),
        ("Standard_ND96amsr_A100_v4", "NVIDIA A100 SXM 80GB", "8", "InfiniBand"),
        ("p4d.24xlarge", None, None, None),
        ("v6e-8", "TPU v6e", "8", None),
        (None, "TPU v5p", "4", None),
        ("v6e-8", None, None, None),
    ]
    assert observed.set_aside["me"]["reason"].to_list() == [
        "a machine of NVIDIA H100 SXM 80GB, and the chip is A100-80GB", "a machine of 8 chips, and the count is 1",
        "a machine of 8 chips, and the count is 1", "a machine of A100-40GB, and the chip is A100 80GB",
        "a machine of 8 chips, and the count is 1",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["p9.48xlarge", "trn9.48xlarge", "ml.p9.48xlarge", "p5.49", "H100", "p5,48xlarge"])
def test_an_instance_type_that_aws_does_not_have_waits(name: str) -> None:
    """One of an accelerator family is never taken for a machine without accelerators, nor a misspelt one for any."""
    observed = seen("instance_type", f'aws,us-east-1,on_demand,99,"{name}"')
    assert observed.prices == {}
    assert aside(observed) == [("instance_type", name, "not an instance type of AWS that is known")]


def test_machines_without_accelerators_are_left_out_and_counted() -> None:
    """A whole list of AWS has hundreds of them; other providers' are those whose count of chips is 0."""
    observed = seen(
        "instance_type,gpu,gpu_count",
        "aws,us-east-1,on_demand,0.096,m5.large,,",
        "aws,us-east-2,on_demand,0.096,m5.large,,",
        "aws,us-east-1,on_demand,5.4,u-6tb1.56xlarge,,",
        "azure,eastus,on_demand,0.1,Standard_D2s_v5,,0",
        "aws,us-east-1,on_demand,55.04,p5.48xlarge,,",
    )
    assert prices(observed, "instance_type") == [("p5.48xlarge",)]
    assert observed.set_aside == {}
    counted = "m5.large 2, Standard_D2s_v5 1, u-6tb1.56xlarge 1"
    assert observed.notes == (f"me.csv: 4 rows left out, of machines without accelerators: {counted}",)


def test_a_zone_of_aws_waits_for_its_id() -> None:
    """describe-spot-price-history names zones; us-east-1a is another one in each account. Others' are their own."""
    columns = "instance_type,gpu,gpu_count,availability_zone_id"
    zones = ("us-east-1a", "us-east-1-bos-1a", "use1-az2", "use1-bos1-az1", "")
    observed = seen(columns, *(f"aws,us-east-1,spot,18,p5.48xlarge,,,{zone}" for zone in zones))
    assert [value for _, value, _ in aside(observed)] == [*zones[:2]]
    assert prices(observed, "availability_zone_id") == [("use1-az2",), ("use1-bos1-az1",), (None,)]
    assert len(seen(columns, "gcp,us-central1,spot,3,,H100,1,us-central1-a").prices["me"]) == 1


@pytest.mark.parametrize(
    "region", ["mars-west-9", "us-east-9", "us-east-1a", "US East (N. Virginia)", "aws", "us-east-1-"]
)
def test_a_region_that_aws_does_not_have_waits(region: str) -> None:
    """Another provider's regions are its own."""
    observed = seen("instance_type", f"aws,{region},on_demand,55.04,p5.48xlarge")
    assert observed.prices == {}
    assert aside(observed) == [("region", region, "not a region of AWS that is known")]
    assert len(seen("gpu,gpu_count", f"nebius,{region},on_demand,3,H100,1").prices["me"]) == 1


def test_every_region_of_the_shared_histories_is_one(shared: Path) -> None:
    """Local and Wavelength Zones, GovCloud and the regions of 13 years among them."""
    names = {"aws_multi_region_2025_2026.csv", "aws_accelerator_offerings_by_az.csv", "aws_on_demand_history.csv",
             "aws_reserved_and_on_demand_2013_2017.csv"}  # fmt: skip
    found = {region for name in names for region in pl.read_csv(shared / "data" / name, infer_schema=False)["region"]}
    assert len(found) == 94
    rows = [f"aws,{region},on_demand,55.04,p5.48xlarge" for region in sorted({*found, "eusc-de-east-1"})]
    assert len(prices(seen("instance_type", *rows), "region_id")) == len(rows)


def test_a_price_has_its_own_currency() -> None:
    """Yuan, euros and dollars stand in `price_per_hour` as they are asked; without a currency there is no price."""
    header = "observed_at_utc,provider,region,pricing,price_per_hour"
    observed = seen(
        "currency,instance_type",
        "aws,cn-north-1,on_demand,165.5,CNY,p3.16xlarge",
        "aws,eu-west-1,on_demand,50,eur,p5.48xlarge",
        "aws,eu-west-1,on_demand,50,,p5.48xlarge",
        header=header,
    )
    assert prices(observed, "pricing_currency", "unit_price") == [("CNY", "165.5"), ("EUR", "50"), (None, "50")]
    with pytest.raises(LayoutChanged, match="the header lacks currency with price_per_hour"):
        seen("instance_type", header=header)
    # Another program's table: that one of its columns is spelt as ours, but for its case, is not what is wrong.
    with pytest.raises(LayoutChanged, match=r"pricing, instance_type \(or gpu and gpu_count\), usd"):
        seen("Price,SpotPrice", header="InstanceType,AcceleratorName,AcceleratorCount,Region,")


def test_a_price_of_china_states_its_currency() -> None:
    """AWS asks CNY there: dollars that nobody stated are none."""
    rows = ("aws,cn-north-1,on_demand,165.5,p3.16xlarge,", "aws,cn-north-1,on_demand,23.1,p3.16xlarge,USD")
    observed = seen("instance_type,currency", *rows)
    assert prices(observed, "unit_price", "pricing_currency") == [("23.1", "USD")]
    assert aside(observed) == [("currency", "cn-north-1", "in China, and the row states no currency")]
    assert observed.set_aside["me"]["pricing_currency"].to_list() == [None]  # so that it cannot be accepted either


def test_a_row_has_one_price() -> None:
    """Two amounts in two columns contradict each other, or one is converted: which of them was asked is not said."""
    observed = seen("price_per_hour,currency,instance_type", "aws,us-east-1,on_demand,55.04,50,EUR,p5.48xlarge")
    assert observed.prices == {}
    assert aside(observed) == [("price_per_hour", "50", "usd_per_hour and price_per_hour are both filled in")]


def test_reserved_terms_keep_class_and_fee_apart() -> None:
    """Standard and convertible are two offers, the fee stands beside the hour's price, in its currency."""
    observed = seen(
        "instance_type,term,payment,offering_class,upfront_usd,currency",
        "aws,us-east-1,reserved,7.4,p5.48xlarge,1yr,Partial Upfront,Standard,65000,",
        "aws,us-east-1,reserved,8.4,p5.48xlarge,1yr,Partial Upfront,convertible,73000,USD",
    )
    assert prices(observed, "offering_class", "unit_price", "upfront_price") == [
        ("standard", "7.4", "65000"), ("convertible", "8.4", "73000")
    ]  # fmt: skip
    other = seen(
        "currency,instance_type,term,payment,upfront_usd",
        "aws,us-east-1,reserved,7.4,EUR,p5.48xlarge,1yr,Partial Upfront,65000",
        header="observed_at_utc,provider,region,pricing,price_per_hour",
    )
    assert aside(other) == [("upfront_usd", "65000", "an upfront fee in dollars with a price in another currency")]


def test_a_term_that_is_not_read_holds_its_row() -> None:
    """Else two terms would be one offer, whose price seems to move."""
    rows = (f"aws,us-east-1,reserved,7.4,p5.48xlarge,{term}" for term in ("2yr", "6mo", "1 Year", ""))
    observed = seen("instance_type,term", *rows)
    assert prices(observed, "commitment_term_hours") == [(8760,), (None,)]
    assert aside(observed) == [("term", value, "a term other than 1yr and 3yr") for value in ("2yr", "6mo")]


def test_a_nul_holds_its_row() -> None:
    """A damaged cell is no tier or provider of its own."""
    observed = observations.parse(document("31.92,H100,8,me/prices,ba\0sic,H100 SXM,", flags("")))
    assert observed.set_aside["me/prices"].select("reason", "value").rows() == [("a cell has a NUL", "lambda")]
    assert len(observed.prices["me/prices"]) == 1


def test_spot_has_its_zone() -> None:
    """Two zones of a region are two offers."""
    observed = seen(
        "instance_type,availability_zone_id",
        "aws,us-east-1,spot,14.8,p5en.48xlarge,use1-atl2-az1",
        "aws,us-east-1,spot,23.8,p5en.48xlarge,use1-az2",
    )
    assert prices(observed, "availability_zone_id", "unit_price") == [("use1-atl2-az1", "14.8"), ("use1-az2", "23.8")]


def test_columns_that_are_not_read_are_named() -> None:
    """Those first that look like money or terms: they may change what the price means."""
    observed = seen("gpu,gpu_count,note,usd_per_gpu_hour,lease_months", "nebius,eu,on_demand,24,H100,8,x,3,1")
    assert observed.notes == (
        "me.csv: columns not read that may be money or terms: usd_per_gpu_hour, lease_months",
        "me.csv: other columns not read: note",
    )


def test_a_part_of_a_chip_is_stated_once() -> None:
    """In the name, beside a count of such parts; stated in both, nobody knows which of them was meant."""
    sound = [("1/2 L40S", "1"), ("PRO 6000 MIG 24GB", "2.0"), ("A10", "0.5")]
    rows = (*sound, ("1/2 L40S", "0.5"), ("RTX PRO 6000 MIG 1g.24gb", "0.25"))
    observed = seen("gpu,gpu_count", *(f"vultr,ewr,on_demand,0.8,{chip},{count}" for chip, count in rows))
    assert prices(observed, "accelerator_label", "accelerator_count") == sound
    assert aside(observed) == [
        ("instance_type", name, "the name and the count both state a part of a chip")
        for name in ("1/2 L40S", "RTX PRO 6000 MIG 1g.24gb")
    ]


@pytest.mark.parametrize(
    ("written", "name"),
    [
        *(("Lambda Cloud", "Lambda"), ("Crusoe Cloud", "Crusoe"), ("Nebius AI Cloud", "Nebius"), ("lium.io", "Lium")),
        *(("Verda (DataCrunch)", "Verda"), ("datacrunch.io", "Verda"), ("Amazon AWS", "AWS"), ("Lambda.ai", "Lambda")),
        *(("Google Cloud", "Google Cloud"), ("Together AI", "Together AI"), ("IBM Cloud", "IBM Cloud")),
        *(("Hyperbolic Labs", "Hyperbolic"), ("lambdalabs", "Lambda"), ("AWS EC2", "AWS")),
        ("TensorDock", "tensordock"),  # as it stands in the archive, and among the marketplaces
        # Its tiers have prices of their own.
        ("RunPod Community Cloud", "RunPod Community Cloud"),
    ],
)
def test_a_provider_is_known_by_the_longer_names_of_tables(written: str, name: str) -> None:
    """By another name its prices would be held against no other source's."""
    region = "us-east-1" if name == "AWS" else "x"
    observed = seen("gpu,gpu_count", f"{written},{region},on_demand,2,H100,1")
    assert prices(observed, "service_provider_name") == [(name,)]
    assert observations.provider_named(written) == name


def test_a_provider_has_the_name_that_a_source_gives_it() -> None:
    """The same of prices fetched, backfilled from SkyPilot's catalogues and imported; a name nobody has stays."""
    written = ("vast.ai", "hot-aisle", "prime-intellect", "cudo", "DataCrunch", "somebody")
    observed = seen("gpu,gpu_count", *(f"{name},x,on_demand,2,H100,1" for name in written))
    assert [name for (name,) in prices(observed, "service_provider_name")] == [
        "Vast.ai", "Hot Aisle", "Prime Intellect", "CUDO Compute", "Verda", "somebody",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        *((text, "2026-05-01 10:00:00") for text in ("2026-05-01T10:00:00Z", "2026-05-01T10:00Z", "2026-05-01 10:00")),
        *((f"2026-05-01 {text}", "2026-05-01 10:00:00") for text in ("12:00:00+02", "04:30-0530", "10:00:00.0 UTC")),
        ("2026-05-01T12:00:00.25+02:00", "2026-05-01 10:00:00.250000"),
        ("2026-05-01", "2026-05-01 00:00:00"),
        *((text, "None") for text in ("05/01/2026", "2026-05-01 10:00 CET", "1777629600", "2026-05-01-05")),
    ],
)
def test_a_time_is_iso_8601_or_what_databases_print(text: str, utc: str) -> None:
    """It is UTC without a zone; seconds may be left out. What may be another day or hour is no time."""
    body = f"{NAMES},gpu,gpu_count\n{text},Google Cloud Platform,us-east1,on_demand,3,H100,1".encode()
    now = datetime(2026, 11, 21, tzinfo=UTC)
    observed = observations.parse(Document(source="import", scope="me.csv", url="me.csv", body=body, fetched_at=now))
    [(moment, provider)] = prices(observed, "observed_at", "service_provider_name")
    assert (str(moment), provider) == (utc, "Google Cloud")
