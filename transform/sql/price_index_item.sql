-- The runs of days of int.index_spell with what each moved:
--   log_relative   ln of the price over the last one of the link; NULL on the first day of a link
select
    * exclude (bridged_log), -- noqa: AM04
    case
        when not is_link_start
            then
                coalesce(
                    bridged_log,
                    ln(price_per_accelerator_hour / lag(price_per_accelerator_hour) over w) - doubtful_log
                )
    end as log_relative
from int.index_spell
window w as (partition by offer_id, link_number order by index_date)
