-- From which day on the levels of each chip and purchase option may differ from those of the published file: by its
-- items, of which old_index_spell and made_row have those of touched offers, and of others the last ones, and by
-- reference rates that are new. What was last is made without what came before: of it, how long it held alone counts.
with item as (
    select
        i.* replace (case when t.offer_id is not null then i.link_number end as link_number),
        case
            when t.offer_id is not null
                then
                    hash(
                        i.service_provider_name, i.pricing_currency, i.price_per_accelerator_hour, i.doubtful_log,
                        i.n_doubtful, i.is_link_start
                    )
        end as digest
    from (
        from made_row
        union all by name
        from old_index_spell
    ) as i
    left join touched_offer as t on i.offer_id = t.offer_id
),

rate as (
    select min(rate_date) as first_day
    from new_fx_rate
),

compared as (
    select
        accelerator_name,
        purchase_option,
        least(
            case when count(*) = 1 or min(digest) <> max(digest) then index_date end,
            case
                when min(held_to_date) <> max(held_to_date) or bool_or(is_link_end) <> bool_and(is_link_end)
                    then min(held_to_date) + 1
            end,
            case
                when min(carried_from_date) <> max(carried_from_date) or count(carried_from_date) = 1
                    then min(carried_from_date)
            end
        ) as first_day
    from item
    group by accelerator_name, purchase_option, offer_id, link_number, index_date
    union all
    select
        i.accelerator_name,
        i.purchase_option,
        min(p.was_built_on) + 1 as first_day
    from int.index_spell as i
    inner join plain_offer as p on i.offer_id = p.offer_id and i.held_to_date = p.built_on
    where p.was_built_on < p.built_on
    group by i.accelerator_name, i.purchase_option
    union all
    select
        i.accelerator_name,
        i.purchase_option,
        r.first_day
    from int.index_spell as i
    inner join rate as r on i.held_to_date >= r.first_day
    where i.pricing_currency <> 'USD'
)

select
    accelerator_name,
    purchase_option,
    min(first_day) as first_day
from compared
where first_day is not null
group by accelerator_name, purchase_option
