-- Moves of list prices of the reader's chips in a week, per chip-hour: is_first is the biggest one of each provider,
-- chip and purchase option; place orders these, then all others, the biggest first.
with ordered as (
    select
        *,
        row_number() over (
            partition by service_provider_name, accelerator_name, purchase_option
            order by abs(change_ratio) desc, n_offers desc, event_at asc, offer_id asc
        ) = 1 as is_first
    from week.move
    where
        change_kind = 'list_change'
        and is_per_chip
        and list_contains($chips, accelerator_name)
        and abs(change_ratio) >= $least
)

select
    *, -- noqa: AM04
    row_number() over (
        order by
            is_first desc,
            abs(change_ratio) desc,
            n_providers desc,
            list_position($chips, accelerator_name) asc,
            service_provider_name asc,
            purchase_option asc,
            offer_id asc
    ) as place
from ordered
