-- verdict(net_saving_usd_per_month, staying_usd, moving_usd): pays, too late for the horizon, or never; NULL: unknown.
-- never: a month on the new side saves nothing. too late: it saves, and the horizon ends before the cost is back.
-- pays: over the horizon moving costs less than staying. NULL where an input is unknown.
select
    case
        when net_saving_usd_per_month is null or staying_usd is null or moving_usd is null then null
        when net_saving_usd_per_month <= 0 then 'never'
        when moving_usd < staying_usd then 'pays'
        else 'too late'
    end as answer
