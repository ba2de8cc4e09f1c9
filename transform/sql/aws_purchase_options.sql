-- Every way to buy each AWS instance type in each region, with its price or the reason why there is none.
-- One row per type, region, option, plan, term, payment, class, quantity, condition and currency; of several zones the
-- cheapest that is ranked (is_ranked of int.accelerator_hour_price), or else the last one confirmed. Amounts are of one
-- capacity unit. Commitments are compared with the on-demand list price and with the lowest 30-day mean of a single
-- spot zone of the same type, region and currency, where both are ranked or confirmed within 30 days of each other:
-- SageMaker's ml.* types only with their own. What a purchase option promises comes from ref.purchase_term.
with open_refusal as (
    select
        arg_max(offer_id, recorded_at) as offer_id,
        arg_max(observed_at, recorded_at) as observed_at,
        arg_max(reason, recorded_at) as reason,
        arg_max(row_json, recorded_at) as row_json
    from core.quarantine
    group by quarantine_id
    having count(decision) = 0
),

chosen as (
    select
        a.*,
        (
            select coalesce(bool_or(d.observed_at > a.last_observed_at), false)
            from open_refusal as d
            where d.offer_id = a.offer_id
        ) as is_contradicted
    from int.accelerator_hour_price as a
    where
        a.service_provider_name = 'AWS'
        and a.instance_type is not null
        and a.statistic = 'price'
        and a.unit_price_type = 'List'
        and a.tier is null
    qualify
        row_number() over (
            partition by
                a.region_id, a.instance_type, a.capacity_unit, a.minimum_quantity, a.purchase_option,
                a.commitment_discount_type, a.commitment_term_hours, a.purchase_payment_model, a.offering_class,
                a.conditions, a.pricing_currency
            order by
                row(
                    not a.is_ranked, case when not a.is_ranked then -epoch_us(a.last_observed_at) end,
                    is_contradicted, a.effective_hourly_price, a.offer_id
                )
        ) = 1
),

reference as (
    select
        purchase_option,
        region_id,
        instance_type,
        pricing_currency,
        effective_hourly_price as hourly,
        last_observed_at,
        is_ranked
    from chosen
    where purchase_option = 'on_demand' and conditions is null and effective_hourly_price > 0
    union all
    select
        'spot' as purchase_option,
        s.region_id,
        s.instance_type,
        s.pricing_currency,
        min(s.lowest_mean_price_30d) as hourly,
        max(s.last_observed_at) as last_observed_at,
        bool_and(s.last_observed_at between b.built_at - to_days(b.ranked_days) and b.built_at) as is_ranked
    from int.spot_region_price as s
    cross join meta.build as b
    where s.service_provider_name = 'AWS'
    group by s.region_id, s.instance_type, s.pricing_currency
),

-- Between which moments a price, ranked or not (is_beside), may have been confirmed that is compared with each of them.
comparable as (
    select
        r.* exclude (r.is_ranked),
        k.is_beside,
        if(k.is_beside and r.is_ranked, '-infinity', r.last_observed_at - interval 30 day) as from_at,
        if(k.is_beside and r.is_ranked, 'infinity', r.last_observed_at + interval 30 day) as to_at
    from reference as r
    cross join (values (true), (false)) as k (is_beside)
),

seen as (
    select distinct
        region_id,
        instance_type
    from (
        from core.offer
        where service_provider_name = 'AWS'
        union all by name
        from core.instance_capability
        union all by name
        from core.spot_advice
        union all by name
        from core.capacity_block_answer
    ) as known
),

looked as (
    select
        source,
        scope,
        max(observed_at) filter (where status = 'empty' or (complete and status = 'ok')) as good_at,
        arg_max(error, observed_at) filter (where error is not null) as error
    from log.run
    group by source, scope
),

capability as (
    select
        region_id,
        instance_type,
        arg_max(columns('^supports_'), (observed_at, recorded_at)) as '\0' -- noqa: RF05
    from core.instance_capability
    group by region_id, instance_type
),

answer as (
    select
        region_id,
        instance_type,
        max(observed_at) as observed_at,
        arg_max_null(answer_error, observed_at) as answer_error,
        arg_max(capacity_block_offering_id, (observed_at, capacity_block_offering_id)) <> '' as has_offer,
        string_agg(distinct queried_count || ' x ' || queried_hours || ' h', ', ') as queried
    from core.capacity_block_answer
    group by region_id, instance_type
),

