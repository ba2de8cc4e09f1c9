-- training_costs(low_price, price, high_price, high_rate, median_rate, low_rate, chips, share_working,
-- trained_tokens, overhead, goodput, running_share): Every cost of a training on one option, as a STRUCT.
-- Rates are of one working chip, of whose units a share works. median: the option's price and the median rate; low: the
-- cheapest price and the high rate; high: the dearest price and the low rate; NULL where that price is not known.
select
    {
        'paid_rate_usd': cost.paid_rate(price, running_share),
        'usd_per_million_tokens_low': cost.training_usd_per_million(
            cost.paid_rate(low_price, running_share) / share_working, high_rate, overhead, goodput
        ),
        'usd_per_million_tokens_median': cost.training_usd_per_million(
            cost.paid_rate(price, running_share) / share_working, median_rate, overhead, goodput
        ),
        'usd_per_million_tokens_high': cost.training_usd_per_million(
            cost.paid_rate(high_price, running_share) / share_working, low_rate, overhead, goodput
        ),
        'training_usd_low': trained_tokens / 1e6 * cost.training_usd_per_million(
            cost.paid_rate(low_price, running_share) / share_working, high_rate, overhead, goodput
        ),
        'training_usd_median': trained_tokens / 1e6 * cost.training_usd_per_million(
            cost.paid_rate(price, running_share) / share_working, median_rate, overhead, goodput
        ),
        'training_usd_high': trained_tokens / 1e6 * cost.training_usd_per_million(
            cost.paid_rate(high_price, running_share) / share_working, low_rate, overhead, goodput
        ),
        'training_days': cost.training_hours(trained_tokens, chips, median_rate, overhead, goodput)
        / 24
    } as amounts
