-- What a unit costs per hour, in the currency of its amounts: an upfront fee is spread over the hours of its term.
create or replace macro core.hourly_price(
    unit_price, upfront_price, hours_per_pricing_unit, commitment_term_hours -- noqa: CP05
) as
unit_price::DOUBLE / hours_per_pricing_unit
+ case when upfront_price > 0 then upfront_price::DOUBLE / commitment_term_hours else 0 end
