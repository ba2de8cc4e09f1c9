"""The formulas of physics as SQL macros in the schema `physics`: each stands once, in `transform/sql/physics/`."""

from functools import partial

from transform import formula
from transform.formula import Domain, Parameter

Formula = partial(formula.Formula, "physics")

P = {
    name: Parameter(name, meaning)
    for name, meaning in (
        ("accelerators", "chips that work together"),
        ("memory_gb", "memory of one chip, GB"),
        ("memory_bandwidth_tb_s", "memory bandwidth of one chip, TB/s"),
        ("peak_tflops", "peak of one chip in the precision that is computed in, TFLOP/s"),
        ("parameters", "parameters of the model"),
        ("parameters_active", "parameters that one token passes through"),
        ("layers", "layers of the model"),
        ("attention_size", "heads x head size"),
        ("sequences", "sequences in flight, the batch of one step"),
        ("output_tokens", "output tokens of one request"),
        ("bytes_per_parameter", "bytes that one parameter takes"),
        ("bytes_per_value", "bytes that one number of the cache takes"),
        ("weight_bytes", "bytes of weights"),
        ("kv_values_per_layer", "numbers that one layer keeps of one token"),
        ("experts", "routed experts of a layer"),
        ("experts_per_token", "experts that one token is routed to"),
        ("flop_per_token", "operations of one token"),
        ("watts", "power of all that runs, W"),
        ("tokens_per_second", "measured or claimed tokens per second"),
        ("joules_per_token", "energy of one token, J"),
        ("memory_needed_gb", "memory that is needed, GB"),
        ("price_per_kwh", "price of electricity a kWh"),
    )
}
"""Parameters that several formulas share; all of them are above 0."""
KV_BYTES = Parameter("kv_bytes", "bytes of the cache of one sequence", Domain.NOT_NEGATIVE)
CONTEXT = Parameter("context_tokens", "tokens in the attention window", Domain.NOT_NEGATIVE)


def _peak(fact: str) -> Parameter:
    return Parameter(fact, f"{fact} of one chip", Domain.ANY)


FORMULAS = (
    Formula(
        "bytes_per_value",
        "Bytes of one number in a precision; NULL for a precision that is not known",
        (Parameter("precision_name", "fp32, bf16, fp16, fp8, int8, nvfp4, mxfp4, fp4 or int4", Domain.ANY),),
    ),
    Formula(
        "best_dense_tflops",
        "Fastest dense peak published of a chip in any precision, TFLOP/s",
        tuple(
            _peak(fact)
            for fact in (
                "dense_bf16_tflops",
                "dense_fp16_tflops",
                "dense_fp8_tflops",
                "dense_fp4_tflops",
                "dense_int8_tops",
            )
        ),
    ),
    Formula(
        "moe_weight_bytes_read",
        "Bytes of weights that one step of generation reads",
        (
            Parameter("shared_parameters", "parameters read at every step", Domain.NOT_NEGATIVE),
            Parameter("expert_parameters", "parameters of one expert over all its layers", Domain.NOT_NEGATIVE),
            P["experts"],
            P["experts_per_token"],
            P["sequences"],
            P["bytes_per_parameter"],
        ),
    ),
    Formula(
        "kv_cache_bytes",
        "Bytes of keys and values kept for one sequence",
        (
            P["kv_values_per_layer"],
            P["layers"],
            CONTEXT,
            P["bytes_per_value"],
            Parameter("windowed_layers", "layers that see a window only", Domain.NOT_NEGATIVE, default="0"),
            Parameter("window_tokens", "tokens of that window", Domain.NOT_NEGATIVE, default="0"),
        ),
    ),
    Formula(
        "decode_bandwidth_bound",
        "Output tokens per second that memory bandwidth allows",
        (
            P["accelerators"],
            P["memory_bandwidth_tb_s"],
            P["weight_bytes"],
            P["sequences"],
            KV_BYTES,
            Parameter("accepted_tokens", "tokens accepted a step, 1 without speculation", default="1"),
        ),
    ),
    Formula(
        "forward_flop_per_token",
        "Operations of one token in one forward pass",
        (P["parameters_active"], P["layers"], P["attention_size"], CONTEXT),
    ),
    Formula(
        "forward_compute_bound",
        "Tokens per second that the peak allows, input and output alike",
        (P["accelerators"], P["peak_tflops"], P["flop_per_token"]),
    ),
    Formula(
        "serving_output_bound",
        "Output tokens per second that the peak allows where input is computed too",
        (
            P["accelerators"],
            P["peak_tflops"],
            P["flop_per_token"],
            Parameter("input_tokens", "input tokens of one request", Domain.NOT_NEGATIVE),
            P["output_tokens"],
            Parameter("cache_hit_share", "share of the input found in a cache", Domain.SHARE, default="0"),
        ),
    ),
    Formula(
        "memory_needed_gb",
        "Memory that serving needs at least, GB",
        (P["weight_bytes"], P["sequences"], KV_BYTES),
    ),
    Formula(
        "accelerators_needed",
        "Least number of chips whose memory holds it",
        (P["memory_needed_gb"], P["memory_gb"]),
    ),
    Formula(
        "training_memory_gb",
        "Memory of weights, gradients and optimizer in training, GB",
        (P["parameters"], Parameter("bytes_per_parameter", "weight, gradient and optimizer together", default="16")),
    ),
    Formula(
        "training_flop_per_token",
        "Operations to train on one token",
        (
            P["parameters_active"],
            P["layers"],
            P["attention_size"],
            Parameter("sequence_tokens", "tokens of a training sequence; 0 leaves attention out", Domain.NOT_NEGATIVE),
            Parameter("is_causal_half", "whether attention skips what the mask hides", Domain.ANY, default="false"),
            Parameter("is_base_frozen", "whether only adapters are trained (LoRA)", Domain.ANY, default="false"),
        ),
    ),
    Formula(
        "training_rate_at_mfu",
        "Tokens per second of training at a share of the peak",
        (
            Parameter("mfu", "share of the peak", Domain.SHARE),
            P["peak_tflops"],
            P["flop_per_token"],
            Parameter("accelerators", P["accelerators"].meaning, default="1"),
        ),
    ),
    Formula(
        "achieved_tflops",
        "TFLOP/s of the model's own work that a rate implies",
        (P["tokens_per_second"], P["flop_per_token"]),
    ),
    Formula(
        "model_flops_utilisation",
        "Share of the peak that a rate implies",
        (P["tokens_per_second"], P["accelerators"], P["peak_tflops"], P["flop_per_token"]),
    ),
    Formula("joules_per_token", "Energy of one token, J", (P["watts"], P["tokens_per_second"])),
    Formula("tokens_per_joule", "Tokens of one joule", (P["tokens_per_second"], P["watts"])),
    Formula(
        "electricity_cost_per_million_tokens",
        "Electricity of a million tokens, in the currency of the price",
        (P["joules_per_token"], P["price_per_kwh"]),
    ),
)
"""Every scalar macro, a formula after those that it needs."""
