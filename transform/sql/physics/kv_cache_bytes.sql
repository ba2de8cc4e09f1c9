-- Keys and values kept for one sequence, in bytes.
-- b x v x ((L - Lw) x s + Lw x min(s, w)): b bytes a number, v numbers a layer and token (2 x KV heads x head size, or
-- the latent vector), L layers of which Lw see only the last w tokens, s tokens of context.
-- Source: Pope et al. 2022, arXiv 2211.05102; Shazeer 2019, arXiv 1911.02150, for fewer KV heads.
select
    bytes_per_value * kv_values_per_layer::DOUBLE * (
        (layers - windowed_layers) * context_tokens::DOUBLE
        + windowed_layers * case when context_tokens < window_tokens then context_tokens else window_tokens end
    ) as bytes
