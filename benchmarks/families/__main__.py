"""Which model families of transformers run exactly, are refused, or differ.

    python -m benchmarks.families [FAMILY ...]

For each family, a tiny random model is saved, loaded like any other folder, run by the adapter, and compared with the
same folder in transformers: the logits of a prompt and of steps, with and without attention; the attention; greedy
texts; texts with 2 to 4 beams; rows of different lengths in one batch. Refusing a family is fine, but one that
`differs` or has an `error` is a fault of Attend. Prints a table, the reasons, and one JSON line last. All families take
a few minutes.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from logging import CRITICAL
from pathlib import Path
from typing import Any, Literal

from benchmarks.timing import table
from decoding.generate import generate
from decoding.request import Request, RequestOptions
from decoding.settings import DecodingSettings
from model.command_line import Parser, command
from model.device import DeviceConfig
from model.errors import AttendError, did_you_mean
from model.interface import LanguageModel, Want
from model.lazy import torch

Task = Literal["causal", "seq2seq"]
Verdict = Literal["exact", "refused", "differs", "error", "not built"]

NEW_TOKENS = 12
PROMPTS = (1, 3, 5, 9, 14)  # tokens; windows of the tiny models are shorter than the longest
BEAMS = (2, 3, 4)
ENDS = [17, 30]  # words that end a text
CLOSE = 1e-3  # largest difference of attention weights, and of logits whose standard deviation is about 0.6
SEQ2SEQ_ONLY_SOUND = {"nemo_speechlm", "seamless_m4t", "seamless_m4t_v2", "voxtral_realtime"}


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome for one family."""

    family: str
    task: Task
    verdict: Verdict
    reason: str = ""  # why it was refused, what differs, or the last line of the error
    seconds: float = 0.0
    logits: float = 0.0  # the largest difference of any logit
    greedy: tuple[int, int] = (0, 0)  # equal texts, and all texts
    beams: tuple[int, int] = (0, 0)
    joined: bool = False  # whether rows of different lengths can share a batch


def families() -> Iterator[tuple[str, Task]]:
    """Yield every `model_type` with a causal or an encoder-decoder text model."""
    from transformers import CONFIG_MAPPING
    from transformers.models.auto.modeling_auto import (
        MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES,
    )

    for name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES:
        yield name, "causal"
    for name in MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES:
        if CONFIG_MAPPING[name].is_encoder_decoder and name not in SEQ2SEQ_ONLY_SOUND:
            yield name, "seq2seq"


def examine(family: str, task: Task, *, prompts: Sequence[int] = PROMPTS, beams: Sequence[int] = BEAMS) -> Result:
    """Build, save, load and compare one family.

    Args:
        prompts: the lengths of the prompts.
        beams: the numbers of beams, for each prompt.
    """
    from benchmarks.families.tiny_models import tiny_model
    from model.huggingface.folder import load_model
    from model.huggingface.weights import CheckpointFiles

    begun = time.perf_counter()
    try:
        built = tiny_model(family, seq2seq=task == "seq2seq")
    except Exception as error:
        return Result(family, task, "not built", _last_line(error))
    with tempfile.TemporaryDirectory() as folder:
        try:
            built.save_pretrained(folder)
            reference = type(built).from_pretrained(folder).eval()
            eager = type(built).from_pretrained(folder, attn_implementation="eager").eval()
        except Exception as error:
            return Result(family, task, "not built", _last_line(error))
        try:
            model, _ = load_model(CheckpointFiles.read(Path(folder), family), "adapter", DeviceConfig("cpu"))
            with torch.inference_mode():
                compared = _compare(Result(family, task, "exact"), model, reference, eager, prompts, beams)
        except AttendError as error:
            compared = Result(family, task, "refused", str(error).replace(folder, "FOLDER"))
        except Exception as error:
            compared = Result(family, task, "error", _last_line(error))
    return replace(compared, seconds=time.perf_counter() - begun)


