-- Prices that were withdrawn between two moments: what was said, of which days, what holds then now (NULL: nothing
-- known) and why. Offers alike are one row. Amounts are per chip-hour; of what has no known chips, as sold.
with withdrawn as (
    select
        c.*,
        u.form_factor,
        coalesce(c.accelerator_name, o.accelerator_label, c.instance_type) as offered,
        case when u.accelerator_count > 0 then u.accelerator_count else 1 end::DOUBLE as units,
        c.effective_hourly_price_before / units as said_price,
        c.effective_hourly_price_after / units as price,
        -- Another price that was said of the same offer before this one was withdrawn.
        (
            select min(e.valid_from)
            from core.price_event as e
            where
                e.offer_id = c.offer_id and e.source = c.source and e.valid_from > c.last_observed_before_at
                and e.recorded_at < c.observed_at and e.retracts_recorded_at is null
        ) as next_at
    from int.price_change as c
    inner join core.offer as o on c.offer_id = o.offer_id
    inner join core.offer_unit as u on c.offer_id = u.offer_id
    where c.reason is not null and c.observed_at >= $since and c.observed_at < $until
)

select
    service_provider_name,
    accelerator_name,
    offered,
    form_factor,
    purchase_option,
    pricing_currency,
    said_price,
    price,
    reason,
    min(last_observed_before_at) as said_from,
    max(least(next_at, observed_at)) as said_until,
    max(observed_at) as withdrawn_at,
    count(distinct offer_id) as n_offers,
    min(document_sha256) as document_sha256
from withdrawn
group by
    service_provider_name, accelerator_name, offered, form_factor, purchase_option, pricing_currency, said_price, price,
    reason
order by
    withdrawn_at desc,
    abs(ln(nullif(said_price, 0) / nullif(price, 0))) desc nulls last,
    service_provider_name asc,
    offered asc,
    purchase_option asc,
    form_factor asc,
    said_price asc,
    price asc,
    reason asc
