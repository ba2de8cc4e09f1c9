-- The biggest moves of a week on the reader's chips, of list prices per chip-hour: of each provider, chip and
-- purchase option the biggest one, five in all. A node has 8 chips, a month 730 hours.
with biggest as (
    select *
    from week.move
    where
        change_kind = 'list_change'
        and is_per_chip
        and list_contains($chips, accelerator_name)
        and abs(change_ratio) >= $least
    qualify
        row_number() over (
            partition by service_provider_name, accelerator_name, purchase_option
            order by abs(change_ratio) desc, n_offers desc, event_at asc, offer_id asc
        ) = 1
)

select
    *, -- noqa: AM04
    case when pricing_currency = 'USD' then (price_after - price_before) * 8 * 730 end as node_month_usd,
    count(*) over () as n_biggest
from biggest
order by
    abs(change_ratio) desc,
    n_providers desc,
    list_position($chips, accelerator_name) asc,
    service_provider_name asc,
    purchase_option asc,
    offer_id asc
limit 5