def _compare(
    result: Result,
    model: LanguageModel[Any],
    reference: Any,
    eager: Any,
    lengths: Sequence[int],
    beam_counts: Sequence[int],
) -> Result:
    """The outcome for a loaded model.

    Args:
        reference: the same model in transformers, as it runs by default.
        eager: the same with eager attention, which alone returns its weights.
    """
    from benchmarks.families.tiny_models import WORDS

    generator = torch.Generator().manual_seed(5)
    prompts = [torch.randint(WORDS.start, WORDS.stop, (count,), generator=generator).tolist() for count in lengths]
    logits = max(_logits(model, reference, prompt, result.task) for prompt in prompts)
    joined = _joined(model, prompts[0], prompts[-1]) if model.joinable else 0.0
    greedy = [_same_text(model, reference, prompt, beams=1) for prompt in prompts]
    beams = [_same_text(model, reference, prompt, beams=count) for prompt in prompts for count in beam_counts]
    attention = _attention(model, eager, prompts[-1], result.task)
    faults = [
        *([f"logits by {logits:.1g}"] if logits > CLOSE else []),
        *([f"attention by {attention:.1g}"] if attention > CLOSE else []),
        *([f"rows in a batch by {joined:.1g}"] if joined > CLOSE else []),
        *([f"{greedy.count(False)} greedy texts"] if not all(greedy) else []),
        *([f"{beams.count(False)} beam texts"] if not all(beams) else []),
    ]
    return replace(
        result,
        verdict="differs" if faults else "exact",
        reason=", ".join(faults),
        logits=logits,
        greedy=(sum(greedy), len(greedy)),
        beams=(sum(beams), len(beams)),
        joined=model.joinable,
    )


def _attention(model: LanguageModel[Any], reference: Any, prompt: Sequence[int], task: Task) -> float:
    """The largest difference in the attention weights of the prompt's last token, over all layers and heads."""
    ids = torch.tensor([prompt])
    start = {"decoder_input_ids": torch.tensor([model.decoder_start])} if task == "seq2seq" else {}
    reference(input_ids=ids, **start)  # BigBird only chooses its kind of attention in its first pass
    output = reference(input_ids=ids, **start, output_attentions=True, use_cache=False)
    layers = output.attentions if task == "causal" else output.decoder_attentions
    expected = [layer[0, :, -1] for layer in layers if layer is not None]  # (H, K), K may be a window
    attention = model.prefill(prompt, want=Want(attention=True)).attention
    assert attention is not None
    if len(expected) != attention.decoder.shape[1]:
        return float("inf")
    pairs = zip(attention.decoder[0, :, :, 0], expected, strict=True)
    return max(float((weights[:, -wanted.shape[-1] :] - wanted).abs().max()) for weights, wanted in pairs)


def _logits(model: LanguageModel[Any], reference: Any, prompt: Sequence[int], task: Task) -> float:
    """The largest difference of a logit from transformers, in one pass and token by token, with and without attention.

    Each way is compared with the same way in transformers, since in some families the two differ.
    """
    answer = prompt[::-1]
    fed = [*(model.decoder_start or prompt), *answer]
    passed = (
        reference(input_ids=torch.tensor([prompt]), decoder_input_ids=torch.tensor([fed[:-1]]), use_cache=False)
        if task == "seq2seq"
        else reference(input_ids=torch.tensor([fed[:-1]]), use_cache=False)
    )
    first = len(fed) - len(answer)
    largest = float((model.logits(prompt, answer) - passed.logits[0, first - 1 :].float()).abs().max())
    expected = _generated(
        model,
        reference,
        prompt,
        max_new_tokens=len(answer),
        prefix_allowed_tokens_fn=lambda _, text: [fed[len(text)]],
        output_logits=True,
        return_dict_in_generate=True,
    ).logits
    for attention in (False, True):
        forward = model.prefill(prompt, want=Want(attention=attention))
        for token, wanted in zip(answer, expected, strict=True):
            largest = max(largest, float((forward.logits[0] - wanted[0].float()).abs().max()))
            forward = model.step([token], forward.cache, want=Want(attention=attention))
    return largest


