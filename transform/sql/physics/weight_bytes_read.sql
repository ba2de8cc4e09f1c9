-- weight_bytes_read(model, sequences, precision_name): Bytes of weights that one step of generation reads, of a row of
-- ref.model. physics.moe_weight_bytes_read of its shape.
select
    physics.moe_weight_bytes_read(
        model['shared_parameters'], coalesce(model['expert_parameters'] * model['moe_layers'], 0),
        coalesce(model['experts'], 1), coalesce(model['experts_per_token'], 1), sequences,
        physics.bytes_per_value(precision_name)
    ) as bytes
