-- plan(one_off_usd >= 0, wait_months >= 0, from_usd_per_month > 0, to_usd_per_month > 0, upkeep_usd_per_month >= 0,
-- horizon_months > 0): What comes of a move at monthly amounts, as a STRUCT.
-- A move at monthly amounts, once it is known what it costs once and how long it takes, as a STRUCT.
-- months_from_start counts from the first day of the work; break_even_months from the first day of running.
select
    {
        'one_off_usd': one_off_usd,
        'wait_months': wait_months,
        'from_usd_per_month': from_usd_per_month,
        'to_usd_per_month': to_usd_per_month,
        'upkeep_usd_per_month': upkeep_usd_per_month,
        'net_saving_usd_per_month': decision.net_saving(from_usd_per_month, to_usd_per_month, upkeep_usd_per_month),
        'break_even_months': decision.break_even_months(
            one_off_usd, decision.net_saving(from_usd_per_month, to_usd_per_month, upkeep_usd_per_month)
        ),
        'months_from_start': wait_months + decision.break_even_months(
            one_off_usd, decision.net_saving(from_usd_per_month, to_usd_per_month, upkeep_usd_per_month)
        ),
        'staying_usd': decision.cost_of_staying(horizon_months, from_usd_per_month),
        'moving_usd': decision.cost_of_moving(
            horizon_months, wait_months, from_usd_per_month, to_usd_per_month, upkeep_usd_per_month, one_off_usd
        ),
        'gain_usd': decision.cost_of_staying(horizon_months, from_usd_per_month) - decision.cost_of_moving(
            horizon_months, wait_months, from_usd_per_month, to_usd_per_month, upkeep_usd_per_month, one_off_usd
        ),
        'verdict': decision.verdict(
            decision.net_saving(from_usd_per_month, to_usd_per_month, upkeep_usd_per_month),
            decision.cost_of_staying(horizon_months, from_usd_per_month),
            decision.cost_of_moving(
                horizon_months, wait_months, from_usd_per_month, to_usd_per_month, upkeep_usd_per_month, one_off_usd
            )
        )
    } as outcome
