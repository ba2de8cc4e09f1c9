-- The first day on which int.price_level may differ from the published file before, attached as `before`; NULL where
-- it cannot on any. A day's level follows from the items that hold on it and from reference rates up to it.
with item as (
    select
        least(
            case
                when
                    n.offer_id is null
                    or b.offer_id is null
                    or n.service_provider_name <> b.service_provider_name
                    or n.accelerator_name <> b.accelerator_name
                    or n.purchase_option <> b.purchase_option
                    or n.pricing_currency <> b.pricing_currency
                    or n.price_per_accelerator_hour is distinct from b.price_per_accelerator_hour
                    or n.is_link_start is distinct from b.is_link_start
                    then coalesce(n.index_date, b.index_date)
            end,
            case when n.held_to_date <> b.held_to_date then least(n.held_to_date, b.held_to_date) + 1 end,
            case
                when n.carried_from_date is distinct from b.carried_from_date
                    then least(n.carried_from_date, b.carried_from_date)
            end
        ) as first_day
    from int.price_index_item as n
    full join before.int.price_index_item as b
        on n.offer_id = b.offer_id and n.link_number = b.link_number and n.index_date = b.index_date
),

rate as (
    select coalesce(n.rate_date, b.rate_date) as first_day
    from core.fx_rate as n
    full join before.core.fx_rate as b
        on
            n.pricing_currency = b.pricing_currency
            and n.rate_date = b.rate_date
            and n.units_per_eur = b.units_per_eur
            and n.recorded_at = b.recorded_at
    where n.rate_date is null or b.rate_date is null
)

select min(first_day) as first_day
from (
    from item
    union all
    from rate
) as touched