def _joined(model: LanguageModel[Any], short: Sequence[int], long: Sequence[int]) -> float:
    """The largest difference of a logit between rows in one batch and the same rows alone, over two steps."""
    alone = [model.prefill(prompt).cache for prompt in (short, long)]
    together, largest = alone[0].join(alone[1]), 0.0
    for tokens in ((9, 11), (12, 10)):
        forward, singles = (
            model.step(tokens, together),
            [model.step([token], cache) for token, cache in zip(tokens, alone, strict=True)],
        )
        largest = max(
            largest, *(float((forward.logits[row] - one.logits[0]).abs().max()) for row, one in enumerate(singles))
        )
        together, alone = forward.cache, [one.cache for one in singles]
    return largest


def _same_text(model: LanguageModel[Any], reference: Any, prompt: Sequence[int], *, beams: int) -> bool:
    limits = {"max_new_tokens": NEW_TOKENS, "num_beams": beams}
    expected = _generated(model, reference, prompt, **limits, eos_token_id=ENDS)[0].tolist()
    expected = expected[len(model.decoder_start or prompt) :]
    strategy = "beam" if beams > 1 else "greedy"
    request = Request.of_model(model, prompt, RequestOptions(attention=beams == 2), end_tokens=ENDS)
    settings = DecodingSettings.from_dict({"strategy": strategy, **limits})
    best = list(generate(model, prompt, settings.strategy_for(request)))[-1].best
    assert best is not None
    tokens = list(best.tokens)
    return tokens == expected[: len(tokens)] and not any(expected[len(tokens) :])  # padding


def _generated(model: LanguageModel[Any], reference: Any, prompt: Sequence[int], **options: Any) -> Any:
    """The texts that transformers generates."""
    from model.huggingface.positions import first_position

    ids = torch.tensor([prompt])
    # transformers' loop counts positions from 0 for every family, even RoBERTa, whose plain pass starts elsewhere.
    if (first := first_position(reference)) and not model.decoder_start:
        options["position_ids"] = first + torch.arange(len(prompt))[None]
    return reference.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, pad_token_id=0, **options)


def _last_line(error: Exception) -> str:
    """The error, and where in transformers or Attend it was raised."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    message = " ".join(str(error).split())[:160]
    return f"{type(error).__name__}: {message} ({Path(frame.filename).name}:{frame.lineno})"


@command
def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 1 if a family differs or has an error."""
    parser = Parser(prog="python -m benchmarks.families", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("families", metavar="FAMILY", nargs="*", help="only these, by their model_type (default all)")
    wanted = set(parser.parse_args(arguments).families)
    warnings.simplefilter("ignore")
    from transformers import __version__
    from transformers.utils import logging

    logging.set_verbosity(CRITICAL)
    torch.set_num_threads(1)
    known: list[tuple[str, Task]] = [(family, task) for family, task in families() if not wanted or family in wanted]
    if missing := sorted(wanted - {family for family, _ in known}):
        near = did_you_mean(missing[0], [family for family, _ in families()])
        raise AttendError(f"transformers has no family {missing[0]!r} that writes texts: {near or 'choose another.'}")
    rows, results = [["family", "task", "verdict", "logits", "greedy", "beams", "batch", "seconds"]], []
    for family, task in known:
        result = examine(family, task)
        results.append(result)
        print(f"{family} ({task}): {result.verdict}. {result.reason}", file=sys.stderr, flush=True)
        rows.append(
            [
                *(family, task, result.verdict, f"{result.logits:.0e}"),
                *(f"{same} / {count}" for same, count in (result.greedy, result.beams)),
                *("yes" if result.joined else "no", f"{result.seconds:.1f}"),
            ]
        )
    print(table(rows))
    for verdict in ("refused", "differs", "error", "not built"):
        for result in results:
            if result.verdict == verdict:
                print(f"{verdict}: {result.family} ({result.task}): {result.reason}")
    counts = Counter(f"{result.task} {result.verdict}" for result in results)
    print(json.dumps({"benchmark": "families", "transformers": __version__, **counts}))
    return int(any(result.verdict in ("differs", "error") for result in results))


if __name__ == "__main__":
    sys.exit(main())
