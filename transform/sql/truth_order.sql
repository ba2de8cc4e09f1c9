-- Ways to buy one machine in one place, beside one another: what binds longer or is paid earlier costs no more, and
-- what can be taken away costs no more than what cannot. Machines are the same in every word but those of the purchase;
-- prices were confirmed within a week of each other.
with machine as materialized (
    select
        *,
        hash(
            service_provider_name, host_provider_name, region_id, instance_type, accelerator_label, accelerator_count,
            capacity_unit, minimum_quantity, fabric, statistic, conditions, pricing_currency
        ) as machine
    from int.truth_price
    where effective_hourly_price > 0 and statistic = 'price'
    qualify last_observed_at >= max(last_observed_at) over (partition by service_provider_name) - interval 7 days
),

on_demand as (
    select * from machine
    where purchase_option = 'on_demand'
),

committed as (
    select * from machine
    where purchase_option in ('reserved', 'savings_plan') and commitment_term_hours > 0
)

select
    'spot_below_on_demand' as check_name,
    s.service_provider_name as subject,
    s.offer_id,
    o.offer_id as other_offer_id,
    s.effective_hourly_price / o.effective_hourly_price as ratio,
    greatest(s.valid_from, o.valid_from) as began_at
from machine as s
inner join on_demand as o on s.machine = o.machine and s.tier is not distinct from o.tier
where s.purchase_option = 'spot'
union all
select
    'commitment_below_on_demand' as check_name,
    c.service_provider_name as subject,
    c.offer_id,
    o.offer_id as other_offer_id,
    c.effective_hourly_price / o.effective_hourly_price as ratio,
    greatest(c.valid_from, o.valid_from) as began_at
from committed as c
inner join on_demand as o on c.machine = o.machine and c.tier is not distinct from o.tier
union all
select
    'longer_is_cheaper' as check_name,
    l.service_provider_name as subject,
    l.offer_id,
    s.offer_id as other_offer_id,
    l.effective_hourly_price / s.effective_hourly_price as ratio,
    greatest(l.valid_from, s.valid_from) as began_at
from committed as l
inner join committed as s
    on
        l.machine = s.machine and l.purchase_option = s.purchase_option and l.tier is not distinct from s.tier
        and l.commitment_discount_type is not distinct from s.commitment_discount_type
        and l.purchase_payment_model is not distinct from s.purchase_payment_model
        and l.offering_class is not distinct from s.offering_class and l.commitment_term_hours > s.commitment_term_hours
union all
select
    'paid_earlier_is_cheaper' as check_name,
    e.service_provider_name as subject,
    e.offer_id,
    n.offer_id as other_offer_id,
    e.effective_hourly_price / n.effective_hourly_price as ratio,
    greatest(e.valid_from, n.valid_from) as began_at
from committed as e
inner join committed as n
    on
        e.machine = n.machine and e.purchase_option = n.purchase_option and e.tier is not distinct from n.tier
        and e.commitment_term_hours = n.commitment_term_hours
        and e.commitment_discount_type is not distinct from n.commitment_discount_type
        and e.offering_class is not distinct from n.offering_class
        and e.purchase_payment_model in ('Partial Upfront', 'All Upfront') and n.purchase_payment_model = 'No Upfront'
union all
select
    'plan_like_reserved' as check_name,
    p.service_provider_name as subject,
    p.offer_id,
    r.offer_id as other_offer_id,
    p.effective_hourly_price / r.effective_hourly_price as ratio,
    greatest(p.valid_from, r.valid_from) as began_at
from committed as p
inner join committed as r
    on
        p.machine = r.machine
        and p.commitment_term_hours = r.commitment_term_hours
        and p.purchase_payment_model = r.purchase_payment_model
        and p.purchase_option = 'savings_plan'
        and r.purchase_option = 'reserved'
        and case p.commitment_discount_type
            when 'EC2Instance' then r.offering_class = 'standard'
            when 'Compute' then r.offering_class = 'convertible'
        end
