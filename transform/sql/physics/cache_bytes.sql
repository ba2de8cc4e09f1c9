-- cache_bytes(model, tokens, precision_name): Bytes of keys and values kept for one sequence, of a row of ref.model.
-- physics.kv_cache_bytes of its shape.
select
    physics.kv_cache_bytes(
        model['kv_values_per_layer'], model['layers'], tokens, physics.bytes_per_value(precision_name),
        model['windowed_layers'], coalesce(model['window_tokens'], 0)
    ) as bytes
