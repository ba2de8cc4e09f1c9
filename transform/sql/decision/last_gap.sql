-- last_gap(unit_pays_from > 0, unit_tokens_per_day > 0): Units from which on the hosted model is never cheaper again;
-- NULL: it always is.
-- The last number of units whose coming makes the hosted model cheaper again for a while; from where that many pay on,
-- one's own are always cheaper. k units serve up to k x c tokens a day and pay from k x t: there is a gap between
-- (k - 1) x c and k x t as long as k < c / (c - t). NULL where t >= c: full units cost more than the hosted model.
select
    case
        when unit_pays_from < unit_tokens_per_day
            then ceil(unit_tokens_per_day::DOUBLE / (unit_tokens_per_day - unit_pays_from)) - 1
    end as units
