"""SemiAnalysis InferenceX (formerly InferenceMAX): rows of its API, its agg_*.json files, and its bare summaries.

https://github.com/SemiAnalysisAI/InferenceX : infx/results makes a row, InferenceX-app/packages/db/src/etl the API's.

Quirks:

1. Latencies are in seconds, their keys without the unit ("_ms" is dropped when they are divided by 1000).
2. Rates are per GPU. On one node every rate divides by all GPUs: `num_gpus`, else tp x pp x pcp. Disaggregated,
   `output_tput_per_gpu` divides by the decode GPUs and `input_tput_per_gpu` by the prefill GPUs (newer files: all three
   by all GPUs). Which one holds follows from the sum: total x (P + D) = input x P + output x D, or total = input +
   output. A row where neither holds is refused.
3. `num_decode_gpu` of a row of one node may be tp x ep, although the experts share the same GPUs: four or eight times
   too many. The row's own concurrency and latency tell which number can be (Little's law).
4. `isl` and `osl` are what was asked for; lengths are drawn from 80 to 100 % of them.
5. The interactivity of agentic runs is 1 / the time between tokens: of its median, before July 2026 of its p90 alone.
   Their input counts what the cache held; since then files nest figures (`_flat`), acceptance is simulated (PR 2160).
6. Only a run of SemiAnalysisAI itself is official. Forks write the same files: without the address of an official run
   a row is unofficial. Bare summaries (vLLM's keys, seconds) are of experiments and always unofficial.
7. `prefill_hw` and `decode_hw` may be two kinds of chips: such a run is refused.
"""

from decimal import Decimal

from extract.benchmarks import serving
from extract.benchmarks.content import STATISTICS, Run
from extract.benchmarks.result import ParsedRun, plain, product, quotient
from extract.benchmarks.supplied import OFFICIAL
from warehouse.reference.accelerators import resolve

FAMILY = "inferencex"
FORMS = {"h100": "SXM", "h200": "SXM", "b200": "SXM", "b300": "SXM", "gb200": "NVL72", "gb300": "NVL72"}
"""The forms of the chips on which the official runs are made, whose files name the chip alone."""
MODELS = {
    **{"dsr1": "DeepSeek-R1-0528", "dsv4": "DeepSeek-V4-Pro", "gptoss120b": "gpt-oss-120b"},
    **{"glm5": "GLM-5", "glm5.1": "GLM-5.1", "kimik2.5": "Kimi-K2.5", "kimik2.6": "Kimi-K2.6"},
    **{"llama70b": "Llama-3.3-70B-Instruct", "qwen3.5": "Qwen3.5-397B-A17B"},
    **{"minimaxm2.5": "MiniMax-M2.5", "minimaxm2.7": "MiniMax-M2.7"},
}
"""Models by the short names of InferenceX's API, for rows without a model id: models.ts in packages/constants/src."""
TOLERANCE = Decimal("0.01")
MIN_SHARE = Decimal("0.4")
MAX_SHARE = Decimal("1.05")
"""Of concurrency x output length / latency that a rate may be: shorter outputs and the ends of the run lower it."""
KEYS = serving.Keys(
    rate="output_tput_per_gpu",
    whole=("mean_e2el",),
    first=("mean_ttft",),
    ttft={name: f"{name}_ttft" for name in STATISTICS},
    between={"median": "median_tpot", "p90": "p90_itl"},
    per_second=Decimal(1),
)
BARE_KEYS = serving.bench_keys(total_rate="total_token_throughput", whole="e2el", suffix="", per_second=1)
NESTED = (
    ("hw", "hardware"),
    ("spec_decoding", "spec_method"),
    ("num_requests_total", "benchmark_outcome requested"),
    ("num_requests_successful", "benchmark_outcome completed"),
    ("num_requests_failed", "request_accounting records_error_dropped"),
    ("tput_per_gpu", "request_metrics throughput per_gpu total_tput_tps"),
    ("input_tput_per_gpu", "request_metrics throughput per_gpu input_tput_tps"),
    ("output_tput_per_gpu", "request_metrics throughput per_gpu output_tput_tps"),
    ("duration_seconds", "request_metrics throughput duration_seconds"),
    ("mean_input_tokens", "request_metrics tokens input mean"),
    ("mean_output_tokens_actual", "request_metrics tokens output_actual mean"),
    ("mean_ttft", "request_metrics latency ttft mean"),
    ("median_ttft", "request_metrics latency ttft p50"),
    ("mean_e2el", "request_metrics latency e2el mean"),
    ("median_itl", "request_metrics latency itl p50"),
    ("p90_itl", "request_metrics latency itl p90"),
    ("median_itl", "request_metrics latency full_response_itl p50"),
    ("p90_itl", "request_metrics latency full_response_itl p90"),
    ("server_gpu_cache_hit_rate", "server_metrics cache gpu_cache_hit_rate"),
)
"""Fields by the names that they have in the row itself, and their path in its objects; the last one counts."""
WITHOUT_SUFFIX = frozenset({"median_ttft", "mean_ttft", "median_tpot", "mean_tpot"})


