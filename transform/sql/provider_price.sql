-- What each provider asks for each chip now, in US dollars per chip-hour, beside AWS at the same terms.
-- One row per chip, form factor, provider, purchase option, commitment class, capacity class, fabric, tier and kind of
-- amount; of several regions, sizes and hosts the cheapest and the median. Prices that nobody new can have
-- (grandfathered, announced, for reservations) and negotiated ones are left out. Prices that are ranked count, by
-- int.accelerator_hour_price; where there are none, those confirmed within 30 days of the newest, never ranked.
-- price_rank 1 is the cheapest of its chip, form, purchase option and commitment class: the one meaning of cheapest.
-- What its provider says is sold out has no rank, and is the cheapest of a row only where all of it is.
-- Of a marketplace the cheapest is the 25th percentile over its machines, the median their median, and the dearest is
-- not told. Where only the median is known (statistic median) there is no cheapest price and no distance; the other
-- columns are the median's. The dearest price is the highest of the standing offers where each of them is a price.
-- AWS's price is its cheapest at the same chip, commitment class and capacity class, whatever the purchase option of
-- the commitment, of those that are ranked if there are any. Left out of it are SageMaker, partitions that need an
-- account of their own (China, GovCloud and the like), and the public spot feed where zones have prices. There is none
-- where the capacity class is not stated, nor where the chip is not known to have the form that AWS says it has, and no
-- distance where the two prices are neither both ranked nor confirmed within 30 days of each other.
with zone_spot as (
    from int.accelerator_hour_price
    where
        service_provider_name = 'AWS'
        and purchase_option = 'spot'
        and conditions is null
        and is_current
        and region_id is not null
        and instance_type is not null
),

listed as (
    select
        *,
        {
            'accelerator_name': accelerator_name,
            'form_factor': decision.sold_form(accelerator_name, form_factor),
            'service_provider_name': service_provider_name,
            'purchase_option': purchase_option,
            'commitment_class': decision.commitment_class(purchase_option, commitment_term_hours),
            'capacity_class': capacity_class,
            'fabric': fabric,
            'tier': decision.sold_tier(tier),
            'is_floor': statistic = 'floor'
        } as terms
    from int.accelerator_hour_price
    where
        unit_price_type = 'List'
        and restriction is null
        and accelerator_name is not null
        and price_per_accelerator_hour_usd is not null
        and decision.is_open_to_all(service_provider_name, instance_type, region_id)
        and (
            service_provider_name <> 'AWS'
            or conditions is null
            or purchase_option = 'capacity_block'
            or (
                conditions = 'region-level, public spot feed'
                and (region_id, instance_type) not in (select (z.region_id, z.instance_type) from zone_spot as z)
            )
        )
),

counted as (
    select
        terms,
        count(*) as n_offers,
        count(*) filter (where is_current) as n_current,
        count(*) filter (where is_ranked) as n_ranked,
        max(age_days) as oldest_age_days,
        max(last_observed_at) as newest_at
    from listed
    group by terms
),

standing as (
    select l.*
    from listed as l
    inner join counted as n on l.terms is not distinct from n.terms
    where l.is_ranked or (n.n_ranked = 0 and l.last_observed_at >= n.newest_at - interval 30 days)
),

-- The last word on how much of each thing there is; a fact without a count of chips is of all sizes.
stock as (
    from core.availability
    qualify
        row_number() over (
            partition by
                service_provider_name, host_provider_name, instance_type, accelerator_label, accelerator_count,
                region_id, purchase_option, tier
            order by observed_at desc, recorded_at desc
        ) = 1
),

offered as (
    select
        s.terms,
        s.offer_id,
        a.*
    from standing as s
    inner join core.offer as o on s.offer_id = o.offer_id
    inner join stock as a
        on
            o.service_provider_name = a.service_provider_name and o.purchase_option = a.purchase_option
            and o.accelerator_label is not distinct from a.accelerator_label
            and o.region_id is not distinct from a.region_id
            and o.host_provider_name is not distinct from a.host_provider_name
            and o.instance_type is not distinct from a.instance_type
            and (a.accelerator_count is null or o.accelerator_count = a.accelerator_count)
            and (o.tier is not distinct from a.tier or concat_ws(', ', o.tier, o.fabric) = a.tier)
),

status as (
    select
        offer_id,
        arg_max(stock_status, observed_at) as stock_status,
        bool_and(coalesce(
            n_machines = 0 or n_accelerators = 0
            or lower(stock_status) in ('sold out', 'unavailable', 'not available', 'shortage'), false
        )) as is_sold_out
    from offered
    group by offer_id
),

