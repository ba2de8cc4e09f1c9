-- The runs of days of int.index_spell with what each moved, and whether int.index_cut leaves it out.
select
    i.* exclude (i.market_log), -- noqa: AM04
    coalesce(c.is_cut, false) as is_cut,
    coalesce(
        c.bridged_log,
        ln(i.price_per_accelerator_hour / lag(i.price_per_accelerator_hour) over w) - i.doubtful_log
    ) as log_relative
from int.index_spell as i
left join int.index_cut as c on i.offer_id = c.offer_id and i.index_date = c.index_date
window w as (partition by i.offer_id, i.link_number order by i.index_date)
