-- From which day on the levels of each chip and purchase option may differ from those of the published file: by its
-- items, of which old_price_index_item and made_row have those of touched offers, and of others the last ones, and by
-- reference rates that are new. What was last is made without what came before: of it, how long it held alone counts.
with item as (
    select
        accelerator_name,
        purchase_option,
        index_date,
        held_to_date,
        carried_from_date,
        is_link_end,
        offer_id,
        case when is_whole then link_number else 0 end as link_number,
        case
            when is_whole
                then
                    hash(
                        service_provider_name, accelerator_name, purchase_option, pricing_currency,
                        price_per_accelerator_hour, log_relative, doubtful_log, n_doubtful, is_cut, is_link_start
                    )
        end as digest,
        is_old
    from (
        select
            m.*,
            t.offer_id is not null as is_whole,
            false as is_old
        from made_row as m
        left join touched_offer as t on m.offer_id = t.offer_id
        union all by name
        select
            o.*,
            t.offer_id is not null as is_whole,
            true as is_old
        from old_price_index_item as o
        left join touched_offer as t on o.offer_id = t.offer_id
    ) as i
),

here as (
    select *
    from item
    where not is_old
),

there as (
    select *
    from item
    where is_old
),

new_rate as (
    select min(rate_date) as first_day
    from new_fx_rate
),

compared as (
    select
        coalesce(h.accelerator_name, b.accelerator_name) as accelerator_name,
        coalesce(h.purchase_option, b.purchase_option) as purchase_option,
        least(
            case
                when h.offer_id is null or b.offer_id is null or h.digest is distinct from b.digest
                    then coalesce(h.index_date, b.index_date)
            end,
            case
                when h.held_to_date <> b.held_to_date or h.is_link_end <> b.is_link_end
                    then least(h.held_to_date, b.held_to_date) + 1
            end,
            case
                when h.carried_from_date is distinct from b.carried_from_date
                    then least(h.carried_from_date, b.carried_from_date)
            end
        ) as first_day
    from here as h
    full join there as b
        on h.offer_id = b.offer_id and h.link_number = b.link_number and h.index_date = b.index_date
    union all
    select
        i.accelerator_name,
        i.purchase_option,
        r.first_day
    from int.price_index_item as i
    inner join new_rate as r on i.held_to_date >= r.first_day
    where i.pricing_currency <> 'USD'
)

select
    accelerator_name,
    purchase_option,
    min(first_day) as first_day
from compared
where first_day is not null
group by accelerator_name, purchase_option
