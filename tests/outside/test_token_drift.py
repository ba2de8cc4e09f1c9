"""The drift of costs per token at twenty dates of the shared history: plain Python over steps and first sightings."""

import math
from collections import defaultdict
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest
from published import named

from transform.models import MARTS
from warehouse.log.db import create_moment
from warehouse.schema.vocabulary import MARKETPLACES

from .test_drift import WINDOWS, moments

POINT = ("model_name", "scenario", "precision", "decoding", "interactivity", "interactivity_statistic")
KEY = (*POINT, "accelerator_name", "purchase_option", "commitment_class")
PARTS = ("price_effect", "new_provider_effect", "evidence_effect", "new_chip_effect")


def test_each_drift_and_part_is_plain_python_at_twenty_dates(own_history: Path) -> None:
    """Cost by cost of the day; the parts step by step; and they add up to the log of the change, to 1e-9."""
    sql = next(mart.sql for mart in MARTS if mart.name == "token_drift")
    counted: dict[str, int] = defaultdict(int)
    with duckdb.connect(str(own_history)) as con:
        held = named(
            con.execute("from int.token_cost_history where coalesce(evidence_grade, 'A') = 'A' order by valid_from")
        )
        new, last = set(), {}
        for offer, since, seen, limit in con.execute(
            "select offer_id, valid_from::date, last_observed_at::date, if(list_contains($1, "
            "lower(service_provider_name)) or (purchase_option = 'capacity_block' and commitment_term_hours > 0), 30, "
            "90) from int.price_history join core.offer using (offer_id) order by valid_from",
            [list(MARKETPLACES)],
        ).fetchall():
            if offer not in last or last[offer] is None or (since - last[offer]).days > limit:
                new.add((offer, since))
            last[offer] = seen
        history = defaultdict(list)
        for row in held:
            history[tuple(row[name] for name in KEY)].append(row)
        con.execute("begin")
        for now in moments():
            con.execute("update meta.build set built_at = ?", [now])
            create_moment(con)
            for row in named(con.execute(f"from ({sql})")):
                end, begin = now.date(), now.date() - timedelta(days=row["window_days"])
                assert (row["window_begins_on"], row["window_ends_on"]) == (begin, end)
                own = history[tuple(row[name] for name in KEY)]
                costs = [
                    next((each["usd_per_million_output_tokens"] for each in own if each["valid_from"].date() <= on
                          and (each["valid_to"] is None or each["valid_to"].date() > on)), None)
                    for on in (begin, end)
                ]  # fmt: skip
                assert [row["usd_before"], row["usd_after"]] == costs
                if None in costs:
                    assert row["unknown_reason"]
                    assert [row[name] for name in ("drift", *PARTS)] == [None] * 5
                    counted["unknown"] += 1
                    continue
                parts = dict.fromkeys(PARTS, 0.0)
                for step in own:
                    if begin < step["valid_from"].date() <= end and step["step_log"] is not None:
                        is_new = (step["offer_id"], step["valid_from"].date()) in new
                        parts["new_provider_effect" if is_new else "price_effect"] += step["price_effect"]
                        parts["evidence_effect"] += step["evidence_effect"]
                        parts["new_chip_effect"] += step["new_chip_effect"]
                assert {name: row[name] for name in PARTS} == pytest.approx(parts, abs=1e-12)
                assert sum(row[name] for name in PARTS) == pytest.approx(math.log(costs[1] / costs[0]), abs=1e-9)
                assert row["drift"] == pytest.approx(costs[1] / costs[0] - 1, abs=1e-12)
                counted["known"] += 1
                counted["moved"] += abs(row["drift"]) > 1e-9
                for name in PARTS:
                    counted[name] += abs(parts[name]) > 1e-9
            assert {row["window_days"] for row in named(con.execute(f"from ({sql})"))} <= set(WINDOWS)
        con.execute("rollback")
    assert counted["known"] > 100
    assert min(counted[name] for name in ("unknown", "moved", "price_effect", "new_provider_effect")) > 10, counted
