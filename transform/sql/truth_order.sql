-- Ways to buy one machine in one place, beside one another: what binds longer or is paid earlier costs no more, and
-- what can be taken away costs no more than what cannot. Machines are the same in every word but those of the purchase,
-- and a Local Zone (usw2-lax1-az1) is another place than its region; prices were confirmed within a week of each other.
-- Two prices are compared where a key is equal: a number, as words are slow to join by.
with newest as (
    select
        service_provider_name,
        max(last_observed_at) as newest_at
    from int.truth_price
    where effective_hourly_price > 0 and statistic = 'price'
    group by service_provider_name
),

confirmed as (
    select p.*
    from int.truth_price as p
    inner join newest as n on p.service_provider_name = n.service_provider_name
    where
        p.effective_hourly_price > 0
        and p.statistic = 'price'
        and p.last_observed_at >= n.newest_at - interval 7 days
),

recent as materialized (
    select
        service_provider_name,
        purchase_option,
        commitment_term_hours,
        purchase_payment_model,
        offer_id,
        effective_hourly_price,
        valid_from,
        purchase_option in ('reserved', 'savings_plan') and commitment_term_hours > 0 as is_committed,
        case
            when purchase_option = 'reserved' then offering_class
            when commitment_discount_type = 'EC2Instance' then 'standard'
            when commitment_discount_type = 'Compute' then 'convertible'
        end as reserved_class,
        hash(
            service_provider_name, host_provider_name, region_id, instance_type, accelerator_label,
            accelerator_count, capacity_unit, minimum_quantity, fabric, statistic, conditions,
            pricing_currency, regexp_matches(coalesce(availability_zone_id, ''), '[0-9]-[a-z].*-')
        ) as machine,
        hash(machine, purchase_option, tier, commitment_discount_type, offering_class) as plan,
        hash(machine, tier) as on_demand_key,
        hash(machine, commitment_term_hours, purchase_payment_model, reserved_class) as reserved_key,
        hash(plan, purchase_payment_model) as term_key,
        hash(plan, commitment_term_hours) as payment_key
    from confirmed
),

compared as (
    select
        *,
        unnest(['below_on_demand', 'plan_like_reserved', 'longer_is_cheaper', 'paid_earlier_is_cheaper']) as check_name,
        unnest([
            case when is_committed or purchase_option = 'spot' then on_demand_key end,
            case
                when
                    purchase_option = 'savings_plan' and is_committed
                    and purchase_payment_model is not null and reserved_class is not null
                    then reserved_key
            end,
            case when is_committed then term_key end,
            case when is_committed and purchase_payment_model in ('Partial Upfront', 'All Upfront') then payment_key end
        ]) as same_key
    from recent
),

candidate as (
    select
        *,
        unnest([
            case when purchase_option = 'on_demand' then on_demand_key end,
            case when purchase_option = 'reserved' and is_committed then reserved_key end,
            case when is_committed then term_key end,
            case when is_committed and purchase_payment_model = 'No Upfront' then payment_key end
        ]) as same_key
    from recent
)

select
    case
        when a.check_name <> 'below_on_demand' then a.check_name
        else if(a.is_committed, 'commitment_', 'spot_') || a.check_name
    end as check_name,
    a.service_provider_name as subject,
    a.offer_id,
    b.offer_id as other_offer_id,
    a.effective_hourly_price / b.effective_hourly_price as ratio,
    greatest(a.valid_from, b.valid_from) as began_at
from compared as a
inner join candidate as b on a.same_key = b.same_key
where a.check_name <> 'longer_is_cheaper' or a.commitment_term_hours > b.commitment_term_hours
