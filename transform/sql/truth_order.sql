-- Ways to buy one machine in one place, beside one another: what binds longer or is paid earlier costs no more, and
-- what can be taken away costs no more than what cannot. Machines are the same in every word but those of the purchase;
-- prices were confirmed within a week of each other.
with machine as materialized (
    select
        *,
        purchase_option in ('reserved', 'savings_plan') and commitment_term_hours > 0 as is_committed,
        hash(
            service_provider_name, host_provider_name, region_id, instance_type, accelerator_label, accelerator_count,
            capacity_unit, minimum_quantity, fabric, statistic, conditions, pricing_currency
        ) as machine
    from int.truth_price
    where effective_hourly_price > 0 and statistic = 'price'
    qualify last_observed_at >= max(last_observed_at) over (partition by service_provider_name) - interval 7 days
)

select
    case
        when b.purchase_option = 'on_demand'
            then if(a.is_committed, 'commitment_below_on_demand', 'spot_below_on_demand')
        when a.purchase_option <> b.purchase_option then 'plan_like_reserved'
        when a.commitment_term_hours > b.commitment_term_hours then 'longer_is_cheaper'
        else 'paid_earlier_is_cheaper'
    end as check_name,
    a.service_provider_name as subject,
    a.offer_id,
    b.offer_id as other_offer_id,
    a.effective_hourly_price / b.effective_hourly_price as ratio,
    greatest(a.valid_from, b.valid_from) as began_at
from machine as a
inner join machine as b on a.machine = b.machine
where
    (
        b.purchase_option = 'on_demand'
        and (a.is_committed or a.purchase_option = 'spot')
        and (a.tier is not distinct from b.tier)
    )
    or (
        a.is_committed
        and a.purchase_option = 'savings_plan'
        and b.purchase_option = 'reserved'
        and a.commitment_term_hours = b.commitment_term_hours
        and a.purchase_payment_model = b.purchase_payment_model
        and b.offering_class = case a.commitment_discount_type
            when 'EC2Instance' then 'standard' when 'Compute' then 'convertible'
        end
    )
    or (
        a.is_committed
        and b.is_committed
        and a.purchase_option = b.purchase_option
        and (a.tier is not distinct from b.tier)
        and (a.commitment_discount_type is not distinct from b.commitment_discount_type)
        and (a.offering_class is not distinct from b.offering_class)
        and case
            when a.commitment_term_hours > b.commitment_term_hours
                then a.purchase_payment_model is not distinct from b.purchase_payment_model
            else
                a.commitment_term_hours = b.commitment_term_hours
                and a.purchase_payment_model in ('Partial Upfront', 'All Upfront')
                and b.purchase_payment_model = 'No Upfront'
        end
    )
