-- moe_weight_bytes_read(shared_parameters >= 0, expert_parameters >= 0, experts > 0, experts_per_token > 0, sequences >
-- 0, bytes_per_parameter > 0): Bytes of weights that one step of generation reads.
-- bytes x (S + e x E x (1 - (1 - t/E)^B)): S parameters read at every step, e parameters of one expert over all its
-- layers, E experts of which a token uses t, B sequences a step. The bracket is the share of experts that at least one
-- of B tokens is routed to, were routing even; uneven routing touches fewer.
-- A dense model has one expert of nothing: e = 0, E = 1, t = 1.
-- Source: expected number of distinct draws; Pope et al. 2022, arXiv 2211.05102, for weights read once a step.
select
    bytes_per_parameter * (
        shared_parameters::DOUBLE
        + expert_parameters::DOUBLE * experts * (1e0 - pow(1e0 - experts_per_token / experts::DOUBLE, sequences))
    ) as bytes
