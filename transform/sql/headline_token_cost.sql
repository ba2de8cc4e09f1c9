-- What a million output tokens costs at int.headline_point on each chip that is sold, or of which one might ask
-- (cost/usual_chips.sql): on demand, under the best plan of a year, and on spot, at AWS and elsewhere.
-- Only what may be ranked has a cost; where nothing may, cost_basis says why, and price, offer and age are those of the
-- nearest to it. Of spot the mean of 30 days counts before that of 7, and both before the last price seen, which
-- offer_terms tells.
with chip as (
    select unnest(cost.usual_chips()) as accelerator_name
    union
    select accelerator_name
    from int.cost_option
),

asked as (
    select
        c.accelerator_name,
        k.option_kind,
        w.place
    from chip as c
    cross join (values ('on_demand'), ('one_year'), ('spot')) as k (option_kind)
    cross join (values ('AWS'), ('elsewhere')) as w (place)
),

kinds as (
    select
        o.*,
        case
            when o.purchase_option in ('reserved', 'savings_plan')
                then case when o.commitment_class = 'one_year' then 'one_year' end
            else o.purchase_option
        end as option_kind,
        case when o.service_provider_name = 'AWS' then 'AWS' else 'elsewhere' end as place
    from int.token_option as o
    inner join int.headline_point as p
        on
            o.model_name = p.model_name and o.task = p.task and o.scenario = p.scenario and o.benchmark = p.benchmark
            and o.precision is not distinct from p.precision and o.input_length is not distinct from p.input_length
            and o.output_length is not distinct from p.output_length and o.decoding is not distinct from p.decoding
            and o.interactivity is not distinct from p.interactivity
            and o.interactivity_statistic is not distinct from p.interactivity_statistic
),

best as (
    select *
    from kinds
    where option_kind is not null
    qualify
        row_number() over (
            partition by accelerator_name, option_kind, place
            order by
                is_cost_ranked desc,
                price_usd is null asc,
                is_price_ranked desc,
                case price_kind when 'mean_30d' then 1 when 'mean_7d' then 2 else 3 end asc,
                usd_per_million_output_tokens asc,
                offer_id asc,
                throughput_id asc
        ) = 1
),

measured as (
    select distinct accelerator_name
    from kinds
),

sold as (
    select distinct
        accelerator_name,
        case
            when purchase_option in ('reserved', 'savings_plan')
                then case when commitment_class = 'one_year' then 'one_year' end
            else purchase_option
        end as option_kind,
        case when service_provider_name = 'AWS' then 'AWS' else 'elsewhere' end as place
    from int.cost_option
    where price_usd is not null
)

select
    a.accelerator_name,
    a.option_kind,
    a.place,
    b.service_provider_name,
    b.region_id,
    b.instance_type,
    b.purchase_option,
    b.offer_terms,
    b.price_kind,
    b.price_usd,
    case when b.is_cost_ranked then b.usd_per_million_output_tokens end as usd_per_million_output_tokens,
    case
        when b.is_cost_ranked or b.unknown_reason is not null then b.cost_basis
        when b.reach = 'unreachable' then 'unknown: no run is as fast for a user'
        when b.reach = 'at most'
            then
                'unknown: at most '
                || printf('%.3g', b.usd_per_million_output_tokens)
                || ', as every run was faster for a user'
        when b.offer_id is not null and not b.is_price_ranked
            then 'unknown: the last price is of ' || b.last_observed_at::DATE
        when b.offer_id is not null then 'unknown: the run has no grade that may be ranked'
        when s.accelerator_name is null then 'unknown: no price is known'
        when m.accelerator_name is null then 'unknown: no run of the model at this point on this chip is known'
        else 'unknown: no offer is of the form and size that was measured'
    end as cost_basis,
    b.reach,
    b.evidence_grade,
    b.measured_on,
    b.throughput_id,
    b.source_url,
    b.age_days,
    b.last_observed_at,
    b.document_sha256,
    b.offer_id
from asked as a
left join best as b
    on a.accelerator_name = b.accelerator_name and a.option_kind = b.option_kind and a.place = b.place
left join measured as m on a.accelerator_name = m.accelerator_name
left join sold as s
    on a.accelerator_name = s.accelerator_name and a.option_kind = s.option_kind and a.place = s.place
