-- electricity_cost_per_million_tokens(joules_per_token > 0, price_per_kwh > 0): Electricity of a million tokens, in the
-- currency of the price. Of owned hardware only, a rent includes it.
-- J x 10^6 / (3.6 x 10^6 J a kWh) x price of a kWh.
select joules_per_token::DOUBLE / 3.6e0 * price_per_kwh as amount
