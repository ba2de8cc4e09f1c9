-- fitting_batch(chip, model, chips, precision_name, in_flight, input_tokens, output_tokens): Sequences in flight, or as
-- many as fit where that is fewer or not told.
-- physics.largest_batch with weights and cache in the named precision. A sequence holds its input and half of its
-- output; where one of them alone is known, that one. 0: the weights alone do not fit.
select
    least(
        in_flight,
        physics.largest_batch(
            chips, chip['memory_gb'], model['parameters_total'] * physics.bytes_per_value(precision_name),
            coalesce(
                physics.cache_bytes(
                    model, coalesce(input_tokens + output_tokens / 2, input_tokens, output_tokens), precision_name
                ),
                0
            )
        )
    ) as batch
