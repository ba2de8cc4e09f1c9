-- The best commitment of each chip, form, seller, option, term and way to pay: one that cannot be ranked if none can.
select * -- noqa: AM04
from int.commitment_option
qualify
    row_number() over (
        partition by
            accelerator_name, form_factor, service_provider_name, purchase_option, commitment_term_hours,
            purchase_payment_model
        order by price_rank, offer_id
    ) = 1
order by
    accelerator_name, form_factor nulls first, service_provider_name, purchase_option,
    commitment_term_hours nulls first, purchase_payment_model nulls first