gone as (
    select
        o.region_id,
        o.instance_type,
        o.purchase_option,
        o.commitment_discount_type,
        max(h.valid_from) as gone_at
    from log.price_link as h
    inner join core.offer as o on h.offer_no = o.offer_no
    where h.valid_to is null and h.unit_price is null and o.service_provider_name = 'AWS'
    group by all
),

refused as (
    select
        row_json ->> 'region_id' as region_id,
        row_json ->> 'instance_type' as instance_type,
        row_json ->> 'purchase_option' as purchase_option,
        row_json ->> 'commitment_discount_type' as commitment_discount_type,
        arg_max(reason, observed_at) as reason
    from open_refusal
    group by all
),

every_row as (
    select
        c.*,
        case
            when c.purchase_option = 'reserved' then c.upfront_price::DOUBLE
            when c.purchase_option = 'capacity_block' then c.unit_price::DOUBLE * c.commitment_term_hours
            when c.purchase_option = 'savings_plan'
                then
                    c.unit_price::DOUBLE * c.commitment_term_hours * case c.purchase_payment_model
                        when 'All Upfront' then 1
                        when 'Partial Upfront' then 0.5
                        when 'No Upfront' then 0
                    end
        end as cash_upfront,
        case when c.purchase_option not in ('on_demand', 'spot') then c.effective_hourly_price / d.hourly end
            as share_of_on_demand,
        case when c.purchase_option not in ('on_demand', 'spot') then c.effective_hourly_price / s.hourly end
            as share_of_spot
    from chosen as c
    left join comparable as d
        on
            c.region_id = d.region_id and c.instance_type = d.instance_type and c.pricing_currency = d.pricing_currency
            and c.is_ranked = d.is_beside and c.last_observed_at >= d.from_at and c.last_observed_at <= d.to_at
            and d.purchase_option = 'on_demand'
    left join comparable as s
        on
            c.region_id = s.region_id and c.instance_type = s.instance_type and c.pricing_currency = s.pricing_currency
            and c.is_ranked = s.is_beside and c.last_observed_at >= s.from_at and c.last_observed_at <= s.to_at
            and s.purchase_option = 'spot'
    union all by name
    select
        s.region_id,
        s.instance_type,
        k.purchase_option,
        k.commitment_discount_type,
        k.teller_name as source,
        greatest(case when k.purchase_option = 'capacity_block' then a.observed_at end, l.good_at) as last_observed_at,
        case
            when r.reason is not null then 'a price was refused and waits in quarantine: ' || r.reason
            when g.gone_at is not null then 'no longer offered: gone since ' || g.gone_at::DATE
            when k.purchase_option in ('spot', 'capacity_block') and regexp_matches(s.region_id, '[0-9]-[a-z]')
                then 'under its region, by zone: EC2 does not tell it of a Local Zone alone'
            when k.purchase_option = 'spot' and not b.supports_spot
                then 'the EC2 API says that this type is not sold as spot in this region'
            when k.purchase_option = 'capacity_block' and not b.supports_capacity_block
                then 'the EC2 API says that this type is not sold in Capacity Blocks in this region'
            when k.purchase_option = 'capacity_block' and a.answer_error is not null
                then 'the query for Capacity Blocks was refused: ' || a.answer_error
            when k.purchase_option = 'capacity_block' and a.observed_at is not null
                then
                    'a query for ' || a.queried || ' on ' || last_observed_at::DATE || ' found '
                    || if(a.has_offer, 'a Capacity Block of unknown hourly rate', 'no Capacity Block')
            when k.purchase_option = 'capacity_block' and l.good_at is not null
                then 'not asked: the queries for Capacity Blocks in this region were about other types'
            when k.purchase_option = 'spot' and l.good_at is not null
                then 'no zone of this region had a spot price of this type on ' || l.good_at::DATE
            when l.good_at is not null
                then 'AWS lists no ' || k.option_name || ' for this type in this region on ' || l.good_at::DATE
            when k.purchase_option = 'on_demand' and not b.supports_on_demand
                then 'the EC2 API says that this type is not sold on demand in this region'
            else
                'not collected: no good fetch of ' || k.teller_name || ' in this region, which needs ' || k.teller_needs
                || coalesce('; the last fetch failed: ' || l.error, '')
        end as unknown_reason
    from seen as s
    -- Which source would tell of an option, and what a look at it needs.
    cross join (
        values
        ('on_demand', null, 'aws_price_list', 'no credentials', 'on-demand price'),
        ('reserved', null, 'aws_price_list', 'no credentials', 'Reserved term'),
        ('savings_plan', 'Compute', 'aws_savings_plans', 'no credentials', 'Compute Savings Plan rate'),
        ('savings_plan', 'EC2Instance', 'aws_savings_plans', 'no credentials', 'EC2 Instance Savings Plan rate'),
        ('savings_plan', 'SageMaker', 'aws_savings_plans', 'no credentials', 'SageMaker Savings Plan rate'),
        ('spot', null, 'aws_spot', 'AWS credentials with ec2:DescribeSpotPriceHistory', 'spot price'),
        (
            'capacity_block', null, 'aws_capacity_blocks',
            'AWS credentials with ec2:DescribeCapacityBlockOfferings', 'Capacity Block'
        )
    ) as k (purchase_option, commitment_discount_type, teller_name, teller_needs, option_name)
    anti join chosen as c
        on
            s.region_id = c.region_id and s.instance_type = c.instance_type and k.purchase_option = c.purchase_option
            and k.commitment_discount_type is not distinct from c.commitment_discount_type
    left join looked as l on k.teller_name = l.source and s.region_id = l.scope
    left join capability as b on s.region_id = b.region_id and s.instance_type = b.instance_type
    left join answer as a on s.region_id = a.region_id and s.instance_type = a.instance_type
    left join gone as g
        on
            s.region_id = g.region_id and s.instance_type = g.instance_type and k.purchase_option = g.purchase_option
            and k.commitment_discount_type is not distinct from g.commitment_discount_type
    left join refused as r
        on
            s.region_id = r.region_id and s.instance_type = r.instance_type and k.purchase_option = r.purchase_option
            and k.commitment_discount_type is not distinct from r.commitment_discount_type
    where
        s.region_id is not null
        and s.instance_type is not null
        and (s.instance_type like 'ml.%') = (coalesce(k.commitment_discount_type, '') = 'SageMaker')
        and (
            s.instance_type in (select p.instance_type from chosen as p)
            or s.instance_type in (select t.instance_type from ref.current_instance_type as t)
        )
),

