"""The marts that most tests need: all but those of cost, drift and truth, which take as long to make as all others."""

from transform.models import MACROS, MARTS

LATE = {
    "throughput", "cost_price", "serving_rate", "serving_offer", "token_cost", "training_rate", "training_offer",
    "training_cost", "cost_left_out", "price_index_item", "price_index",
}  # fmt: skip
FEW_MARTS = tuple(mart for mart in MARTS if mart.name not in LATE and not mart.name.startswith("truth_"))
FEW_MACROS = tuple(macro for macro in MACROS if macro.name in {"best_option", "fit", "price_on", "cheapest"})

LEAST = {
    "price_history", "accelerator_hour_price", "price_move", "price_change", "source_health", "unknown_accelerator",
    "focus_sku_price",
}  # fmt: skip
LEAST_MARTS = tuple(mart for mart in MARTS if mart.name in LEAST)
"""What every check of a published file asks for, and no more."""
