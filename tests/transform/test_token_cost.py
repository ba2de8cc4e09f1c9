"""What a million tokens costs: the worked points, the formulas recomputed from the row, and what is left out."""

import re
from decimal import Decimal
from pathlib import Path
from statistics import median

import duckdb
import pytest
from cost_file import P5, P5EN, P6, lines, neocloud, putting_costs, run, values
from cost_world import cost_files
from looks import row
from purchase import plan, seen, term


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give a file of day 0, one 89 days after another price of p5en.48xlarge, and one 91 days after it."""
    return cost_files(tmp_path_factory)


@pytest.fixture(scope="module")
def file(files: dict[str, Path]) -> Path:
    """Give the file of day 0."""
    return files["before"]


@pytest.mark.parametrize(
    ("instance_type", "option", "scenario", "precision", "rate", "cost"),
    [
        (P5, "on_demand", "Server", "fp8", 3821, 0.50),
        (P5, "capacity_block", "Server", "fp8", 3821, 0.385),  # 5.191 / (23.5 / 24), of a block's usable hours
        (P5EN, "on_demand", "Server", "fp8", 4156, 0.53),
        (P5EN, "on_demand", "Interactive", "fp8", 2554, 0.86),
        (P6, "on_demand", "Server", "fp4", 12398, 0.32),
    ],
)
def test_worked_points(
    file: Path, instance_type: str, option: str, scenario: str, precision: str, rate: float, cost: float
) -> None:
    """Llama-2-70B in MLPerf Inference at list prices, full load: as worked out by hand before."""
    (line,) = lines(
        file,
        "from int.token_cost where model_name = 'llama-2-70b' and benchmark = 'MLPerf Inference' and "
        f"evidence_grade = 'A' and scenario = '{scenario}' and precision = '{precision}' and "
        f"instance_type = '{instance_type}' and "
        f"purchase_option = '{option}' and utilisation = 1 qualify n_runs = max(n_runs) over ()",
    )

    assert line["median_output_rate"] == pytest.approx(rate, rel=0.005)
    assert line["all_in_output_usd_median"] == pytest.approx(cost, abs=0.005)
    assert line["all_in_output_usd_low"] <= line["all_in_output_usd_median"] <= line["all_in_output_usd_high"]
    assert (line["evidence_grade"], line["is_ranked"], line["total_usd_median"]) == ("A", True, None)
    assert 0 < line["share_of_bound"] < 0.5


def test_every_cost_follows_from_its_own_row(file: Path) -> None:
    """Price, rate and utilisation of a row give its costs; half the utilisation, twice the cost."""
    found = lines(file, "from int.token_cost where reach <> 'unreachable'")

    assert {line["utilisation"] for line in found} == {0.3, 0.5, 0.7, 1.0}
    for line in found:
        million = 3600 * line["utilisation"] / 1e6
        expected = line["price_usd"] / line["running_share"] / (line["median_output_rate"] * million)
        assert line["all_in_output_usd_median"] == pytest.approx(expected)
        for end, other in (("low", "high"), ("high", "low")):
            price, rate = line[f"{end}_price_usd"], line[f"{other}_output_rate"]
            assert line[f"all_in_output_usd_{end}"] == pytest.approx(
                price and price / line["running_share"] / (rate * million)
            )
        assert line["usd_per_month_per_unit"] == pytest.approx(line["price_usd"] * line["unit_accelerators"] * 730)
        assert line["running_share"] == (23.5 / 24 if line["purchase_option"] == "capacity_block" else 1)
        assert line["offer_id"] and line["price_document_sha256"] and line["source_url"]


@pytest.mark.parametrize(
    ("chip", "tier", "prices", "basis"),
    [
        ("MI300X", "list", (2, 2, 4), "from the cheapest to the dearest offer"),
        ("H200", "list", (3, 3, 3), "one price"),
        ("H100", "market", (2.25, 2.25, None), "from the 25th percentile; the dearest is not stated"),
        ("H200", "market", (None, 4, None), "the median alone is stated"),
    ],
)
def test_the_range_goes_from_the_cheapest_to_the_dearest_price(
    file: Path, chip: str, tier: str, prices: tuple[float | None, ...], basis: str
) -> None:
    """Of the offer named, low at the fastest run, high the dearest at the slowest; an end that nobody tells is NULL."""
    found = lines(
        file,
        f"from int.token_cost where service_provider_name = 'Toy' and accelerator_name = '{chip}' "
        f"and coalesce(tier, 'list') = '{tier}' and reach <> 'unreachable'",
    )

    assert found
    for line in found:
        assert (line["low_price_usd"], line["price_usd"], line["high_price_usd"]) == prices
        assert line["price_range_basis"] == basis
        costs = [line[f"all_in_output_usd_{name}"] for name in ("low", "median", "high")]
        assert [cost is None for cost in costs] == [price is None for price in prices]
        known = [cost for cost in costs if cost is not None]
        assert known == sorted(known)
    counted = dict(
        values(file, "select reason, n_left_out from int.cost_left_out where left_out_kind = 'end of range'")
    )
    assert counted == {"no cheapest price, only a median": 1, "no dearest price is told": 2}


def test_every_size_has_the_cost_of_its_cheapest_offer(tmp_path: Path) -> None:
    """Four chips at 3 each are not hidden by two at 2, on which the run has no room, nor dearer by another region.

    A plan of 5 a chip and a Reserved term of 4.75 cost what they are: of one class and the same in mart.token_cost. A
    B200 whose form is not stated is one option, not two.
    """
    four = run(scenario="four", accelerator_count=Decimal(4), output_rate=Decimal(800))
    with putting_costs(tmp_path, four, asked=("token_cost", "token_option")) as put:
        offers = (("4", "2", None), ("12", "4", None), ("24", "4", "dear"))
        sizes = (neocloud("H100 SXM", price, count, region_id=region) for price, count, region in offers)
        plans = (plan(P5, "40"), plan(P5, "48", years=3), plan(P5, "44", region_id="us-west-2"))
        listed = (row(P5, "55.04"), row(P5, "60", region_id="us-west-2"), term(P5, "38", "No", "0"))
        file = put(
            seen(0, "aws_price_list", *sizes, *listed, neocloud("B200", "48", "8")),
            seen(0, "aws_savings_plans", *plans),
            at=0,
        )  # fmt: skip
    usd = 1e6 / 3600 / 200
    million = "usd_per_million_output_tokens"
    for found in (
        values(file, "select purchase_option, commitment_class, all_in_output_usd_median from int.token_cost where "
               "scenario = 'four' and utilisation = 1 and cost_rank = 1"),
        values(file, f"select purchase_option, commitment_class, min({million}) from int.token_option "
               "where scenario = 'four' and is_cost_ranked group by all"),
    ):  # fmt: skip
        assert {(option, term): cost for option, term, cost in found} == {
            ("on_demand", "none"): pytest.approx(3 * usd),
            ("reserved", "one_year"): pytest.approx(38 / 8 * usd),
            ("savings_plan", "one_year"): pytest.approx(5 * usd),
            ("savings_plan", "three_years"): pytest.approx(6 * usd),
        }
    assert values(file, "select price_usd from int.cost_option where accelerator_name = 'B200'") == [(6,)]


def test_input_and_output_pay_for_the_machine_once(file: Path) -> None:
    """Of every row with a split, input and output served in an hour, at their prices, are the price of that hour."""
    found = lines(file, "from int.token_cost")
    split = [line for line in found if line["input_usd"] is not None]

    assert len(split) > 100
    for line in split:
        served = 3600 * line["utilisation"] / 1e6
        paid = line["output_usd"] * line["median_output_rate"] + line["input_usd"] * line["median_input_rate"]
        assert paid * served == pytest.approx(line["paid_rate_usd"])
        assert line["input_usd"] == pytest.approx(line["input_weight"] * line["output_usd"])
        for end, weight in (("0_1", 0.1), ("0_5", 0.5)):
            output, given = line[f"output_usd_at_{end}"], line[f"input_usd_at_{end}"]
            assert given == pytest.approx(weight * output)
            both = output * line["median_output_rate"] + given * line["median_input_rate"]
            assert both * served == pytest.approx(line["paid_rate_usd"])
    assert {line["input_weight_basis"] for line in split} == {"measured", "assumed"}
    assert all(line["output_usd"] is None for line in found if line["benchmark_family"] == "mlperf_inference")


def test_a_frontier_is_read_at_equal_speed_for_a_user(file: Path) -> None:
    """Between 20 and 40 tokens/s lies the straight line; above the fastest nothing."""
    found = lines(
        file,
        "from int.token_cost where scenario = 'own curve' and utilisation = 1 and instance_type = 'p5.4xlarge' "
        "and purchase_option = 'on_demand' order by interactivity",
    )

    assert [(line["interactivity"], line["reach"], line["median_output_rate"]) for line in found] == [
        (20, "measured", 160), (30, "between two runs", 120), (50, "unreachable", None),
        (75, "unreachable", None), (100, "unreachable", None),
    ]  # fmt: skip
    assert (found[1]["high_output_rate"], found[1]["low_output_rate"], found[1]["n_runs"]) == (120, 120, 2)
    assert found[1]["total_usd_median"] == pytest.approx(6.88e6 / 3600 / 360)
    assert found[2]["all_in_output_usd_median"] is None
    assert found[2]["cost_rank"] is None


def test_the_macro_reads_it_at_any_speed(file: Path) -> None:
    """At 25 tokens/s the line gives 140, and points of which no speed is promised are left out."""
    found = lines(
        file,
        "from mart.serving_cost('llama3-70b', 25, 0.5, 0.8, 0.9, 1e7) where scenario = 'own curve' and "
        f"instance_type in ('p5.4xlarge', '{P5}')",
    )
    by_option = {(line["instance_type"], line["purchase_option"]): line for line in found}

    single = by_option["p5.4xlarge", "on_demand"]
    assert (single["median_output_rate"], single["running_share"]) == (140, 1)
    assert single["all_in_output_usd_median"] == pytest.approx(6.88e6 / 3600 / 140 / 0.5)
    assert single["paid_accelerators"] == 2  # 10^7 / 86400 is 115.7 tokens/s, and one chip at half makes 70
    assert single["usd_per_month_at_load"] == pytest.approx(2 * 6.88 * 730)
    assert by_option[P5, "on_demand"]["paid_accelerators"] == 8
    assert by_option["p5.4xlarge", "capacity_block"]["paid_rate_usd"] == pytest.approx(5.191 / 0.8 / (23.5 / 24))
    assert by_option[P5, "spot"]["paid_rate_usd"] == pytest.approx(20 / 8 / 0.9)
    (count,) = values(file, "select count(*) from mart.serving_cost('llama-2-70b', 26, 1, 1, 1, null) where "
                     "benchmark_family = 'mlperf_inference'")[0]  # fmt: skip
    assert count == 0
    with pytest.raises(duckdb.InvalidInputException, match="no model is named"):
        values(file, "from mart.serving_cost('llama-9', null, 1, 1, 1, null)")


def test_what_breaks_a_bound_is_shown_and_has_no_cost(file: Path) -> None:
    """1,500 tokens/s of Llama 3 70B in FP8 at batch 8 on one H100 are 3.9 times what its memory allows."""
    (measured,) = lines(file, "from int.throughput where scenario = 'impossible'")
    left_out = "select n_left_out from int.cost_left_out where reason = 'it is faster than physics allows'"

    assert (measured["evidence_grade"], measured["is_ranked"], measured["binding_bound"]) == ("X", False, "bandwidth")
    # 8 sequences x 3.35 TB/s over the weights but the input embedding, and 500 tokens of cache each at 4 bits
    weights, cache = 70553706496 - 128256 * 8192, 500 * 80 * 2 * 8 * 128 * 0.5
    assert measured["share_of_bound"] == pytest.approx(1500 / (8 * 3.35e12 / (weights + 8 * cache)))
    assert values(file, "from int.token_cost where scenario = 'impossible'") == []
    assert values(file, left_out) == [(2,)]  # with the training that is too fast


def test_a_run_prices_only_units_of_as_many_chips(file: Path) -> None:
    """8 chips price 8; 16 price clusters of 8 with EFA, and no machine without; a purchase of unknown size is one."""
    fits = "from int.token_cost where utilisation = 1 and is_ranked and reach <> 'unreachable'"
    toy = lines(file, f"{fits} and service_provider_name = 'Toy'")

    assert {(line["form_factor"], line["unit_accelerators"]) for line in toy} == {("SXM", 1), ("SXM", 8), (None, 8)}
    assert max(line["most_accelerators"] for line in toy if line["accelerator_name"] == "H100") == 1
    assert max(line["most_accelerators"] for line in toy if line["accelerator_name"] == "H200") == 8
    assert all("size of a purchase not stated" in line["price_basis"] for line in toy if line["unit_accelerators"] == 1)
    sizes = values(
        file,
        "select min(accelerator_count), max(accelerator_count) from int.throughput where accelerator_name = 'H100' "
        "and benchmark = 'MLPerf Inference v5.1' and scenario = 'Server' and model_name = 'llama-2-70b'",
    )
    sold = values(
        file,
        "select distinct instance_type from int.token_cost where accelerator_name = 'H100' "
        "and precision = 'fp8' and scenario = 'Server' and model_name = 'llama-2-70b'",
    )
    assert (sizes, sold) == ([(16, 32)], [(P5,)])


def test_low_median_and_high_are_over_submitters(file: Path) -> None:
    """Of H200 at one point the newest result of each submitter on one machine, recomputed from core.throughput."""
    rates = [
        rate for (rate,) in values(
            file,
            "select rate from (select *, output_rate / accelerator_count::double as rate from core.throughput where "
            "model_name = 'llama-2-70b' and benchmark_family = 'mlperf_inference' and scenario = 'Server' and "
            "accelerator_name = 'H200' and form_factor = 'SXM' "
            "qualify benchmark = max(benchmark) over (partition by measured_by)) "
            "where accelerator_count <= 8 and precision = 'fp8' and evidence_grade = 'A'",
        )
    ]  # fmt: skip
    (line,) = lines(
        file,
        "from int.token_cost where model_name = 'llama-2-70b' and benchmark = 'MLPerf Inference' and scenario = "
        "'Server' and service_provider_name = 'Toy' and accelerator_name = 'H200' and utilisation = 1 and "
        "precision = 'fp8' and evidence_grade = 'A'",
    )

    assert line["n_runs"] == len(rates) > 5
    assert (line["low_output_rate"], line["high_output_rate"]) == (min(rates), max(rates))
    assert line["median_output_rate"] == pytest.approx(median(rates))


def test_ranks_hold_within_one_point_and_option(file: Path) -> None:
    """The cheapest of equal offers is first; no rank spans benchmarks, options or utilisations."""
    key = (
        "model_name, scenario, benchmark, precision, input_length, output_length, decoding, interactivity, "
        "purchase_option, commitment_class, utilisation"
    )
    wrong = values(
        file,
        f"select 1 from (select *, min(all_in_output_usd_median) over (partition by {key}) as least "
        "from int.token_cost where cost_rank is not null) where (cost_rank = 1) <> (all_in_output_usd_median = least)",
    )

    assert wrong == []
    firsts = values(
        file,
        "select distinct purchase_option from int.token_cost where commitment_class = 'one_year' and cost_rank = 1",
    )
    assert sorted(firsts) == [("reserved",), ("savings_plan",)]


def test_a_rate_below_the_slowest_run_is_at_most_and_never_ranked(file: Path) -> None:
    """DeepSeek-R1 on p6-b200 ran at 26.4 tokens/s a user at the slowest: 1.87 there, and at 20 at most that."""
    line, *others = lines(
        file,
        "from int.token_cost where model_name = 'deepseek-r1' and accelerator_name = 'B200' and precision = 'fp8' and "
        f"scenario = '1k/1k' and decoding = 'one token a step' and interactivity = 20 and instance_type = '{P6}' and "
        "purchase_option = 'on_demand' and utilisation = 1 order by all_in_output_usd_median",
    )
    assert {other["reach"] for other in others} == {"at most"}
    assert line["all_in_output_usd_median"] == pytest.approx(1.87, abs=0.005)
    assert (line["reach"], line["cost_rank"], line["is_ranked"]) == ("at most", None, True)
    ranked = values(file, "select distinct reach from int.token_cost where cost_rank is not null")
    assert sorted(ranked) == [("between two runs",), ("measured",)]


def test_what_is_not_ranked_has_no_rank_for_a_question_either(file: Path) -> None:
    """Runs that cannot have used the precision they declare, and those of grade D, have a cost and no rank."""
    asked = "select count(*), count(cost_rank) from mart.serving_cost('llama-2-70b', null, 1, 1, 1, null)"
    ((n_costs, n_ranked),) = values(file, f"{asked} where not is_ranked")

    assert n_costs > 0
    assert n_ranked == 0


def test_what_has_no_cost_is_counted(file: Path) -> None:
    """Each run and each price has a cost, or stands in int.cost_left_out once."""
    counted = dict(values(file, "select left_out_kind, sum(n_left_out) from int.cost_left_out group by 1"))
    (prices,) = values(file, "select count(*) from int.provider_price")[0]
    (priced,) = values(
        file,
        "select count(distinct offer_id) from (select offer_id from int.token_cost union all "
        "select offer_id from int.training_cost)",
    )[0]
    reasons = [reason for (reason,) in values(file, "select reason from int.cost_left_out")]

    assert counted["price"] + priced == prices
    assert "chip without published figures, or in a form that is not stated" in reasons
    assert 'a "from" price, which nobody may be offered' in reasons
    assert values(file, "from int.cost_price where service_provider_name = 'Toy' and low_price_usd < 2") == []
    (own,) = values(file, "select count(*) from int.serving_rate where scenario = 'own curve' and n_runs > 1")[0]
    assert own == 2  # of units of one chip and of eight with a network: the beaten run is part of neither


def documented_queries() -> list[str]:
    """Return the queries of docs/cost-per-token.md whose answers it shows."""
    page = (Path(__file__).parents[2] / "docs" / "cost-per-token.md").read_text(encoding="utf-8")
    part = page.partition("## Two queries and their answers")[2].partition("\n## ")[0]
    return [text.strip().rstrip(";") for text in re.findall(r"^```sql\n(.*?)^```", part, re.DOTALL | re.MULTILINE)]


def test_the_documented_answers_are_those_of_the_archive(offline_run: Path) -> None:
    """Each row that docs/cost-per-token.md shows under a query is one that the query returns on an offline run."""
    page = (Path(__file__).parents[2] / "docs" / "cost-per-token.md").read_text(encoding="utf-8")
    shown = [line for line in page.splitlines() if re.match(r"\| .* \| [A-D] \|$", line) and "%" in line]
    found = set()
    for query in documented_queries():
        for line in lines(offline_run / "prices.duckdb", query):
            money = {name: f"{line[name]:.2f}" for name in ("usd_per_chip_hour", "low", "median", "high")}
            cells = line | money | {"of_bound": f"{line['of_bound']:.0%}"}
            found.add(f"| {' | '.join('-' if cell is None else str(cell) for cell in cells.values())} |")
    assert len(shown) == 7
    assert [line for line in shown if line not in found] == []


def test_the_documented_queries_answer(file: Path) -> None:
    """The tables of docs/cost-per-token.md come from its own queries, whose answers name a price's date and a grade."""
    page = (Path(__file__).parents[2] / "docs" / "cost-per-token.md").read_text()
    queries = documented_queries()

    assert len(queries) == 2
    for query in queries:
        found = lines(file, query.strip().rstrip(";"))
        assert len(found) > 5
        assert all(
            line["price_of"] and line["grade"] and line["low"] <= line["median"] for line in found if line["low"]
        )
        heads = {name.replace("_", " ").replace("usd per chip hour", "USD/chip-h") for name in found[0]}
        assert any(heads == {cell.strip() for cell in line.strip("|").split("|")} for line in page.splitlines())


