"""A published file for tests of decisions: few prices, and runs of Llama 3 70B on H100 and H200, in FP8, batch 8.

H100: 200 tokens/s on AWS's p5.4xlarge at 6.88 USD. H200 SXM: 300 on the same point, 100 at other lengths; eight of
them at Toy for 24 USD an hour. Trainium2: a block at 35.7608 USD for 16, and runs of another model, and in BF16.
MI300X: a "from" price alone.
"""

from datetime import date
from decimal import Decimal
from pathlib import Path

from cost_file import neocloud, run
from few_marts import needed
from log_rows import add_documents
from looks import at_once, day, row
from purchase import SOURCES, block, seen

from transform.formula import statements
from warehouse.log import db
from warehouse.log.load import load
from warehouse.publish import published_file
from warehouse.reference import throughput

MADE, MACROS = needed(
    "serving_cost", "break_even", "make_or_buy", "cheapest", "fit", "option_ladder", "serving_need", "price_window",
    "obtainable", "price_change",
)  # fmt: skip


def publish_breakeven(folder: Path) -> None:
    """Publish the file in a folder."""
    h200 = {"accelerator_name": "H200", "form_factor": "SXM"}
    looks = (
        seen(0, "aws_price_list", row("p5.4xlarge", "6.88"), neocloud("H200 SXM", "24", "8"),
             neocloud("MI300X", "1.5", "8", statistic="floor")),
        seen(0, "aws_capacity_block_rates", block("trn2.48xlarge", "35.7608", None)),
    )  # fmt: skip
    with db.writer(folder) as con:
        throughput.append(con, [
            run(), run(**h200, output_rate=Decimal(300), measured_on=date(2026, 1, 2)),
            run(**h200, output_rate=Decimal(100), input_length=Decimal(4000)),
            run(accelerator_name="Trainium2", form_factor=None, precision="bf16", accelerator_count=Decimal(16)),
            run(model_name="llama-3.1-405b", accelerator_name="Trainium2", form_factor=None,
                accelerator_count=Decimal(32), input_length=Decimal(200_000)),
        ])  # fmt: skip
        for moment, together in at_once(looks):
            add_documents(con, *together)
            load(con, together, recorded_at=moment)
        published_file.publish(
            con, folder, marts=MADE, macros=MACROS, formulas=statements(),
            sources=SOURCES, built_at=day(0), version="test",
        )  # fmt: skip
