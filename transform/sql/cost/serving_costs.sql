-- serving_costs(low_price, price, high_price, rates, measured_weight, output_tokens, unit_accelerators,
-- utilisation, running_share): Every cost of serving at one operating point on one option, as a STRUCT.
-- Rates, as cost.rates_at_speed gives them, are of one paid chip. median: the option's price and the median rate; low:
-- the cheapest price and the high rate; high: the dearest price and the low rate; NULL where that price is not known.
-- output_usd and input_usd share one machine between both kinds of token, at the median price and rate, and NULL where
-- no input rate is known: output_usd x output + input_usd x input of an hour = paid_rate_usd. Never add input_usd to
-- all_in_output_usd, which carries the whole machine already.
-- The input weight is the measured one, else 0.25; ..._at_0_1 and ..._at_0_5 are both prices at the ends of what it may
-- be. All input counts alike, cached or not.
select
    {
        'paid_rate_usd': cost.paid_rate(price, running_share),
        'all_in_output_usd_low': cost.bought_usd(low_price, running_share, rates['high_output_rate'], utilisation),
        'all_in_output_usd_median': cost.bought_usd(
            price, running_share, rates['median_output_rate'], utilisation
        ),
        'all_in_output_usd_high': cost.bought_usd(high_price, running_share, rates['low_output_rate'], utilisation),
        'total_usd_low': cost.bought_usd(
            low_price, running_share, rates['high_output_rate'] + rates['high_input_rate'], utilisation
        ),
        'total_usd_median': cost.bought_usd(
            price, running_share, rates['median_output_rate'] + rates['median_input_rate'], utilisation
        ),
        'total_usd_high': cost.bought_usd(
            high_price, running_share, rates['low_output_rate'] + rates['low_input_rate'], utilisation
        ),
        'input_weight': case when rates['median_input_rate'] is not null then coalesce(measured_weight, 0.25e0) end,
        'input_weight_basis': case
            when rates['median_input_rate'] is null then null
            when measured_weight is null then 'assumed'
            else 'measured'
        end,
        'output_usd': cost.shared_usd(
            price, running_share, rates, coalesce(measured_weight, 0.25e0), utilisation
        ),
        'input_usd': coalesce(measured_weight, 0.25e0)
        * cost.shared_usd(price, running_share, rates, coalesce(measured_weight, 0.25e0), utilisation),
        'output_usd_at_0_1': cost.shared_usd(price, running_share, rates, 0.1e0, utilisation),
        'input_usd_at_0_1': 0.1e0 * cost.shared_usd(price, running_share, rates, 0.1e0, utilisation),
        'output_usd_at_0_5': cost.shared_usd(price, running_share, rates, 0.5e0, utilisation),
        'input_usd_at_0_5': 0.5e0 * cost.shared_usd(price, running_share, rates, 0.5e0, utilisation),
        'usd_per_request': output_tokens
        * cost.bought_usd(price, running_share, rates['median_output_rate'], utilisation)
        / 1e6,
        'usd_per_1000_requests': output_tokens
        * cost.bought_usd(price, running_share, rates['median_output_rate'], utilisation)
        / 1e3,
        'usd_per_month_per_accelerator': cost.monthly(price),
        'usd_per_month_per_unit': cost.monthly(price * unit_accelerators),
        'output_rate_per_unit': rates['median_output_rate'] * unit_accelerators
    } as amounts