def claims(run: Run) -> bool:
    """Return whether a run has one of the three forms."""
    forms = {"hardware", "metrics"}, {"hw", "tput_per_gpu"}, {"hw", "request_metrics"}
    return any(form <= run.fields.keys() for form in forms) or _is_bare(run)


def parse(run: Run) -> ParsedRun:
    """Return what a run tells. Raises LayoutChanged or BenchmarkRefused."""
    if _is_bare(run):
        return _bare(run)
    run = _flat(run)
    link = run.text("run_url")
    spec = run.text("spec_decoding") or {"on": "mtp", "off": "none"}.get(run.text("mtp") or "")
    isl, osl = run.number("isl"), run.number("osl")
    framework, image = run.text("framework"), run.text("image")
    found = ParsedRun(
        benchmark="InferenceX",
        model=MODELS.get(run.text("model") or "", run.text("model")),
        scenario=run.text("scenario_type") or _lengths(isl, osl),
        accelerator=_chip(run),
        precision=run.text("precision"),
        concurrency=run.number("conc"),
        input_length=isl,
        output_length=osl,
        # Without speculation a step gives one token.
        acceptance_length=Decimal(1) if spec == "none" else None,
        prefix_cache_hit_share=run.number("server_gpu_cache_hit_rate"),
        is_disaggregated=bool(run.flag("disagg")),
        parallelism=_parallelism(run),
        software=f"{framework} ({image})" if framework and image else framework or image,
        measured_on=run.day("date", "%Y-%m-%d"),
        source_url=link,
    )
    if link is not None:
        found.is_official = OFFICIAL[FAMILY].fullmatch(link) is not None
        found.measured_by = "SemiAnalysis InferenceX" if found.is_official else None
    if spec not in (None, "none"):
        simulated = ", its acceptance simulated since July 2026" if run.text("scenario_type") else ""
        found.notes.append(f"speculative decoding: {spec}{simulated}")
    if isl is not None:
        found.notes.append("lengths are the requested ones; actual ones are 80 to 100 % of them")
    _agentic(run, found)
    _latencies(run, found)
    _rates(run, found)
    _errors(run, found)
    return with_form(found, link)


def with_form(found: ParsedRun, link: str | None) -> ParsedRun:
    """Return a run with the form of its chip, where a link says that it is official."""
    form = FORMS.get(found.accelerator or "")
    if form and link and OFFICIAL[FAMILY].fullmatch(link):
        found.accelerator = f"{found.accelerator} {form}"
    return found


def _is_bare(run: Run) -> bool:
    return "output_throughput" in run.fields and "hw" not in run.fields and not WITHOUT_SUFFIX.isdisjoint(run.fields)


def _bare(run: Run) -> ParsedRun:
    found = ParsedRun(
        benchmark="InferenceX experiment",
        model=run.text("model_id"),
        measured_on=run.day("date", "%Y%m%d-%H%M%S"),
        is_official=False,
    )
    serving.bench(run, found, BARE_KEYS)
    return found


def _flat(run: Run) -> Run:
    """Return a run with the figures of its objects among its own fields: those of the API's rows, and agentic ones."""
    fields = {**run.within("metrics").fields, **run.fields}
    for name, path in NESTED:
        for value in Run(fields, source=run.source).at(path):
            fields[name] = value
    if "mean_output_tokens_actual" in fields:
        fields["median_tpot"] = fields.get("median_itl")  # an older time per token stands next to it
    return Run(fields, source=run.source, place=run.place)


def _agentic(run: Run, found: ParsedRun) -> None:
    read, written = run.number("mean_input_tokens"), run.number("mean_output_tokens_actual")
    if read is None and written is None:
        return
    found.input_length, found.output_length = read, written
    found.notes.append("input counts tokens that the prefix cache held")


def _latencies(run: Run, found: ParsedRun) -> None:
    if not serving.latencies(run, found, KEYS, cap=None):
        return
    median, shown = run.number("median_tpot"), run.number("median_intvty")
    if median and shown is not None and abs(shown * median - 1) > TOLERANCE:
        raise run.refused("median_intvty", f"{plain(shown)} tokens/s are not 1 / {plain(median)} s")


