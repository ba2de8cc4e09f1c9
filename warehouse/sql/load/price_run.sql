-- Runs of equal prices of one offer among the observed rows, each with the price known before the first: what the
-- history gate walks through, of the rows in differing_row. Of a live answer a run is a row, of a dated history a
-- stretch of it. Left out are prices that move by themselves: interruptible ones, Capacity Blocks, statistics of
-- markets, and marketplaces' ($marketplaces). The list of a run's rows is in order of time. A price of a dated history,
-- which may list changes alone, stands until the next one of its offer (next_unit_price), or until its source ends; the
-- log has believed it (is_logged) where it has it on a day of the run, as files may overlap.
-- Live answers and dated histories are never of one round: those left out first have no say in source_until.
with judged as (
    select
        r.*,
        max(r.observed_at) over (partition by r.source) as source_until,
        k.unit_price as known_unit_price,
        k.upfront_price as known_upfront_price,
        lag(row(r.unit_price, r.upfront_price)) over w as last_amounts,
        row_number() over w as nth
    from differing_row as r
    left join known_price as k on r.row_number = k.row_number
    where
        not r.is_past_gates
        and r.unit_price_type = 'List'
        and r.purchase_option not in ('spot', 'capacity_block')
        and r.statistic not in ('p25', 'median')
        and coalesce(r.tier, '') not ilike '%marketplace%'
        and not list_contains($marketplaces, lower(r.service_provider_name))
        and (r.unit_price is not null or r.upfront_price is not null)
    window w as (partition by r.offer_id, r.source order by r.observed_at, r.row_number)
),

numbered as (
    select
        *,
        sum((row(unit_price, upfront_price) is distinct from last_amounts)::BIGINT)
            over (partition by offer_id, source order by nth)
            as run_number
    from judged
),

run as (
    select
        offer_id,
        source,
        run_number,
        any_value(unit_price) as unit_price,
        any_value(upfront_price) as upfront_price,
        arg_min(known_unit_price, nth) as known_unit_price,
        arg_min(known_upfront_price, nth) as known_upfront_price,
        min(observed_at) as first_at,
        max(observed_at) as last_at,
        max(source_until) filter (where is_archived) as source_until,
        bool_or(
            is_archived
            and row(unit_price, upfront_price) is not distinct from row(known_unit_price, known_upfront_price)
        ) as is_logged,
        arg_min(fetch_number, nth) as fetch_number,
        list(row_number order by nth) as row_numbers
    from numbered
    group by offer_id, source, run_number
)

select
    n.offer_id,
    n.source,
    n.fetch_number,
    n.first_at,
    coalesce(case when n.source_until is not null then lead(n.first_at) over following end, n.source_until, n.last_at)
        as holds_until,
    n.last_at,
    n.row_numbers,
    n.unit_price,
    n.upfront_price,
    n.known_unit_price,
    n.known_upfront_price,
    lead(n.unit_price) over following as next_unit_price,
    n.is_logged,
    coalesce(r.accelerator_count, t.accelerator_count)::DOUBLE as chips,
    coalesce(r.instance_type, r.accelerator_label) as machine,
    coalesce(l.accelerator_name, t.accelerator_name, r.accelerator_label, r.instance_type) as chip,
    hash(
        r.service_provider_name, r.host_provider_name, r.region_id, r.availability_zone_id, r.availability_zone,
        r.accelerator_count, r.capacity_unit, r.minimum_quantity, r.purchase_option, r.commitment_discount_type,
        r.commitment_term_hours, r.purchase_payment_model, r.offering_class, r.tier, r.statistic, r.conditions,
        r.fabric, r.restriction, r.pricing_currency, r.pricing_unit
    ) as place
from run as n
inner join differing_row as r on n.row_numbers[1] = r.row_number
left join label_chip as l
    on r.service_provider_name = l.service_provider_name and r.accelerator_label = l.accelerator_label
left join core.instance_type as t
    on r.service_provider_name = 'AWS' and r.instance_type = t.instance_type and t.known_from is null
left join held_key as h on n.offer_id = h.offer_id and n.source = h.source
window following as (partition by n.offer_id, n.source order by n.run_number)
qualify
    h.offer_id is not null
    or count(*) over (partition by n.offer_id, n.source) > 1
    or (
        coalesce(n.known_unit_price, n.known_upfront_price) is not null
        and row(n.unit_price, n.upfront_price) is distinct from row(n.known_unit_price, n.known_upfront_price)
    )
order by n.first_at, n.fetch_number, n.row_numbers[1]
