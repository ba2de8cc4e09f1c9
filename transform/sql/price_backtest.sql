-- Errors of two forecasts of a price after some months, "no change" and the mean of past changes: of end_ratio of
-- mart.price_window, each from those windows alone that had ended when it was made, 12 at least. Errors are means of
-- |log(ratio / forecast)|; coverage_80 is the share of ratios within the 10th and 90th percentile of those windows.
with known as (
    select
        months,
        starts_on,
        end_ratio,
        starts_on + to_months(months) as ends_on,
        row_number() over (partition by months, starts_on) = 1 as is_first
    from mart.price_window(months_asked)
),

past as (
    select
        w.months,
        w.starts_on,
        exp(avg(ln(p.end_ratio)::DECIMAL(38, 15))) as past_mean,
        quantile_cont(p.end_ratio, [0.1, 0.9]) as usual
    from known as w
    inner join known as p on w.is_first and w.months = p.months and w.starts_on >= p.ends_on
    group by w.months, w.starts_on
    having count(*) >= 12
)

select
    w.months,
    count(*) as n_windows,
    count(*) filter (where abs(w.end_ratio - 1) > 0.001) as n_moved,
    avg(abs(ln(w.end_ratio))::DECIMAL(38, 15)) as mean_error_no_change,
    avg(abs(ln(w.end_ratio / p.past_mean))::DECIMAL(38, 15)) as mean_error_past_mean,
    avg((w.end_ratio between p.usual[1] and p.usual[2])::INTEGER) as coverage_80,
    mean_error_past_mean < mean_error_no_change as is_forecast_better
from known as w
inner join past as p on w.months = p.months and w.starts_on = p.starts_on
group by w.months
