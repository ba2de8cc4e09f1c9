-- What a million output tokens costs at each model's int.model_point on each chip that is sold, or of which one might
-- ask (cost/usual_chips.sql): at AWS on demand, under the best plan (of any term, and of a year), on spot and in a
-- Capacity Block; and at the two cheapest other providers (option_rank).
-- Only what may be ranked has a cost; where nothing may, cost_basis says why, and price, offer and age are those of the
-- nearest to it; where nothing is known, when and where it was last searched. Of spot the mean of 30 days counts
-- before that of 7, and both before the last price seen, which offer_terms tells.
with point as (
    from int.model_point
    where point_rank <= 8
),

chip as (
    select unnest(cost.usual_chips()) as accelerator_name
    union
    select accelerator_name
    from int.cost_option
),

kinds as (
    select
        o.*,
        k.option_kind,
        case when o.service_provider_name = 'AWS' then 'AWS' else 'elsewhere' end as place,
        row(
            not o.is_cost_ranked, o.price_usd is null, not o.is_price_ranked, o.price_kind,
            o.usd_per_million_output_tokens, o.offer_id, o.throughput_id, o.service_provider_name, o.commitment_class,
            o.offer_terms, o.instance_type, o.region_id
        ) as preference
    from int.token_option as o
    cross join unnest(cost.option_kinds(o.purchase_option, o.commitment_class)) as k (option_kind)
    where o.point_rank <= 8
    qualify
        row_number() over (
            partition by o.model_name, o.accelerator_name, k.option_kind, place, o.service_provider_name
            order by preference
        ) = 1
),

best as (
    select
        *,
        row_number() over (
            partition by model_name, accelerator_name, option_kind, place order by preference
        ) as option_rank
    from kinds
),

sold as (
    select
        o.accelerator_name,
        k.option_kind,
        case when o.service_provider_name = 'AWS' then 'AWS' else 'elsewhere' end as place,
        count(distinct o.service_provider_name) as n_providers
    from int.cost_option as o
    cross join unnest(cost.option_kinds(o.purchase_option, o.commitment_class)) as k (option_kind)
    where o.price_usd is not null
    group by all
),

searched as (
    select
        concat(
            ', last searched on ', max(last_good_at)::DATE, ' in ', count(distinct source), ' sources (', count(*),
            ' scopes)'
        ) as words
    from int.source_health
    where last_good_at is not null and kind <> 'import'
),

searched_run as (
    select
        concat(
            ', last searched on ', max(observed_at)::DATE, ' in ', count(distinct benchmark_family), ' benchmarks'
        ) as words
    from core.throughput
)

select
    p.model_name,
    p.point_rank,
    c.accelerator_name,
    k.option_kind,
    k.place,
    k.option_rank,
    b.service_provider_name,
    b.region_id,
    b.instance_type,
    b.purchase_option,
    b.commitment_class,
    b.offer_terms,
    b.price_kind,
    b.price_usd,
    case when b.is_cost_ranked then b.usd_per_million_output_tokens end as usd_per_million_output_tokens,
    b.usd_per_million_low,
    b.usd_per_million_high,
    case
        when b.is_cost_ranked or b.unknown_reason is not null or b.reach = 'unreachable' then b.cost_basis
        when b.reach = 'at most'
            then
                'unknown: at most '
                || printf('%.3g', b.usd_per_million_output_tokens)
                || ', as every run was faster for a user'
        when b.is_sold_out then 'unknown: sold out, as its provider says'
        when b.offer_id is not null and not b.is_price_ranked
            then 'unknown: the last price is of ' || b.last_observed_at::DATE
        when b.offer_id is not null then 'unknown: the run has no grade that may be ranked'
        when s.accelerator_name is null then 'unknown: no price' || l.words
        when (p.model_name, c.accelerator_name) not in (select (m.model_name, m.accelerator_name) from kinds as m)
            then 'unknown: no measured run at a comparable point' || r.words
        when s.n_providers < k.option_rank then 'unknown: no second price' || l.words
        else 'unknown: no offer is of the form and size that was measured'
    end as cost_basis,
    b.reach,
    b.evidence_grade,
    b.measured_by,
    b.measured_on,
    b.most_accelerators,
    b.software,
    b.throughput_id,
    b.source_url,
    b.age_days,
    b.last_observed_at,
    b.document_sha256,
    b.offer_id
from point as p
cross join chip as c
cross join (
    values
    ('on_demand', 'AWS', 1), ('plan', 'AWS', 1), ('one_year', 'AWS', 1), ('spot', 'AWS', 1),
    ('capacity_block', 'AWS', 1), ('on_demand', 'elsewhere', 1), ('on_demand', 'elsewhere', 2),
    ('one_year', 'elsewhere', 1), ('spot', 'elsewhere', 1)
) as k (option_kind, place, option_rank)
cross join searched as l
cross join searched_run as r
left join best as b
    on
        p.model_name = b.model_name and c.accelerator_name = b.accelerator_name and k.option_kind = b.option_kind
        and k.place = b.place and k.option_rank = b.option_rank
left join sold as s
    on c.accelerator_name = s.accelerator_name and k.option_kind = s.option_kind and k.place = s.place
