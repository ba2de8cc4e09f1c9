-- rate_bounds(chip, model, task_name, is_lora, chips, precision_name, in_flight, input_tokens, output_tokens,
-- cached_share, accepted, fitting): Bounds of a rate, tokens per second, as a STRUCT; NULL where an input is unknown.
-- What no system exceeds, of a row of ref.accelerator and one of ref.model: one function for runs, sums on supplied
-- numbers and published claims.
--   compute    the fastest dense peak in any precision / operations of a token, attention left out; input counts where
--              the share of it that was cached is known
--   bandwidth  of serving, where requests in flight, accepted tokens and precision are known: weights are read once a
--              step for all of them, the cache of the input alone at 4 bits
--   fitting    of serving: the same at `fitting` (physics.fitting_batch), the cache in the named precision. What is
--              above it did not run in that precision.
select
    {
        'compute': case
            when task_name = 'training'
                then
                    physics.forward_compute_bound(
                        chips, physics.fastest_tflops(chip),
                        physics.training_flop_per_token(
                            model['parameters_active'], model['layers'], model['attention_size'], 0, false, is_lora
                        )
                    )
            else
                coalesce(
                    physics.serving_output_bound(
                        chips, physics.fastest_tflops(chip), physics.pass_flop(model), input_tokens, output_tokens,
                        cached_share
                    ),
                    physics.forward_compute_bound(chips, physics.fastest_tflops(chip), physics.pass_flop(model))
                )
        end,
        'bandwidth': case
            when task_name <> 'training'
                then
                    physics.decode_bandwidth_bound(
                        chips, chip['memory_bandwidth_tb_s'],
                        physics.weight_bytes_read(model, in_flight, precision_name), in_flight,
                        physics.cache_bytes(model, coalesce(input_tokens, 0), 'fp4'), accepted
                    )
        end,
        'fitting': case
            when task_name = 'training' then null
            when fitting < 1 then 0
            else
                physics.decode_bandwidth_bound(
                    chips, chip['memory_bandwidth_tb_s'],
                    physics.weight_bytes_read(model, fitting, precision_name), fitting,
                    physics.cache_bytes(
                        model, coalesce(input_tokens + output_tokens / 2, input_tokens, output_tokens), precision_name
                    ),
                    accepted
                )
        end
    } as bounds
