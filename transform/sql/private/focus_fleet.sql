-- The machines of an export of costs, alike ones together. The export covers the hours from the first use of a machine,
-- whatever its kind, to the last. On demand and spot: nodes are the most that ran in one charge period (the peak of an
-- hourly export, the mean of a monthly one), rounded up; nodes x share_of_use is what ran in the mean. Committed
-- machines are paid whether used or not; an export shows what was used of them: the mean, with a share of 1.
with whole as (
    select epoch(max(ends_at) - min(starts_at)) / 3600 as hours
    from focus_charge
    where is_of_machine
),

charge as (
    select
        *,
        sum(hours) over (partition by kind, starts_at, ends_at)::DOUBLE / (epoch(ends_at - starts_at) / 3600) as running
    from focus_charge
    where reason is null
),

alike as (
    select
        c.kind,
        struct_extract(c.kind, 'option') in ('on_demand', 'spot') as is_paid_when_running,
        sum(c.hours) as hours,
        if(count(c.list_amount) = count(*), sum(c.list_amount), null) as list_amount,
        sum(c.contracted_amount) as contracted_amount,
        sum(c.effective_amount) as effective_amount,
        sum(c.hours)::DOUBLE / any_value(w.hours) as mean_running,
        greatest(ceil(round(max(c.running), 6)), ceil(round(mean_running, 6))) as most_running
    from charge as c
    cross join whole as w
    group by c.kind
)

select
    kind,
    if(is_paid_when_running, most_running, mean_running)::DECIMAL(18, 10) as nodes,
    if(is_paid_when_running, least(mean_running / most_running, 1), 1)::DECIMAL(11, 10) as share_of_use,
    list_amount::DECIMAL(28, 10) as billed_list_cost,
    contracted_amount::DECIMAL(28, 10) as billed_contracted_cost,
    effective_amount::DECIMAL(28, 10) as billed_effective_cost,
    hours::DECIMAL(28, 10) as billed_hours
from alike
order by kind
