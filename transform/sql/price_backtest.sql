-- Errors of two forecasts of a price after some months, "no change" and the mean of past changes: of end_ratio of
-- mart.price_window, each from those windows alone that had ended when it was made, 12 at least. Errors are means of
-- |log(ratio / forecast)|; coverage_80 is the share of ratios within the 10th and 90th percentile of those windows.
with known as (
    select
        *,
        months_asked::INTEGER as months,
        starts_on + to_months(months_asked::INTEGER) as ends_on
    from mart.price_window(months_asked)
),

forecast as (
    select
        w.service_provider_name,
        w.accelerator_name,
        w.months,
        w.starts_on,
        w.end_ratio,
        exp(avg(ln(p.end_ratio))) as past_mean,
        w.end_ratio between quantile_cont(p.end_ratio, 0.1) and quantile_cont(p.end_ratio, 0.9) as is_within
    from known as w
    inner join known as p on w.starts_on >= p.ends_on
    group by w.service_provider_name, w.accelerator_name, w.months, w.starts_on, w.end_ratio
    having count(*) >= 12
)

select
    months,
    count(*) as n_windows,
    count(*) filter (where abs(end_ratio - 1) > 0.001) as n_moved,
    avg(abs(ln(end_ratio))) as mean_error_no_change,
    avg(abs(ln(end_ratio / past_mean))) as mean_error_past_mean,
    avg(is_within::INTEGER) as coverage_80,
    avg(abs(ln(end_ratio / past_mean))) < avg(abs(ln(end_ratio))) as is_forecast_better
from forecast
group by months
