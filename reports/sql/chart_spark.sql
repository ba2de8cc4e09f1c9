-- What the offers of $offers cost from $since to $until, per hour as sold in their own currency: one row for each
-- price, with the span in which it is known to have held (reports/sql/chart_held.sql); what was seen lately holds to
-- the end.
select
    offer_id,
    greatest(valid_from, $since) as begins_at,
    case
        when valid_to is null and last_observed_at >= $until - held_for then $until
        else least(held_until, $until)
    end as ends_at,
    effective_hourly_price as price
from chart_held
where offer_id in (select unnest($offers)) and valid_from < $until and held_until > $since
order by offer_id, valid_from
