"""Checks of whether something can be bought under one option: by prices, never by their absence alone."""

import re

from transform.audit.evidence import Evidence
from transform.audit.finding import CONSISTENT, INCONSISTENT, UNVERIFIABLE, Finding, unknown
from transform.audit.prices import min_date
from warehouse.reference.claims import Claim

METRIC = re.compile(r"(on_demand|spot|reserved|savings_plan|capacity_block)_available")
_NO = ("no", "false", "0", "none")
_YES = ("yes", "true", "1")


def available(claim: Claim, evidence: Evidence) -> Finding:
    """Check a yes or no against prices of the thing under that option, on the claim's day and today."""
    match = METRIC.fullmatch(claim.metric)
    answer = (claim.value or "").casefold()
    if match is None or answer not in (*_NO, *_YES):
        return unknown("the claim is neither yes nor no")
    thing, option = claim.subject.things[0], match[1]
    machine = thing.instance_type or claim.conditions.instance_type
    provider, strange = evidence.provider(claim.subject.others)
    if strange or not (machine or thing.chips):
        return unknown(f"no price of {strange or claim.subject_text} is in this file")
    priced = [
        price
        for price in evidence.prices
        if price.purchase_option == option
        and ((price.instance_type or "").lower() == machine if machine else price.accelerator_name in dict(thing.chips))
        and provider in (None, price.service_provider_name)
        and (not claim.conditions.regions or price.region_id in claim.conditions.regions)
    ]
    name = f"{option.replace('_', ' ')} price of {claim.subject_text}"
    verdicts, words = [], []
    for since, until in (
        (claim.claimed_from, min_date(claim.claimed_until, evidence.today)),
        (evidence.today, evidence.today),
    ):
        there = [price for price in priced if price.holds(since, until)]
        if not there:
            verdicts.append(UNVERIFIABLE)
            words.append(f"the file has no {name}, which is no proof that there is none")
            continue
        last = max(there, key=lambda price: price.last_observed)
        verdicts.append(INCONSISTENT if answer in _NO else CONSISTENT)
        words.append(
            f"a {name} was seen at {last.service_provider_name} in {last.region_id}, last on {last.last_observed}"
        )
    text = words[0] if words[0] == words[1] else f"{words[0]}; today {words[1]}"
    basis = "nothing" if verdicts == [UNVERIFIABLE, UNVERIFIABLE] else "history"
    return Finding(verdicts[0], verdicts[1], basis, f"claimed {claim.value}: {text}")
