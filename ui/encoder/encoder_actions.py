"""What happens on the page of an encoder: a text read whole, and one word's vectors in several sentences.

Checked texts in, the values of the two views out; knows nothing of gradio's events.
"""

from __future__ import annotations

from dataclasses import dataclass

from model.encoder import Encoder, Reading, cosines
from model.errors import AttendError
from ui.encoder.encoder_contract import InspectionValue, ReadingValue, WordsValue
from ui.kit.validation import checked_text
from ui.page_update import PageUpdate
from ui.runs.attention_rows import attention_row
from ui.runs.run_values import MAX_ROWS

TEXT, WORD = "My favorite fruit is apple", "apple"  # what the page begins with
SENTENCES = (
    "My favorite fruit is apple",
    "My favorite brand is apple",
    "She ate an apple and a banana",
    "The new phone from apple has a better screen",
)
MAX_SENTENCES = 12
MAX_LETTERS = 100  # of a word


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderUpdate(PageUpdate):
    """An encoder, shown instead of the tabs until a generating model is chosen."""

    inspection: InspectionValue


def about(encoder: Encoder) -> str:
    """Why there is nothing to chat with, and what there is instead."""
    return (
        f"{encoder.name} is an encoder: it reads a whole text at once and was never trained to predict the next token, "
        "so it can't generate. Here you see which tokens attend to which, and how context changes a word's vector."
    )


def overview(encoder: Encoder, waiting: str = "") -> InspectionValue:
    """All that is shown of an encoder before anybody asks it anything.

    Args:
        waiting: the name of the model to go back to, where there is one.
    """
    way_back = f" Choose {waiting} again to continue where you left off." if waiting else ""
    return {
        "about": about(encoder) + way_back,
        "layers": layers(encoder),
        "reading": read(encoder, TEXT),
        "words": compare(encoder, WORD, "\n".join(SENTENCES), encoder.layer_count),
    }


def layers(encoder: Encoder) -> list[tuple[str, int]]:
    """The layers whose vectors can be compared, with their names; the last is the default."""
    last = encoder.layer_count
    between = ((f"layer {layer}", layer) for layer in range(1, last))
    return [("the embeddings", 0), *between, (f"layer {last} (last)", last)]


def read(encoder: Encoder, text: object) -> ReadingValue:
    """Where every token of a text looks."""
    checked = checked_text(text, "The text")
    if not checked.strip():
        raise AttendError("The text is empty: type something to read.")
    tokens, maps = len(encoder.pieces(checked)), encoder.layer_count * encoder.head_count
    most = int((MAX_ROWS * 3 / 4 / maps) ** 0.5)  # four characters say three bytes
    if tokens > most:
        raise AttendError(
            f"The text has {tokens:,} tokens, but maps of this model's {maps:,} heads are shown for at most {most:,}: "
            "shorten it."
        )
    reading = encoder.read(checked)
    return {
        "labels": [piece.label for piece in reading.pieces],
        "kinds": ["control" if piece.special else "prompt" for piece in reading.pieces],
        "layers": encoder.layer_count,
        "heads": encoder.head_count,
        "rows": [attention_row(reading.attention[:, :, query]) for query in range(tokens)],
    }


def compare(encoder: Encoder, word: object, sentences: object, layer: object) -> WordsValue:
    """What a layer makes of one word in several sentences, each on a line of its own."""
    wanted = " ".join(checked_text(word, "The word").split())
    if not wanted or len(wanted) > MAX_LETTERS:
        raise AttendError(f"The word has {len(wanted):,} letters: use 1 to {MAX_LETTERS}.")
    lines = [line.strip() for line in checked_text(sentences, "The list of sentences").splitlines() if line.strip()]
    if not 2 <= len(lines) <= MAX_SENTENCES:
        count = "is 1 sentence" if len(lines) == 1 else f"are {len(lines)} sentences"
        raise AttendError(f"There {count}: enter 2 to {MAX_SENTENCES}, one per line.")
    if type(layer) is not int or not 0 <= layer <= encoder.layer_count:
        raise AttendError(f"There is no layer {str(layer)[:20]}: choose 0 to {encoder.layer_count}.")
    readings = [encoder.read(sentence) for sentence in lines]
    vectors = [reading.vector(wanted, layer) for reading in readings]
    return {
        "word": wanted,
        "layer": next(name for name, number in layers(encoder) if number == layer),
        "sentences": [_parted(reading, wanted) for reading in readings],
        "pieces": [[reading.pieces[i].label for i in reading.pieces_of(wanted)] for reading in readings],
        "vectors": [[float(f"{number:.5g}") for number in vector.tolist()] for vector in vectors],
        "cosines": cosines(vectors).tolist(),
    }


def _parted(reading: Reading, word: str) -> tuple[str, str, str]:
    """A sentence before, at and behind its word."""
    first, end = reading.span(word)
    return reading.text[:first], reading.text[first:end], reading.text[end:]
