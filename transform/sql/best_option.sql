-- The cheapest way to have `nodes` machines of each AWS type for `horizon_hours`, used for `share_of_use` of that time,
-- in `regions` (NULL: all); spot only where the work tolerates interruption.
-- On-demand and spot pay for the hours of use; a Reserved or plan term whole, used or not, and as often as the horizon
-- needs; a Capacity Block, of 256 machines at most, whole days up to 14, then weeks, up to 182 days, with the last 30
-- minutes, which nobody can use. Spot is taken at the lowest 30-day mean of a single zone, else at the cheapest zone's
-- current price. Only ranked amounts in USD are compared; what is left out is counted, with the reason. The runner-up
-- is the cheapest option of another kind, in any of the regions.
with known as (
    select list(distinct region_id) || (select list(r.region_id) from ref.region as r) as region_ids
    from int.aws_purchase_options
),

parameter as (
    select
        if(horizon_hours > 0, horizon_hours, error('horizon_hours must be above 0'))::DOUBLE as hours,
        if(share_of_use between 0 and 1, share_of_use, error('share_of_use must be from 0 to 1'))::DOUBLE as share_used,
        if(nodes > 0, nodes, error('nodes must be above 0'))::DOUBLE as machines,
        coalesce(tolerates_interruption::BOOLEAN, false) as tolerates,
        list_filter(regions::VARCHAR[], lambda r: not list_contains(region_ids, r)) as strange,
        if(strange <> [], error('no region of AWS: ' || array_to_string(strange, ', ')), regions)::VARCHAR[] as wanted
    from known
),

charged as (
    select
        o.*,
        greatest(a.machines, coalesce(o.minimum_quantity, 0)) as machines,
        coalesce(o.conditions = 'region-level, public spot feed', false) as is_feed,
        coalesce(s.lowest_mean_price_30d, s.cheapest_zone_price) as zone_price,
        case
            when s.lowest_mean_price_30d is not null then '30-day mean of zone ' || s.lowest_mean_zone
            else 'current price of zone ' || s.cheapest_zone
        end as zone_basis,
        case
            when o.effective_hourly_price is null then 'no price known'
            when o.pricing_currency <> 'USD' then 'priced in ' || o.pricing_currency
            when not o.is_ranked then 'price beyond the limit of age, or not for everybody'
            when o.is_contradicted then 'price in doubt, a later one waits in quarantine'
            when o.purchase_option = 'spot' and not a.tolerates then 'spot may be interrupted'
            when o.purchase_option = 'spot' and is_feed and zone_price is not null
                then 'region-level spot price, as zones have prices'
            when o.purchase_option = 'capacity_block' and cost.block_hours(a.hours, o.instance_type) is null
                then 'Capacity Blocks last 4368 hours at most, the end of which nobody can use'
            when o.purchase_option = 'capacity_block' and a.machines > 256
                then 'Capacity Blocks hold 256 machines at most'
        end as reason,
        concat_ws(
            ', ',
            case o.purchase_option
                when 'on_demand' then 'on-demand'
                when 'capacity_block' then 'Capacity Block'
                when 'reserved' then concat_ws(' ', 'Reserved', o.offering_class)
                when 'savings_plan' then concat_ws(' ', o.commitment_discount_type, 'Savings Plan')
                else o.purchase_option
            end,
            case when o.purchase_option in ('reserved', 'savings_plan') then o.commitment_term_hours || ' hours' end,
            o.purchase_payment_model,
            case when o.purchase_option in ('reserved', 'savings_plan', 'on_demand') then o.conditions end
        ) as kind_of_option,
        coalesce(if(o.purchase_option = 'spot' and not is_feed, zone_price, null), o.effective_hourly_price) as price,
        case
            when o.purchase_option in ('reserved', 'savings_plan')
                then ceil(a.hours / o.commitment_term_hours) * o.commitment_term_hours
            when o.purchase_option = 'capacity_block'
                then greatest(cost.block_hours(a.hours, o.instance_type), coalesce(o.commitment_term_hours, 0))
            else a.hours * a.share_used
        end as hours_paid,
        case o.purchase_option
            when 'on_demand' then 'on-demand list price'
            when 'reserved' then 'hourly rate, and the upfront fee spread over the term'
            when 'savings_plan' then 'rate of the plan'
            when 'spot'
                then case when is_feed then 'region-level price of the public feed' else zone_basis end
            when 'capacity_block'
                then coalesce('rate of an offer of ' || o.commitment_term_hours || ' hours', 'published rate')
        end as basis
    from int.aws_purchase_options as o
    cross join parameter as a
    left join int.spot_region_price as s
        on
            o.purchase_option = 'spot' and o.region_id = s.region_id and o.instance_type = s.instance_type
            and o.capacity_unit = s.capacity_unit and o.pricing_currency = s.pricing_currency
            and s.service_provider_name = 'AWS'
    where a.wanted is null or list_contains(a.wanted, o.region_id)
),

eligible as (
    select
        *,
        machines * hours_paid * price as paid,
        row_number() over by_cost as place,
        first_value(kind_of_option) over by_cost as best_kind
    from charged
    where reason is null
    window by_cost as (partition by instance_type order by machines * hours_paid * price, kind_of_option, region_id)
),

second as (
    from eligible
    where kind_of_option <> best_kind
    qualify place = min(place) over (partition by instance_type)
),

machine as (
    select
        instance_type,
        any_value(accelerator_name) as accelerator_name,
        any_value(accelerator_count) as accelerator_count,
        any_value(capacity_unit) as capacity_unit,
        array_to_string(
            list_transform(map_entries(histogram(reason)), lambda e: e['key'] || ' (' || e['value'] || ')'), '; '
        ) as left_out
    from charged
    group by instance_type
)

select
    m.instance_type,
    m.accelerator_name,
    m.accelerator_count,
    m.capacity_unit,
    b.region_id,
    b.purchase_option,
    b.commitment_discount_type,
    b.commitment_term_hours,
    b.purchase_payment_model,
    b.offering_class,
    b.conditions,
    b.machines as nodes,
    b.hours_paid as charged_hours,
    b.price as hourly_price,
    b.basis as price_basis,
    b.paid as total_cost,
    b.capacity_guaranteed,
    b.is_interruptible,
    b.last_observed_at,
    b.is_current,
    r.kind_of_option as runner_up,
    r.region_id as runner_up_region_id,
    r.paid as runner_up_cost,
    r.last_observed_at as runner_up_last_observed_at,
    r.is_current as runner_up_is_current,
    r.paid - b.paid as margin,
    m.left_out
from machine as m
left join eligible as b on m.instance_type = b.instance_type and b.place = 1
left join second as r on m.instance_type = r.instance_type
order by m.instance_type
