-- What each way to have chips costs over a time: every offer of int.cost_option for each need, charged as it is sold.
-- `needs` is a list of STRUCTs, `shares` one of low, likely and high shares of the hours in which the machines run:
--   accelerator_name, form_factor, instance_type  the chip; of AWS that machine alone, where one is named, though here
--                                                 int.cost_option has the cheapest of each chip, size and option only
--   accelerators, spare_units                     chips that must run at once, and whole units more
--   least_unit; unit_accelerators, network        least chips of a unit; or exactly the unit that a rate is of
--   hours, hours_left                             that it takes (NULL: `months_asked` of 730), and a training has
-- Whole units are charged: on demand and spot the hours x the share in which they run, spot / (1 - `loss_asked`, else
-- the band's; of a training machines x interruptions x the minutes of cost.training_goodput); commitments all hours of
-- the terms that it needs (8,760 a year; of a length sold as a range, such as "91-180 days", any within it); Capacity
-- Blocks, of 256 machines at most, whole days up to 14, then weeks, up to 182 days, with the end that nobody can use
-- (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-blocks-purchase.html). A spot price is the mean of
-- 30 days (else 7, else the last) of the zone at the lower quartile.
-- An unknown upfront fee is none here: the row gate refuses Partial and All Upfront without one.
-- No price is assumed to move. Partial Upfront of a Savings Plan is half of the term, the least that AWS takes:
-- https://docs.aws.amazon.com/savingsplans/latest/APIReference/API_CreateSavingsPlan.html
with need as (
    select unnest(needs, recursive := true) -- noqa: AL03
),

offered as (
    select
        n.* exclude (n.form_factor, n.unit_accelerators, n.network, n.instance_type),
        o.* exclude (o.accelerator_name),
        (ceil(n.accelerators / o.unit_accelerators) + n.spare_units)::BIGINT as units,
        units * o.unit_accelerators as paid_accelerators,
        coalesce(n.hours, round(months_asked::DOUBLE * 730, 6)) as hours_needed, -- noqa: RF02
        cost.block_hours(hours_needed, o.instance_type) as block_hours,
        coalesce(
            loss_asked::DOUBLE, -- noqa: RF02
            if(n.hours_left is null, o.lost_share, cost.spot_lost_share(o.interruption_band, units, 0, 16.7))
        ) as lost
    from need as n
    inner join int.cost_option as o
        on
            n.accelerator_name = o.accelerator_name
            and (n.form_factor is null or n.form_factor = o.form_factor)
            and (n.unit_accelerators is null or n.unit_accelerators = o.unit_accelerators)
            and (n.unit_accelerators is null or n.network is not distinct from o.network)
            and (n.instance_type is null or o.service_provider_name <> 'AWS' or n.instance_type = o.instance_type)
),

priced as (
    select
        o.* exclude (o.price_usd),
        a.commitment_term_hours,
        coalesce(
            24 * try_cast(regexp_extract(o.offer_terms, '[0-9]+-([0-9]+) days', 1) as INTEGER), a.commitment_term_hours
        ) as longest_hours,
        case
            when o.purchase_option <> 'savings_plan'
                then coalesce(a.upfront_price::DOUBLE, 0) * a.usd_per_currency_unit / a.accelerator_count::DOUBLE
            else
                case a.purchase_payment_model when 'All Upfront' then 1 when 'Partial Upfront' then 0.5 else 0 end
                * o.price_usd * a.commitment_term_hours
        end as upfront_price_usd,
        case o.purchase_option
            when 'capacity_block' then a.price_per_accelerator_hour_usd
            when 'spot'
                then o.price_usd * (1 - coalesce(o.lost_share, 0)) / (1 - o.lost)
            else o.price_usd
        end as price_usd,
        case
            when o.unknown_reason is not null then 'no price: ' || o.unknown_reason
            when o.is_sold_out then 'sold out, as its provider says'
            when not o.is_price_ranked then 'price beyond the limit of age'
            when o.unit_accelerators < o.least_unit and o.network is null then 'sold in smaller, unjoined units'
            when not list_contains(providers_asked::VARCHAR[], o.service_provider_name) -- noqa: RF02
                then 'provider that is not to be bought from'
            when o.purchase_option = 'spot' and not tolerates_asked then 'spot may be interrupted' -- noqa: RF02
            when o.purchase_option = 'spot' and o.lost is null then 'spot of unknown loss'
            when o.purchase_option = 'spot' and (o.lost >= 1 or o.hours_needed / (1 - o.lost) > o.hours_left)
                then 'spot, with what it loses, ends after the deadline'
            when o.purchase_option = 'capacity_block' and o.service_provider_name <> 'AWS' then 'of unknown length'
            when o.purchase_option = 'capacity_block' and o.block_hours is null then 'blocks last 182 days at most'
            when o.purchase_option = 'capacity_block' and o.units > 256 then 'blocks hold 256 machines at most'
            when o.purchase_option in ('reserved', 'savings_plan') and a.commitment_term_hours is null
                then 'length of the commitment not stated'
        end as left_out,
        {
            'chip': o.accelerator_name, 'form': o.form_factor, 'seller': o.service_provider_name,
            'unit': o.unit_accelerators, 'network': o.network, 'is_left_out': left_out is not null,
            'offer': case when o.purchase_option <> 'spot' then o.offer_id end
        } as sold
    from offered as o
    left join int.accelerator_hour_price as a on o.offer_id = a.offer_id
),

charged as (
    select
        *,
        min(price_usd) over zone as low_price_usd,
        max(price_usd) over zone as high_price_usd,
        case
            when purchase_option in ('reserved', 'savings_plan')
                then greatest(hours_needed, ceil(hours_needed / longest_hours) * commitment_term_hours)
            when purchase_option <> 'capacity_block' then hours_needed
            else block_hours
        end as charged_hours,
        case when left_out is null then paid_accelerators end as chips,
        case when purchase_option in ('on_demand', 'spot') then shares else { 'low': 1, 'likely': 1, 'high': 1 } end
            as used
    from priced
    window zone as (partition by sold, price_kind)
    qualify
        left_out is not null
        or (
            price_kind = min(price_kind) over (partition by sold)
            and row_number() over (zone order by price_usd asc, offer_id asc) = ceil(0.25 * count(*) over zone)
        )
)

select
    c.accelerator_name,
    c.form_factor,
    c.service_provider_name,
    c.instance_type,
    c.region_id,
    c.purchase_option,
    c.commitment_class,
    c.offer_terms,
    c.commitment_term_hours,
    c.unit_accelerators,
    c.network,
    c.units,
    c.paid_accelerators,
    c.hours_needed,
    c.charged_hours,
    c.price_usd,
    c.chips * c.charged_hours * c.low_price_usd * c.used['low'] as charged_usd_low,
    c.chips * c.charged_hours * c.price_usd * c.used['likely'] as charged_usd,
    c.chips * c.charged_hours * c.high_price_usd * c.used['high'] as charged_usd_high,
    c.chips * c.upfront_price_usd as upfront_usd_per_term,
    c.left_out,
    c.last_observed_at,
    c.document_sha256,
    d.source_url,
    c.offer_id
from charged as c
left join int.document_evidence as d on c.document_sha256 = d.document_sha256
