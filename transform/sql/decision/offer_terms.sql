-- offer_terms(discount_type, class, payment_model, tier_name, fabric_name, condition_text, statistic_name): Terms of an
-- offer in a line: plan, class, payment, tier, fabric, conditions, statistic.
-- The statistic is what the amount is where it is no price. NULL where none of these is stated.
select
    nullif(
        concat_ws(
            ', ', discount_type || ' plan', class, payment_model, tier_name, fabric_name, condition_text,
            nullif(statistic_name, 'price')
        ),
        ''
    ) as terms