def _rates(run: Run, found: ParsedRun) -> None:
    total, out = run.needed("tput_per_gpu"), run.needed("output_tput_per_gpu")
    serving.positive(run, "output_tput_per_gpu", out)
    read = run.number("input_tput_per_gpu")
    latency = run.number("mean_e2el") or run.number("median_e2el")
    most = None
    if found.concurrency and found.output_length and latency:
        most = quotient(found.concurrency * found.output_length, latency)
    if found.is_disaggregated:
        prefill, decode = run.needed("num_prefill_gpu"), run.needed("num_decode_gpu")
        chips = prefill + decode
        if read is None:
            raise run.layout("input_tput_per_gpu", "absent from a disaggregated run")
        if _near(total * chips, read * prefill + out * decode):
            found.output_rate, found.input_rate = product(out, decode), product(read, prefill)
        elif _near(total, read + out):
            found.output_rate, found.input_rate = product(out, chips), product(read, chips)
        else:
            raise run.refused(
                "tput_per_gpu",
                f"{plain(total)} per GPU over {plain(prefill)} + {plain(decode)} GPUs is neither {plain(read)} x "
                f"{plain(prefill)} + {plain(out)} x {plain(decode)} nor {plain(read)} + {plain(out)}",
            )
    else:
        if read is not None and not _near(total, read + out):
            raise run.refused("tput_per_gpu", f"not the sum of {plain(read)} and {plain(out)}")
        chips = _chips(run, out, most, found)
        found.output_rate, found.input_rate = product(out, chips), product(total - out if read is None else read, chips)
    found.chips_used = serving.positive(run, "num_decode_gpu", chips)
    found.total_rate = product(total, chips)
    if most is not None and found.output_rate > most * MAX_SHARE:
        raise run.refused(
            "output_tput_per_gpu",
            f"{plain(found.output_rate)} tokens/s is more than {plain(found.concurrency or most)} requests in flight "
            f"give ({plain(most)})",
        )
    for name, rate in (("output_tput_tps", found.output_rate), ("input_tput_tps", found.input_rate)):
        stated = run.number(name)
        if stated is not None and not _near(stated, rate):
            raise run.refused(name, f"not {plain(rate)}, the rate per GPU times {plain(chips)}")


def _chips(run: Run, per_gpu: Decimal, most: Decimal | None, found: ParsedRun) -> Decimal:
    """Return the GPUs of a run of one pool; raise where the numbers differ and the latencies do not settle it."""
    if total := run.number("num_gpus"):
        return total
    tp = run.number("tp") or run.number("decode_tp")
    stated = run.number("num_decode_gpu") or run.number("num_prefill_gpu")
    split = tp and tp * (run.number("pp") or Decimal(1)) * (run.number("pcp_size") or Decimal(1))
    ways = {number for number in (stated, split) if number}
    if not ways:
        raise run.layout("tp", "no number of GPUs")
    if len(ways) == 1:
        return ways.pop()
    possible = [n for n in sorted(ways) if most is not None and MIN_SHARE <= per_gpu * n / most <= MAX_SHARE]
    if len(possible) != 1:
        raise run.refused(
            "num_decode_gpu", f"GPUs are {' or '.join(plain(n) for n in sorted(ways))}, and which is open"
        )
    if stated and stated != possible[0]:
        found.notes.append(
            f"the file counts {plain(stated)} GPUs, which its concurrency and latency exclude: {plain(possible[0])}"
        )
    return possible[0]


def _errors(run: Run, found: ParsedRun) -> None:
    sent, good = run.number("num_requests_total"), run.number("num_requests_successful")
    if sent is None or good is None:
        return
    failed = run.number("num_requests_failed")
    sent = sent if failed is None else good + failed  # the total of agentic files counts warm-ups
    serving.happened(run, "num_requests_successful")
    if good > sent:
        raise run.refused("num_requests_successful", f"more than the {plain(sent)} that were sent")
    found.error_share = quotient(sent - good, sent)
    duration = run.number("duration_seconds")
    for side, rate in (("input", found.input_rate), ("output", found.output_rate)):
        length = getattr(found, f"{side}_length")
        total = good * length if length is not None else None
        serving.over_duration(run, f"{side}_tput_tps", rate=rate, duration_s=duration, total=total)


def _near(one: Decimal, other: Decimal) -> bool:
    return abs(one - other) <= TOLERANCE * max(one, other)


def _chip(run: Run) -> str | None:
    # A hyphen begins the name of a runner of the same chip (h200-nb, b200-trt), a colon ends that of a cluster;
    # h200-nvl is another form.
    names = [text.lower().rpartition(":")[2] for one in ("hw", "prefill_hw", "decode_hw") if (text := run.text(one))]
    chips = {name if resolve(name) else name.partition("-")[0]: name for name in names}
    if len(chips) > 1:
        raise run.refused("prefill_hw", f"ran on several kinds of chips: {', '.join(chips)}")
    return next(iter(chips), None)


def _lengths(isl: Decimal | None, osl: Decimal | None) -> str | None:
    if isl is None or osl is None:
        return None
    return "/".join(f"{plain(n / 1024)}k" if n % 1024 == 0 else plain(n) for n in (isl, osl))


def _parallelism(run: Run) -> str | None:
    def part(prefix: str) -> str:
        sizes = {word: run.number(f"{prefix}{word.lower()}") for word in ("TP", "PP", "EP")}
        words = [f"{word}{plain(size)}" for word, size in sizes.items() if size and (word != "PP" or size > 1)]
        if run.flag(f"{prefix}dp_attention"):
            words.append("DP attention")
        workers = run.number(f"{prefix}num_workers") if prefix else None
        chips = run.number(f"num_{prefix}gpu") if prefix and run.flag("disagg") else None
        text = " ".join(([f"{plain(chips)} GPUs"] if chips else []) + words)
        return text + (f" x {plain(workers)}" if words and workers else "")

    if not run.flag("disagg"):
        return part("") or part("decode_") or part("prefill_") or None
    parts = [f"{name} {text}" for name, text in (("prefill", part("prefill_")), ("decode", part("decode_"))) if text]
    return ", ".join(parts) or part("") or None
