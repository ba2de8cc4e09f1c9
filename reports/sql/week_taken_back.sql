-- Prices that were taken back in a week: a list price that moved, and within seven days moved back (the kind correction
-- of int.price_change, whose rows come in pairs). Both moves are in no number; offers that did so alike are one row.
with paired as (
    select
        c.*,
        u.form_factor,
        case when u.accelerator_count > 0 then u.accelerator_count else 1 end::DOUBLE as units,
        c.effective_hourly_price_before / units as wrong_price,
        c.effective_hourly_price_after / units as right_price,
        lag(c.observed_at) over w as wrong_at,
        row_number() over w as n_correction
    from int.price_change as c
    inner join core.offer_unit as u on c.offer_id = u.offer_id
    where c.change_kind = 'correction' and c.reason is null
    window w as (partition by c.offer_id order by c.observed_at)
)

select
    service_provider_name,
    accelerator_name,
    form_factor,
    purchase_option,
    pricing_currency,
    wrong_price,
    right_price,
    min(wrong_at) as wrong_at,
    min(observed_at) as back_at,
    coalesce(list_contains($chips, accelerator_name), false) as is_of_chips,
    count(*) as n_offers,
    min(document_sha256) as document_sha256
from paired
where n_correction % 2 = 0 and observed_at >= $since and observed_at < $until
group by all
order by
    is_of_chips desc,
    max(abs(wrong_price / nullif(right_price, 0) - 1)) desc nulls last,
    service_provider_name asc,
    accelerator_name asc,
    purchase_option asc,
    form_factor asc,
    right_price asc,
    wrong_price asc
