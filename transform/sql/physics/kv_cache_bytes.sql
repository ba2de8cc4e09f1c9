-- kv_cache_bytes(kv_values_per_layer > 0, layers > 0, context_tokens >= 0, bytes_per_value > 0, windowed_layers >= 0 :=
-- 0, window_tokens >= 0 := 0): Bytes of keys and values kept for one sequence.
-- b x v x ((L - Lw) x s + Lw x min(s, w)): b bytes a number, v numbers a layer and token (2 x KV heads x head size, or
-- the latent vector), L layers of which Lw see only the last w tokens, s tokens of context.
-- Source: Pope et al. 2022, arXiv 2211.05102; Shazeer 2019, arXiv 1911.02150, for fewer KV heads.
select
    bytes_per_value * kv_values_per_layer::DOUBLE * (
        (layers - windowed_layers) * context_tokens::DOUBLE
        + windowed_layers * case when context_tokens < window_tokens then context_tokens else window_tokens end
    ) as bytes
