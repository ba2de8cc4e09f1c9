"""What holds of all shipped claims, whatever they are called: verdicts follow ids, chips, values, hedges and prices."""

import random
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest

from flows.decisions.cost import Sum, Terms, bare
from transform.audit import economics, rates, specs
from transform.audit.evidence import Evidence, Offer
from transform.audit.judge import judge, kind_of
from transform.audit.prices import history
from warehouse.reference import claim_text, claims
from warehouse.reference.claim_text import Hedge

RENAMED = {"H100": "H200", "H200": "B200", "B200": "H100", "Trainium1": "Trainium2", "Trainium2": "Trainium3",
           "Trainium3": "Trainium1"}  # fmt: skip
NAMED = ("spec_generation", "spec_vcpus", "spec_host_memory_gib")
"""Metrics that are decided by a name itself."""
FACTOR = 10


def _verdicts(told, evidence):
    return [(one.finding.verdict, one.finding.verdict_today, one.verdict, one.verdict_today)
            for one in judge(told, evidence)]  # fmt: skip


@pytest.fixture
def evidence(con):
    """Return what the file knows of the shipped claims."""
    return Evidence(con, claims.shipped())


@pytest.fixture
def before(shipped):
    """Return the verdicts on the shipped claims as they are."""
    return [(one.finding.verdict, one.finding.verdict_today, one.verdict, one.verdict_today)
            for one in shipped.values()]  # fmt: skip


def test_ids_decide_nothing(evidence, before):
    """With all ids shuffled, and links between claims with them, every verdict stays."""
    told = claims.shipped()
    names = [claim.claim_id for claim in told]
    random.Random(7).shuffle(names)  # noqa: S311 (nothing is secret)
    new = dict(zip((claim.claim_id for claim in told), names, strict=True))
    renamed = [
        replace(one, claim_id=new[one.claim_id], derived_from=tuple(new[other] for other in one.derived_from))
        for one in told
    ]
    assert _verdicts(renamed, evidence) == before


def _chip(pair):
    return RENAMED.get(pair[0], pair[0]), pair[1]


def test_chips_are_known_by_their_figures_alone(evidence, before, monkeypatch):
    """With the chips of all claims renamed, and figures, prices, runs and machines with them, every verdict stays."""
    told = [
        replace(
            one,
            subject=replace(
                one.subject,
                things=tuple(
                    replace(thing, chips=tuple(_chip(pair) for pair in thing.chips)) for thing in one.subject.things
                ),
            ),
        )
        for one in claims.shipped()
    ]
    machines = {
        name: fact._replace(accelerator_name=RENAMED.get(fact.accelerator_name, fact.accelerator_name))
        for name, fact in claim_text.machines().items()
    }
    for module in (claim_text, economics):
        monkeypatch.setattr(module, "machines", lambda: machines)
    monkeypatch.setattr(specs, "TENSOR_CORE_CHIPS", specs.re.compile(""))
    evidence.facts = {_chip(chip): facts for chip, facts in evidence.facts.items()}
    evidence.offers = {number: one._replace(accelerator_name=RENAMED.get(one.accelerator_name, one.accelerator_name))
                       for number, one in evidence.offers.items()}  # fmt: skip
    evidence.measured = [replace(one, accelerator_name=RENAMED.get(one.accelerator_name, one.accelerator_name))
                         for one in evidence.measured]  # fmt: skip
    after = _verdicts(told, evidence)
    for claim, old, new in zip(told, before, after, strict=True):
        if claim.metric not in NAMED:
            assert new == old, claim.claim_id
    # The figures of another chip under the old names: what is said of a chip is then said of another, and shows.
    evidence.facts = {_chip(_chip(chip)): facts for chip, facts in evidence.facts.items()}
    assert sum(a[0] != b[0] for a, b in zip(before, _verdicts(told, evidence), strict=True)) > 30


