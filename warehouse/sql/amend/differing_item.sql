-- Offers whose last intervals give other items than before. Items that only follow those of before do not differ.
select distinct offer_id
from (
    select
        coalesce(h.offer_id, b.offer_id) as offer_id,
        max(b.index_date) over w as last_date,
        case
            when b.offer_id is null then coalesce(h.index_date < last_date, true)
            else
                h.offer_id is null
                or h.price_per_accelerator_hour <> b.price_per_accelerator_hour
                or h.pricing_currency <> b.pricing_currency
                or (
                    h.is_link_end <> b.is_link_end
                    and (b.index_date < last_date or max(h.index_date) over w = last_date)
                )
        end as is_other
    from made_row as h
    full join old_index_spell as b on h.offer_id = b.offer_id and h.index_date = b.index_date
    window w as (partition by coalesce(h.offer_id, b.offer_id))
) as compared
where is_other and offer_id not in (from touched_offer)
