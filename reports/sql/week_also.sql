-- What else happened to list prices of the reader's chips in a week: moves that are not among those of week_biggest,
-- then offers that went, came and came back, those of a provider, chip and purchase option together.
with every as (
    from week.ranked
    where not is_first or place > 5
    union all by name
    select
        c.service_provider_name,
        c.accelerator_name,
        u.form_factor,
        c.purchase_option,
        c.change_kind,
        c.pricing_currency,
        count(*) as n_offers,
        min(
            coalesce(c.effective_hourly_price_after, c.effective_hourly_price_before) / u.accelerator_count::DOUBLE
        ) as price_after
    from int.price_change as c
    inner join core.offer_unit as u on c.offer_id = u.offer_id
    where
        c.change_kind in ('new_offer', 'returned_offer', 'gone_offer')
        and c.observed_at >= $since
        and c.observed_at < $until
        and list_contains($chips, c.accelerator_name)
        and u.accelerator_count > 0
    group by all
)

select
    *, -- noqa: AM04
    count(*) over () as n_also
from every
order by
    place asc nulls last,
    array_position(['gone_offer', 'new_offer', 'returned_offer'], change_kind) asc,
    list_position($chips, accelerator_name) asc,
    service_provider_name asc,
    purchase_option asc,
    pricing_currency asc,
    form_factor asc
limit 8