def _shifted(claim):
    def shift(text):
        return None if text is None else format(Decimal(text).scaleb(1), "f")

    fast = ("throughput_tokens", "price_", "spec_bf16", "spec_fp8")
    if not claim.metric.startswith(fast):
        return claim
    return replace(claim, value=shift(claim.value), low=shift(claim.low), high=shift(claim.high))


def test_values_decide_together_with_the_facts(con, evidence, before):
    """Rates and prices ten times as high keep their verdicts where peaks and prices are too, not else."""
    told = [_shifted(claim) for claim in claims.shipped()]
    scaled_alone = _verdicts(told, evidence)
    assert sum(one[0] == "physically_impossible" for one in scaled_alone) > sum(
        one[0] == "physically_impossible" for one in before
    )
    evidence.facts = {
        chip: {
            name: [(value * (FACTOR if "flops" in name or "tops" in name or "bandwidth" in name else 1), url, note)
                   for value, url, note in rows]
            for name, rows in facts.items()
        }
        for chip, facts in evidence.facts.items()
    }  # fmt: skip
    con.execute(f"update claimed_price set hourly = hourly * {FACTOR}")
    con.execute(
        f"update ended_price set instance = instance * {FACTOR}, chip = chip * {FACTOR}, core = core * {FACTOR}"
    )
    evidence.measured = [replace(one, rate=one.rate * FACTOR) for one in evidence.measured]
    after = _verdicts(told, evidence)
    for claim, old, new in zip(told, before, after, strict=True):
        # Bandwidths were not told ten times as high, and the words of a cost of tokens repeat its rate as it was.
        if "bandwidth" not in claim.metric and claim.metric != "cpm":
            assert new[:2] == old[:2], claim.claim_id


def test_prices_that_were_forgotten_are_read_again(evidence, before):
    for _ in range(2):
        assert _verdicts(claims.shipped(), evidence) == before
        evidence.forget()


def test_no_impossible_verdict_rests_on_a_hedge(evidence, before):
    """What is impossible is so with the widest hedge there is, and with none: a hedge takes away, and gives nothing."""
    told = claims.shipped()

    def impossible(hedge):
        found = _verdicts([replace(one, hedge=hedge) for one in told], evidence)
        return {one.claim_id for one, verdict in zip(told, found, strict=True) if verdict[0] == "physically_impossible"}

    as_told = {one.claim_id for one, old in zip(told, before, strict=True) if old[0] == "physically_impossible"}
    assert len(as_told) == 11
    assert impossible(Hedge()) == as_told
    assert impossible(Hedge(share=claim_text.ESTIMATE_SHARE)) == as_told


def test_no_bound_is_broken_by_what_is_consistent(evidence):
    """A consistent rate, utilisation or fit stays so only within its bound: ten thousand times as much never is."""
    told = [one for one in claims.shipped() if kind_of(one.metric)[0] in ("throughput", "utilisation")]
    more = [
        replace(one, **{end: str(float(text) * 1e4) for end in ("value", "low", "high") if (text := getattr(one, end))})
        for one in told
    ]
    with_models = [one for one in judge(more, evidence) if one.claim.model_name]
    assert len(with_models) > 15
    assert {one.finding.verdict for one in with_models} == {"physically_impossible"}


def test_a_price_left_open_is_in_no_history(evidence):
    """Where a price is unverifiable, no price of that machine and option was known on any day that it may be of."""
    open_ones = [
        one.claim
        for one in judge(claims.shipped(), evidence)
        if one.kind == "price" and one.finding.verdict == "unverifiable"
    ]
    assert open_ones
    for claim in open_ones:
        machine = claim.subject.things[0].instance_type
        option = claim.conditions.purchase_option or "on_demand"
        offers = [
            one
            for one in evidence.offers.values()
            if machine and one.instance_type == machine and one.purchase_option == option and not one.is_floor
        ]
        until = claim.claimed_until or evidence.today
        assert evidence.held(offers, (claim.claimed_from, until)) == [], claim.claim_id


