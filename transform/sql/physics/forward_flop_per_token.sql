-- forward_flop_per_token(parameters_active > 0, layers > 0, attention_size > 0, context_tokens >= 0): Operations of one
-- token in one forward pass.
-- 2N + 4 x L x d x s: N active parameters, each one multiplication and one addition; L layers whose attention
-- multiplies d = heads x head size numbers with s tokens of context, once for scores and once for values.
-- Source: Kaplan et al. 2020, arXiv 2001.08361, for 2N; Chowdhery et al. 2022, arXiv 2204.02311, appendix B, for both.
select 2e0 * parameters_active + 4e0 * layers * attention_size * context_tokens as flop
