"""Where an encoder with a decoder looked when a text was finished: one `inspect` over both texts, as the page shows it.

Three kinds of attention: the source's over itself, the written text's over itself, and the written text's over the
source, which aligns the two. Holds the model's lock for that pass; knows nothing of sessions or of the screen.
"""

from __future__ import annotations

import math

from torch import Tensor

from model.loaded import LoadedModel
from ui.runs.attention_rows import attention_row
from ui.runs.run import RunRecord
from ui.runs.run_values import MAX_ROWS
from ui.translate.translate_contract import AlignmentValue, HeadsValue

MAX_DRAWN = 64  # tokens of either text: beyond that no label of a map could be read


def alignment_value(run: RunRecord, loaded: LoadedModel) -> AlignmentValue:
    """The three maps of a run whose decoding is over, or why there are none; neither if it has no token.

    Row i of the decoder's maps is the pass that chose token i of what was written: its query is the token before, the
    first one's the token that begins every text of the decoder.
    """
    source = run.source
    if not source or run.first >= len(run.tokens):
        return no_alignment()
    begin, text = len(source), run.ids[len(source) :]
    layers, heads = run.shape
    most = min(MAX_DRAWN, math.isqrt(MAX_ROWS // 4 // max(1, layers * heads)))  # 3 maps, 4 characters for 3 bytes
    if (longest := max(len(source), len(text) - 1)) > most:
        return no_alignment(
            run,
            f"The longer text has {longest:,} tokens, but attention maps are shown for at most {most:,}: "
            "translate one sentence at a time to see them.",
        )
    with loaded.lock:
        attention = loaded.model.inspect(text[:-1], source=source).attention
    first = run.first - begin - 1  # the pass that chose the first token
    label = loaded.tokenizer.label
    return {
        "run": run.id,
        "reason": "",
        "source": [label(token) for token in source],
        "text": [label(token) for token in text],
        "first": run.first - begin,
        "controls": [loaded.tokenizer.is_special(token) for token in source],
        "encoder": None if attention.encoder is None else _heads(attention.encoder[0]),
        "decoder": _heads(attention.decoder[0, :, :, first:], causal_from=first),
        "cross": None if attention.cross is None else _heads(attention.cross[0, :, :, first:]),
    }


def no_alignment(run: RunRecord | None = None, reason: str = "") -> AlignmentValue:
    """No maps of a run, and why; without a run there is nothing to align."""
    return {
        "run": run and run.id,
        "reason": reason,
        "source": [],
        "text": [],
        "first": 0,
        "controls": [],
        "encoder": None,
        "decoder": None,
        "cross": None,
    }


def _heads(weights: Tensor, causal_from: int | None = None) -> HeadsValue:
    """Weights (layers, heads, queries, keys), one row a query.

    Args:
        causal_from: the number of the first query where each looks at the keys up to its own alone.
    """
    layers, heads, queries, keys = weights.shape
    ends = [keys if causal_from is None else causal_from + query + 1 for query in range(queries)]
    rows = [attention_row(weights[:, :, query, :end]) for query, end in enumerate(ends)]
    return {"layers": layers, "heads": heads, "rows": rows}
