-- Prices that were withdrawn between two moments: what was said, of which days, what holds then now (NULL: nothing
-- known) and why. Offers alike are one row. Amounts are per chip-hour; of what has no known chips, as sold.
with withdrawn as (
    select
        c.*,
        u.form_factor,
        coalesce(c.accelerator_name, o.accelerator_label, c.instance_type) as offered,
        case when u.accelerator_count > 0 then u.accelerator_count else 1 end::DOUBLE as units,
        c.effective_hourly_price_before / units as said_price,
        c.effective_hourly_price_after / units as price
    from int.price_change as c
    inner join core.offer as o on c.offer_id = o.offer_id
    inner join core.offer_unit as u on c.offer_id = u.offer_id
    where c.reason is not null and c.observed_at >= $since and c.observed_at < $until
),

-- Until another price was said of the same offer, or until it was withdrawn.
said as (
    select
        w.offer_id,
        w.source,
        w.last_observed_before_at,
        w.observed_at,
        min(e.valid_from) as until_at
    from withdrawn as w
    inner join core.price_event as e
        on
            w.offer_id = e.offer_id and w.source = e.source and w.last_observed_before_at < e.valid_from
            and w.observed_at > e.recorded_at
    where e.retracts_recorded_at is null
    group by all
)

select
    w.service_provider_name,
    w.accelerator_name,
    w.offered,
    w.form_factor,
    w.purchase_option,
    w.pricing_currency,
    w.said_price,
    w.price,
    w.reason,
    min(w.last_observed_before_at) as said_from,
    max(least(coalesce(s.until_at, w.observed_at), w.observed_at)) as said_until,
    max(w.observed_at) as withdrawn_at,
    count(distinct w.offer_id) as n_offers,
    min(w.document_sha256) as document_sha256
from withdrawn as w
left join said as s
    on
        w.offer_id = s.offer_id and w.source = s.source and w.last_observed_before_at = s.last_observed_before_at
        and w.observed_at = s.observed_at
group by
    w.service_provider_name, w.accelerator_name, w.offered, w.form_factor, w.purchase_option, w.pricing_currency,
    w.said_price, w.price, w.reason
order by
    max(w.observed_at) desc,
    abs(ln(nullif(w.said_price, 0) / nullif(w.price, 0))) desc nulls last,
    w.service_provider_name asc,
    w.offered asc,
    w.purchase_option asc,
    w.form_factor asc,
    w.said_price asc,
    w.price asc,
    w.reason asc
