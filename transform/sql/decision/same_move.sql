-- same_move(move, form_text, label_text): Number that two rows of int.price_change share where collectors name one move
-- of one thing by different words. The thing is one provider, chip, form and count (of AWS the type), place and terms,
-- and moves from one price per chip to another; it happened once where their windows overlap, too.
select
    hash(
        move['service_provider_name'], coalesce(move['accelerator_name'], move['instance_type'], label_text), form_text,
        move['accelerator_count'], case when move['service_provider_name'] = 'AWS' then move['instance_type'] end,
        move['region_id'], move['availability_zone_id'], move['purchase_option'], move['commitment_term_hours'],
        move['purchase_payment_model'], move['offering_class'], decision.sold_tier(move['tier']),
        move['pricing_currency'], move['change_kind'],
        round(move['effective_hourly_price_before'] / coalesce(nullif(move['accelerator_count'], 0), 1), 4),
        round(move['effective_hourly_price_after'] / coalesce(nullif(move['accelerator_count'], 0), 1), 4)
    ) as thing
