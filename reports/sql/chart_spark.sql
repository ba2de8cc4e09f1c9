-- What the offers of $offers cost from $since to $until, per hour as sold in their own currency: one row for each
-- price, with the span in which it is known to have held (reports/sql/chart_held.sql).
select
    offer_id,
    greatest(valid_from, $since) as begins_at,
    least(held_until, $until) as ends_at,
    effective_hourly_price as price
from chart_held
where offer_id in (select unnest($offers)) and valid_from < $until and held_until > $since
order by offer_id, valid_from
