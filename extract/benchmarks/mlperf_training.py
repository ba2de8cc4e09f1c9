"""MLPerf Training: result_*.txt with its lines ":::MLLOG {...}". Times in milliseconds since 1970.

https://github.com/mlcommons/logging , https://github.com/mlcommons/training_policies

MLPerf scores minutes; a rate is derived: (what was trained on at the last evaluation) / (run_stop - run_start). The
pauses of evaluation are therefore in it. It is not a metric of MLPerf.

Quirks:

1. Only a run whose run_stop has the status success is a result.
2. Progress is `samples_count`, else `epoch_num`, of the last eval_accuracy. Of gpt3, `epoch_num` counts tokens: a
   multiple of batch x sequence length, which is tested. Elsewhere both count sequences, and `epoch_num` may be epochs.
3. Sequences become tokens only where they are packed full (`PACKED`): BERT's and others are counted as samples.
4. llama2_70b_lora does not log its sequence length.
5. Lines may have the rank or the container before them. NVIDIA's containers leave placeholders for who ran it and on
   what, and log chip and count as :::SYSJSON; elsewhere a platform names machines ("64xNVIDIA DGX H100").
6. The precision is the lowest one of the linear layers, where a submitter logs it: since v6.1 by the first of two keys.
7. A log of the open division may be of another model: such a run is never ranked.
"""

from decimal import Decimal
from typing import Any

from extract.benchmarks import serving
from extract.benchmarks.content import Run, damaged, loads
from extract.benchmarks.mlperf_results import chips
from extract.benchmarks.result import ParsedRun, plain, product, quotient

FAMILY = "mlperf_training"
MARK = ":::MLLOG "
SYSTEM = ":::SYSJSON "
PRECISIONS = ("lowest_numerical_precision_in_linear", "lowest_numerical_precision_linear")
PACKED = {
    "gpt3": "GPT-3 175B",
    "llama31_405b": "Llama-3.1-405B",
    "llama31_8b": "Llama-3.1-8B",
    "llama2_70b_lora": "Llama-2-70B (LoRA)",
    "gpt_oss_20b": "gpt-oss-20b",
    "deepseekv3_671b": "DeepSeek-V3",
}
"""Benchmarks that train on sequences packed full of tokens, and the model each is of."""
COUNTS_TOKENS = "gpt3"
MAX_LINE = 100_000


def parsed(text: str, source: str) -> Run | None:
    """Return the events of a log as fields; None where the text has none. Raises LayoutChanged."""
    if MARK not in text:
        return None
    fields: dict[str, Any] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        mark = next((mark for mark in (MARK, SYSTEM) if mark in line), None)
        if mark is None or line.endswith("'"):  # a shell that repeats in quotes what it prints
            continue
        if len(line) > MAX_LINE:
            raise damaged("too long for a log of MLPerf", line, source)
        try:
            event = loads(line.partition(mark)[2])
        except ValueError as error:
            raise damaged(f"line {number} is no event: {error}", line, source) from error
        if mark == SYSTEM:
            event = {"key": "system", "value": event}
        if not isinstance(event, dict) or not isinstance(event.get("key"), str):
            raise damaged(f"line {number} is no event", line, source)
        _keep(fields, event)
    return Run(fields, source=source)


def parse(run: Run) -> ParsedRun:
    """Return what a run tells. Raises LayoutChanged or BenchmarkRefused."""
    status = run.within("run_stop").text("status")
    if status != "success":
        raise run.refused(
            "run_stop", "only a run that ended with status success is a result", value=status or "no status"
        )
    start, stop = run.within("run_start").needed("time_ms"), run.within("run_stop").needed("time_ms")
    if stop <= start:
        raise run.refused("run_stop", "not after run_start", value=plain(stop, 20))
    benchmark, system = run.text("submission_benchmark"), run.within("system")
    precision = next(filter(None, map(run.text, PRECISIONS)), None)
    found = ParsedRun(
        benchmark="MLPerf Training",
        task="training",
        scenario=benchmark,
        model=PACKED.get(benchmark or ""),
        accelerator=system.text("accelerator_model_name"),
        chips_used=chips(system),
        precision=precision and precision.replace("bfloat", "bf"),
        input_length=run.number("max_sequence_length"),
        batch_size=run.number("global_batch_size"),
        measured_by=run.text("submission_org"),
        measured_on=run.within("run_stop").moment("time_ms", 1000),
        is_comparable=run.text("submission_division") != "open",
    )
    if platform := run.text("submission_platform"):
        found.notes.append(f"platform {platform}")
    _progress(run, found, seconds=quotient(stop - start, Decimal(1000)))
    found.notes.append("rate derived from the log, evaluation pauses included; not a metric of MLPerf")
    return found


def with_sequence_length(run: ParsedRun, length: Decimal | None) -> None:
    """Turn sequences into tokens, once their length is known, where a benchmark packs them full; round the rate."""
    run.input_length = run.input_length or length
    rate = run.total_rate or Decimal(0)
    if run.unit_of_work == "sequence" and run.input_length:
        rate, run.unit_of_work = rate * run.input_length, "token"
    run.total_rate = product(rate)


def _keep(fields: dict[str, Any], event: dict[str, Any]) -> None:
    key, metadata = event["key"], event.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    if key == "run_start":
        fields.setdefault(key, {"time_ms": event.get("time_ms")})
    elif key in ("run_stop", "eval_accuracy"):
        fields[key] = {**metadata, "time_ms": event.get("time_ms")}
    elif "PLACEHOLDER" not in str(event.get("value")):
        fields.setdefault(key, event.get("value"))


def _progress(run: Run, found: ParsedRun, *, seconds: Decimal) -> None:
    last = run.within("eval_accuracy")
    samples, epoch = last.number("samples_count"), last.number("epoch_num")
    benchmark = found.scenario or ""
    if benchmark == COUNTS_TOKENS and samples is None:
        tokens = last.needed("epoch_num")
        step = product(found.batch_size or Decimal(0), found.input_length or Decimal(0))
        if step < 1:
            reason = "it or max_sequence_length is absent or 0, so that tokens and sequences cannot be distinguished"
            raise run.layout("global_batch_size", reason)
        if tokens % step:
            raise last.refused("epoch_num", f"not a whole number of batches of {plain(step, 12)} tokens")
        found.total_rate = serving.positive(last, "epoch_num", tokens / seconds)
        return
    if samples is None:
        # Sequences come in whole batches; a number that is less than one batch is one of epochs.
        batch = found.batch_size
        if benchmark not in PACKED or epoch is None or not batch or epoch < batch:
            raise last.refused("samples_count", "the log does not count what was trained on", value=benchmark)
        samples = epoch
    found.total_rate = serving.positive(last, "samples_count", samples / seconds)
    if benchmark in PACKED:
        found.unit_of_work = "sequence"
        found.needed = () if found.input_length else ("sequence_length",)
    else:
        found.unit_of_work = "sample"
