-- The prices per chip that truth checks look at, and which of them are of one chip on the same terms: in all but size.
select
    *, -- noqa: AM04
    hash(
        service_provider_name, host_provider_name, region_id, accelerator_name, form_factor, purchase_option,
        commitment_discount_type, commitment_term_hours, purchase_payment_model, offering_class, tier, statistic,
        conditions, fabric, pricing_currency
    ) as terms
from int.truth_price
where price_per_accelerator_hour > 0
