-- training_flop_per_token(parameters_active > 0, layers > 0, attention_size > 0, sequence_tokens >= 0, is_causal_half
-- := false, is_base_frozen := false): Operations to train on one token.
-- 6N + 12 x L x d x s, the forward pass and twice as many backward: N active parameters, L layers, d = heads x head
-- size, s tokens of a sequence. Where attention skips what a causal mask hides, the second term is half. With a frozen
-- base (LoRA) no gradient of its weights is computed: 4N. Recomputed activations are no work of the model.
-- Source: Kaplan et al. 2020, arXiv 2001.08361, for 6N; Chowdhery et al. 2022, arXiv 2204.02311, appendix B, for both.
select
    case when is_base_frozen then 4e0 else 6e0 end * parameters_active
    + case when is_causal_half then 6e0 else 12e0 end * layers * attention_size * sequence_tokens as flop