def test_moving_a_price_moves_what_rests_on_it(con, read):
    """Where the price of one machine changes today, the verdicts on it alone change, in the column of today."""
    machines = [
        (name, value)
        for name, value in con.execute(
            "select o.instance_type, h.unit_price::DOUBLE from int.price_history as h "
            "inner join core.offer as o on h.offer_id = o.offer_id where h.valid_to is null "
            "and o.region_id = 'us-east-1' and o.purchase_option = 'on_demand' and o.conditions is null "
            "and h.last_observed_at > TIMESTAMP '2026-06-01' order by all"
        ).fetchall()
    ]
    names = {name for name, _ in machines}
    assert "p5.48xlarge" in names
    lines = [
        f'{name},x,{name},price_usd_per_hour_instance,{value},,,USD/h,"On-Demand, us-east-1",2026-06-01'
        for name, value in machines
    ]
    told = [*claims.shipped(), *read(*lines)]
    evidence = Evidence(con, told)
    before = _verdicts(told, evidence)
    today = f"DATE '{evidence.today}'"
    it = (
        "valid_to is null and offer_no in (select offer_no from claimed_offer where "
        "instance_type = 'p5.48xlarge' and region_id = 'us-east-1' and purchase_option = 'on_demand')"
    )
    assert evidence._queried["ended_price"]
    con.execute(
        f"insert into ended_price by name select offer_no, offer_id, valid_from, {today} - 1 as valid_to, "
        f"last_observed as last_observed_at, hourly as instance from claimed_price where {it}"
    )
    con.execute(
        f"insert into claimed_price by name select * replace (hourly * 0.8 as hourly, {today} as valid_from, "
        f"{today} as last_observed, {today} as earliest, place + 1 as place) from claimed_price where {it}"
    )
    moved = con.execute(
        f"update claimed_price set valid_to = {today} - 1, latest = {today} - 1 where {it} and earliest < {today}"
    ).fetchone()  # fmt: skip
    assert moved == (1,)
    after = _verdicts(told, evidence)
    changed = {one.claim_id for one, old, new in zip(told, before, after, strict=True) if old != new}
    assert changed == {"p5.48xlarge"}
    place = [one.claim_id for one in told].index("p5.48xlarge")
    assert (before[place][:2], after[place][:2]) == (("consistent",) * 2, ("consistent", "stale"))