term as (
    from ref.purchase_term
    where service_provider_name = 'AWS' and (known_from is null or known_from <= meta.built_at())
    qualify
        row_number() over (
            partition by purchase_option, commitment_discount_type, offering_class order by known_from desc nulls last
        ) = 1
)

select
    'AWS' as service_provider_name,
    e.region_id,
    e.availability_zone_id,
    e.instance_type,
    t.accelerator_name,
    t.accelerator_count,
    coalesce(e.capacity_unit, t.capacity_unit) as capacity_unit,
    e.minimum_quantity,
    e.purchase_option,
    e.commitment_discount_type,
    e.commitment_term_hours,
    e.purchase_payment_model,
    e.offering_class,
    e.conditions,
    e.pricing_currency,
    e.unit_price,
    e.upfront_price,
    e.effective_hourly_price,
    e.effective_hourly_price / t.accelerator_count::DOUBLE as price_per_accelerator_hour,
    e.cash_upfront,
    e.share_of_on_demand as breakeven_share_on_demand,
    e.share_of_spot as breakeven_share_spot,
    1 - e.share_of_on_demand as price_fall_that_erases,
    e.unknown_reason,
    p.capacity_guaranteed,
    p.is_interruptible,
    p.lead_time_hours,
    p.shortest_term_hours,
    p.longest_term_hours,
    p.is_cancellable,
    p.can_be_resold,
    p.note,
    e.source,
    e.last_observed_at,
    e.is_current,
    e.is_ranked,
    e.is_contradicted,
    e.offer_id
from every_row as e
left join ref.current_instance_type as t on regexp_replace(e.instance_type, '^ml[.]', '') = t.instance_type
left join term as p
    on
        e.purchase_option = p.purchase_option
        and e.commitment_discount_type is not distinct from p.commitment_discount_type
        and e.offering_class is not distinct from p.offering_class
