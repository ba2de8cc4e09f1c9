-- What each provider asks for each chip now, in US dollars per chip-hour, beside AWS at the same terms.
-- One row per chip, form factor, provider, purchase option, commitment class, capacity class, fabric, tier and kind of
-- amount; of several regions, sizes and hosts the cheapest and the median of int.listed_price. Prices that are ranked
-- count; where there are none, those confirmed within 30 days of the newest, never ranked.
-- price_rank 1 is the cheapest of its chip, form, purchase option and commitment class: the one meaning of cheapest.
-- What its provider says is sold out has no rank, and is the cheapest of a row only where all of it is.
-- Of a marketplace the median is that of its machines, and the dearest is not stated. Where only the median is known
-- (statistic median) there is no cheapest price and no distance; the other columns are the median's. The dearest price
-- is the highest of the standing offers where each of them is a price.
-- AWS's price is its cheapest at the same chip, commitment class and capacity class, whatever the purchase option of
-- the commitment, of those that are ranked if there are any. There is none where the capacity class is not stated, nor
-- where the chip is not known to have the form that AWS says it has, and no distance where the two prices are neither
-- both ranked nor confirmed within 30 days of each other.
with counted as (
    select
        price_terms,
        count(*) as n_offers,
        count(*) filter (where is_current) as n_current,
        count(*) filter (where is_ranked) as n_ranked,
        max(age_days) as oldest_age_days,
        max(last_observed_at) as newest_at
    from int.listed_price
    group by price_terms
),

standing as (
    select l.*
    from int.listed_price as l
    inner join counted as n on l.price_terms is not distinct from n.price_terms
    where l.is_ranked or (n.n_ranked = 0 and l.last_observed_at >= n.newest_at - interval 30 days)
),

chosen as (
    select
        price_terms,
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
                'offer': offer_id, 'stock_status': stock_status, 'is_sold_out': is_sold_out
            },
            price_order
        ) as cheapest
    from standing
    group by price_terms
),

stocked as (
    select distinct
        price_terms,
        unnest(stock_facts) as fact
    from standing
),

available as (
    select
        price_terms,
        sum(fact['n_machines'])::BIGINT as n_machines,
        sum(fact['n_accelerators'])::BIGINT as n_accelerators
    from stocked
    group by price_terms
),

asked as (
    select
        c.price_terms,
        c.cheapest.host as host_provider_name,
        n.n_offers,
        n.n_current,
        m.n_machines,
        m.n_accelerators,
        c.cheapest.stock_status,
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
        a.price_terms.purchase_option as aws_purchase_option,
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
        and not c.price_terms.is_floor
        and c.cheapest.statistic <> 'median'
        and not c.cheapest.is_sold_out as may_rank
    from chosen as c
    inner join counted as n on c.price_terms is not distinct from n.price_terms
    left join available as m on c.price_terms is not distinct from m.price_terms
    left join chosen as a
        on
            c.price_terms.service_provider_name <> 'AWS' and a.price_terms.service_provider_name = 'AWS'
            and a.cheapest.statistic <> 'median' and c.price_terms.accelerator_name = a.price_terms.accelerator_name
            and c.price_terms.commitment_class = a.price_terms.commitment_class
            and c.price_terms.capacity_class = a.price_terms.capacity_class
            and (a.price_terms.form_factor is null or c.price_terms.form_factor = a.price_terms.form_factor)
    qualify
        row_number() over (
            partition by c.price_terms
            order by not a.cheapest.is_ranked, a.cheapest.price, a.cheapest.offer
        ) = 1
)

select
    unnest(price_terms), -- noqa: AM04, AL03
    * exclude (price_terms, may_rank),
    case
        when may_rank
            then row_number() over (
                partition by
                    price_terms['accelerator_name'], price_terms['form_factor'], price_terms['purchase_option'],
                    price_terms['commitment_class'], may_rank
                order by cheapest_price_usd, price_terms['service_provider_name'], offer_id
            )
    end as price_rank
from asked