@pytest.mark.parametrize("n_claims", [12, pytest.param(None, marks=pytest.mark.prove)])
def test_prices_that_ended_before_all_claims_are_asked_of_the_file(con, read, n_claims):
    """What is not read at once decides the same: a price of long ago is one that was true then; at length of all."""
    ended = con.execute(
        "select h.valid_from::DATE, round(h.effective_hourly_price, 4) from int.price_history as h "
        "inner join core.offer as o on h.offer_id = o.offer_id where o.instance_type = 'p3.16xlarge' "
        "and o.region_id = 'us-east-1' and o.purchase_option = 'spot' order by h.valid_from"
    ).fetchall()
    day, older = ended[len(ended) // 2][0], sorted({value for _, value in ended[: len(ended) // 2]})
    assert len(older) > 20
    told = read(
        *(f'c{place},x,p3.16xlarge,price_usd_per_hour_instance,{value},,,USD/h,"spot, us-east-1",{day}'
          for place, value in enumerate(older[:: len(older) // (n_claims or len(older))]))
    )  # fmt: skip
    few, every = Evidence(con, told), Evidence(con, told)
    every.since = date.min
    assert few.since == day
    n_prices, found = [], []
    for evidence in (few, every):
        evidence.read(evidence.offers.values())
        n_prices += con.execute("select count(*) from claimed_price").fetchone()
        found.append(judge(told, evidence))
    assert 0 < n_prices[0] < n_prices[1] - 20
    assert found[0] == found[1]
    assert "stale" in {one.finding.verdict for one in found[0]}


def test_the_least_of_several_offers_decides_from_below_only(con, evidence, read):
    """A price as seen is borne out, one below the least offer is not, and one above it is left open."""
    evidence.providers = {"runpod": "RunPod"}
    day = evidence.today - timedelta(days=11)
    assert evidence.offers
    evidence.offers = {0: Offer(0, 0, "RunPod", None, "H200", "SXM", None, "on_demand", None, 1.0, None, True)}
    evidence.read(evidence.offers.values())
    con.execute(
        "delete from claimed_price; insert into claimed_price by name select 0 as offer_no, 0 as offer_id, "
        f"4.0 as hourly, DATE '{day}' as valid_from, valid_from as last_observed, valid_from as earliest, "
        "valid_from + 7 as latest, 'x' as document_sha256, 1 as place"
    )
    line = "{},x,H200 SXM / RunPod,price_per_chip,{},,,USD/h,on-demand," + str(day)
    found = [history(claim, evidence) for claim in read(line.format("a", 4), line.format("b", 3), line.format("c", 5))]
    assert [one.verdict for one in found] == ["consistent", "inconsistent", "unverifiable"]
    assert {one.verdict_today for one in found} == {"unverifiable"}, "a floor of eleven days ago says nothing today"


CHIPS = ("H100 SXM", "H200 SXM", "B200", "Trainium2", "Trainium3", "MI300X")
MODELS = ("llama-3-70b", "llama-3.1-8b", "gpt-oss-120b", "deepseek-r1")


@pytest.mark.parametrize("n_claims", [10, pytest.param(60, marks=pytest.mark.prove)])
def test_cost_and_audit_never_disagree(audited, con, read, n_claims):
    """A rate that the command of costs calls impossible is impossible to the audit, by the same bound, and no other."""
    draw = random.Random(25)  # noqa: S311 (nothing is secret)
    asked = []
    for _ in range(n_claims):
        chip, model = draw.choice(CHIPS), draw.choice(MODELS)
        batch, precision = draw.choice((None, 1, 8, 64, 512)), draw.choice((None, "fp4", "fp8", "bf16"))
        task, accepted = draw.choice(("serving", "training")), draw.choice((None, 1.0))
        batch = batch if task == "serving" else None
        accepted = accepted if batch else None
        asked.append((chip, model, batch, precision, task, accepted, round(10 ** draw.uniform(1.5, 6))))
    words = [
        " ".join(filter(None, ("training" if task == "training" else "", f"batch {batch}" if batch else "",
                               precision, "output, no speculation" if accepted else "")))
        for _, _, batch, precision, task, accepted, _ in asked
    ]  # fmt: skip
    told = read(*(
        f"c{place},x{place},{one[0]} / {one[1]},{rates.PER_CHIP},{one[-1]},,,tokens/s/chip,\"{text}\",2026"
        for place, (one, text) in enumerate(zip(asked, words, strict=True))
    ))  # fmt: skip
    verdicts = []
    for judged, (chip, model, batch, precision, task, accepted, rate) in zip(
        judge(told, Evidence(con, told)), asked, strict=True
    ):
        inputs = Sum(
            price=1.0, throughput=rate, chip=chip, model=model, task=task, precision=precision, batch=batch,
            accepted_tokens=accepted,
        )  # fmt: skip
        (row,) = bare(inputs, Terms(), audited)["rows"]
        verdicts.append(row["share_of_bound"] > 1.005)
        if abs(row["share_of_bound"] - 1) > 0.005:  # a claim may be rounded
            assert verdicts[-1] == (judged.verdict == "physically_impossible"), (judged.claim, row)
        bounds = [float(text.rsplit(": ", 1)[1].split()[0].replace(",", "")) for text in judged.finding.bounds]
        assert bounds == [pytest.approx(row["rate_bound"], rel=1e-3)], (judged.claim, row)
    assert n_claims / 4 < sum(verdicts) < n_claims * 3 / 4