chosen as (
    select
        terms,
        -- Floors have none: nobody says what others pay.
        coalesce(
            median(price_per_accelerator_hour_usd) filter (where statistic = 'median'),
            median(price_per_accelerator_hour_usd) filter (where statistic = 'price')
        ) as median_price_usd,
        case when bool_and(statistic = 'price') then max(price_per_accelerator_hour_usd) end as dearest_price_usd,
        arg_min(
            {
                'price': price_per_accelerator_hour_usd, 'native': price_per_accelerator_hour,
                'currency': pricing_currency, 'rate_date': fx_rate_date, 'host': host_provider_name,
                'region': region_id, 'instance_type': instance_type, 'statistic': statistic,
                'observed': last_observed_at, 'changed': valid_from, 'age': age_days, 'is_current': is_current,
                'is_ranked': is_ranked, 'evidence_kind': evidence_kind, 'source': source, 'document': document_sha256,
                'offer': offer_id
            },
            (
                (offer_id, true) in (select (t.offer_id, t.is_sold_out) from status as t), statistic = 'median',
                statistic <> 'p25', price_per_accelerator_hour_usd, floor(age_days), offer_id
            )
        ) as cheapest
    from standing
    group by terms
),

available as (
    select
        terms,
        sum(n_machines)::BIGINT as n_machines,
        sum(n_accelerators)::BIGINT as n_accelerators
    from (select distinct * exclude (offer_id) from offered) as fact
    group by terms
),

asked as (
    select
        c.terms.accelerator_name,
        c.terms.form_factor,
        c.terms.service_provider_name,
        c.cheapest.host as host_provider_name,
        c.terms.purchase_option,
        c.terms.commitment_class,
        c.terms.capacity_class,
        c.terms.fabric,
        c.terms.tier,
        c.terms.is_floor,
        n.n_offers,
        n.n_current,
        m.n_machines,
        m.n_accelerators,
        t.stock_status,
        case when c.cheapest.statistic <> 'median' then c.cheapest.price end as cheapest_price_usd,
        c.median_price_usd,
        c.dearest_price_usd,
        c.cheapest.statistic,
        c.cheapest.native as price_per_accelerator_hour,
        c.cheapest.currency as pricing_currency,
        c.cheapest.rate_date as fx_rate_date,
        c.cheapest.region as region_id,
        c.cheapest.instance_type,
        a.cheapest.price as aws_price_usd,
        a.terms.purchase_option as aws_purchase_option,
        a.cheapest.instance_type as aws_instance_type,
        a.cheapest.region as aws_region_id,
        a.cheapest.observed as aws_last_observed_at,
        a.cheapest.is_current as aws_is_current,
        case
            when
                c.cheapest.statistic <> 'median'
                and (
                    (c.cheapest.is_ranked and a.cheapest.is_ranked)
                    or abs(epoch(c.cheapest.observed - a.cheapest.observed)) <= 30 * 86400
                )
                then c.cheapest.price / a.cheapest.price - 1
        end as distance_to_aws,
        c.cheapest.is_current,
        c.cheapest.is_ranked,
        c.cheapest.age as age_days,
        n.oldest_age_days,
        c.cheapest.changed as valid_from,
        c.cheapest.observed as last_observed_at,
        c.cheapest.source,
        c.cheapest.evidence_kind,
        c.cheapest.document as document_sha256,
        c.cheapest.offer as offer_id,
        c.cheapest.is_ranked
        and not c.terms.is_floor
        and c.cheapest.statistic <> 'median'
        and not coalesce(t.is_sold_out, false) as may_rank
    from chosen as c
    inner join counted as n on c.terms is not distinct from n.terms
    left join available as m on c.terms is not distinct from m.terms
    left join status as t on c.cheapest.offer = t.offer_id
    left join chosen as a
        on
            c.terms.service_provider_name <> 'AWS' and a.terms.service_provider_name = 'AWS'
            and a.cheapest.statistic <> 'median' and c.terms.accelerator_name = a.terms.accelerator_name
            and c.terms.commitment_class = a.terms.commitment_class and c.terms.capacity_class = a.terms.capacity_class
            and (a.terms.form_factor is null or c.terms.form_factor = a.terms.form_factor)
    qualify
        row_number() over (
            partition by c.terms
            order by not a.cheapest.is_ranked, a.cheapest.price, a.cheapest.offer
        ) = 1
)

select
    * exclude (may_rank), -- noqa: AM04
    case
        when may_rank
            then row_number() over (
                partition by accelerator_name, form_factor, purchase_option, commitment_class, may_rank
                order by cheapest_price_usd, service_provider_name, offer_id
            )
    end as price_rank
from asked