def test_an_old_price_is_shown_and_never_ranked(files: dict[str, Path]) -> None:
    """Ninety-one days after the last look costs are as before, and none has a rank."""
    counts = "select count(cost_rank), count(all_in_output_usd_median) from int.token_cost"
    fresh, old = values(files["after"], counts), values(files["late"], counts)
    said = lines(
        files["late"],
        "from int.headline_token_cost where offer_id is not null and reach = 'between two runs'",
    )
    assert fresh[0][0] > 100
    assert old == [(0, fresh[0][1])]
    assert said
    for line in said:
        assert line["usd_per_million_output_tokens"] is None
        assert line["cost_basis"] == "unknown: the last price is of 2026-01-02"


def test_one_price_moves_exactly_what_depends_on_it(files: dict[str, Path]) -> None:
    """With another price of p5en.48xlarge its own rows change, and no other row."""
    columns = "columns(* exclude (is_current, age_days, last_observed_at, price_document_sha256, cost_rank))"
    every = f"select {columns} from int.token_cost order by all"
    before, after = ({repr(line) for line in values(files[name], every)} for name in ("before", "after"))

    assert before != after
    moved = [line for line in before ^ after if P5EN not in line]
    assert moved == []
    assert [line for line in before & after if P5EN in line and "'unreachable'" not in line] == []
