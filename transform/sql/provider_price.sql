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
with listed as materialized (
    from int.listed_price
),

counted as (
    select
        price_terms,
        count(*) as n_offers,
        count(*) filter (where is_current) as n_current,
        count(*) filter (where is_ranked) as n_ranked,
        max(age_days) as oldest_age_days,
        max(last_observed_at) as newest_at
    from listed
    group by price_terms
),

standing as (
    select
        l.*,
        n.* exclude (n.price_terms, n.newest_at)
    from listed as l
    inner join counted as n on l.price_terms is not distinct from n.price_terms
    where l.is_ranked or (n.n_ranked = 0 and l.last_observed_at >= n.newest_at - interval 30 days)
),

chosen as (
    select
        -- Floors have none: nobody says what others pay.
        coalesce(
            median(price_per_accelerator_hour_usd) filter (where statistic = 'median'),
            median(price_per_accelerator_hour_usd) filter (where statistic = 'price')
        ) as median_price_usd,
        case when bool_and(statistic = 'price') then max(price_per_accelerator_hour_usd) end as dearest_price_usd,
        arg_min(offer_id, price_order) as offer_id
    from standing
    group by price_terms
),

cheapest as (
    select
        s.*,
        c.median_price_usd,
        c.dearest_price_usd
    from standing as s
    inner join chosen as c on s.offer_id = c.offer_id
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
        c.host_provider_name,
        c.n_offers,
        c.n_current,
        m.n_machines,
        m.n_accelerators,
        c.stock_status,
        case when c.statistic <> 'median' then c.price_per_accelerator_hour_usd end as cheapest_price_usd,
        c.median_price_usd,
        c.dearest_price_usd,
        c.statistic,
        c.price_per_accelerator_hour,
        c.pricing_currency,
        c.fx_rate_date,
        c.region_id,
        c.instance_type,
        a.price_per_accelerator_hour_usd as aws_price_usd,
        a.purchase_option as aws_purchase_option,
        a.instance_type as aws_instance_type,
        a.region_id as aws_region_id,
        a.last_observed_at as aws_last_observed_at,
        a.is_current as aws_is_current,
        case
            when
                (c.is_ranked and a.is_ranked) or abs(epoch(c.last_observed_at - a.last_observed_at)) <= 30 * 86400
                then cheapest_price_usd / a.price_per_accelerator_hour_usd - 1
        end as distance_to_aws,
        c.is_current,
        c.is_ranked,
        c.age_days,
        c.oldest_age_days,
        c.valid_from,
        c.last_observed_at,
        c.source,
        c.evidence_kind,
        c.document_sha256,
        c.offer_id,
        c.is_ranked and c.statistic not in ('floor', 'median') and not c.is_sold_out as may_rank
    from cheapest as c
    left join available as m on c.price_terms is not distinct from m.price_terms
    left join cheapest as a
        on
            c.service_provider_name <> 'AWS' and a.service_provider_name = 'AWS' and a.statistic <> 'median'
            and c.accelerator_name = a.accelerator_name and c.commitment_class = a.commitment_class
            and c.capacity_class = a.capacity_class and (a.form_factor is null or c.form_factor = a.form_factor)
    qualify
        row_number() over (
            partition by c.price_terms
            order by not a.is_ranked, a.price_per_accelerator_hour_usd, a.offer_id
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
