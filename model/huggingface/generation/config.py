"""What a checkpoint's generation config asks for → rules that every text obeys, and notes about everything else.

transformers reads generation_config.json or, without one, the same fields of config.json. Every field of its
`GenerationConfig` is in exactly one of the four groups below; tests keep them complete. A field in none of them, such
as one of a later version, is mentioned in a note.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model.errors import AttendError
from model.huggingface.weights import GENERATION_CONFIG, Checkpoint
from model.interface import GenerationRules

# Obeyed in every text, whatever the settings.
RULES = frozenset(
    (
        *("eos_token_id", "decoder_start_token_id", "forced_bos_token_id", "forced_eos_token_id", "suppress_tokens"),
        *("begin_suppress_tokens", "bad_words_ids", "sequence_bias", "encoder_repetition_penalty"),
        *("encoder_no_repeat_ngram_size", "min_length", "exponential_decay_length_penalty", "renormalize_logits"),
    )
)
# Left to the settings, which offer the same choices; each with the values that ask for nothing.
SUGGESTIONS: Mapping[str, tuple[object, ...]] = {
    "do_sample": (False,),
    "temperature": (1.0,),
    "top_k": (0,),
    "top_p": (1.0,),
    "min_p": (0.0,),
    "top_h": (0.0, 1.0),
    "typical_p": (1.0,),
    "epsilon_cutoff": (0.0,),
    "eta_cutoff": (0.0,),
    "repetition_penalty": (1.0,),
    "no_repeat_ngram_size": (0,),
    "num_beams": (1,),
    "num_beam_groups": (1,),
    "diversity_penalty": (0.0,),
    "length_penalty": (1.0,),
    "early_stopping": (False,),
    "num_return_sequences": (1,),
    "penalty_alpha": (0.0,),
    "dola_layers": (),
    "max_length": (),
    "max_new_tokens": (),
    "min_new_tokens": (0,),
    "stop_strings": ([],),
    # of GGUF files
    "sequence": (),
    "xtc_probability": (0.0,),
    "xtc_threshold": (),
    "penalty_last_n": (),
    "mirostat": (0,),
    "mirostat_tau": (),
    "mirostat_eta": (),
}
# What Attend can't do, each with the values that ask for nothing.
UNSUPPORTED: Mapping[str, tuple[object, ...]] = {
    "guidance_scale": (1.0,),
    "watermarking_config": (),
    "token_healing": (False,),
    "constraints": ([],),
    "force_words_ids": ([],),
    "remove_invalid_values": (False,),
    "max_time": (),
}
# These change no token of a text, only how it is computed, padded and returned, and how drafts are made.
WITHOUT_EFFECT = frozenset(
    (
        *("use_cache", "cache_implementation", "cache_config", "max_cache_len", "prefill_chunk_size", "low_memory"),
        *("use_mtp", "compile_config", "disable_compile", "continuous_batching_config", "output_attentions"),
        *("output_hidden_states", "output_scores", "output_logits", "return_dict_in_generate", "pad_token_id"),
        *("bos_token_id", "is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule"),
        *("assistant_confidence_threshold", "prompt_lookup_num_tokens", "max_matching_ngram_size"),
        *("assistant_early_exit", "assistant_lookbehind", "target_lookbehind", "assistant_ensemble_weight"),
        *("speculation_type", "transformers_version"),
    )
)
_KNOWN = RULES | SUGGESTIONS.keys() | UNSUPPORTED.keys() | WITHOUT_EFFECT
_BEAMS_OF_TRANSLATORS = 4  # Attend uses as many anyway
_MAX_MENTIONED, _MAX_QUOTED = 12, 40  # fields in a note; characters of a value
_MAX_IDS = 100_000  # in all lists of a generation config together
_MAX_BIAS = 1e30  # several of them still have a finite sum in single precision


@dataclass(frozen=True, slots=True)
class GenerationFields:
    """The fields that transformers would read for a checkpoint, without those that are not set."""

    values: Mapping[str, Any]
    name: str  # what messages call the model
    vocabulary_size: int

    @classmethod
    def of(cls, files: Checkpoint, vocabulary_size: int) -> GenerationFields:
        values = dict(files.generation)
        if not (files.path / GENERATION_CONFIG).is_file():
            values = {field: value for field, value in files.config.items() if field in _KNOWN} | values
            if files.config.get("force_bos_token_to_be_generated"):  # the name in BART's first checkpoints
                values["forced_bos_token_id"] = files.config.get("bos_token_id")
        set_values = {field: value for field, value in values.items() if value is not None}
        return cls(set_values, files.name, vocabulary_size)

    def rules(self, end_tokens: frozenset[int]) -> GenerationRules:
        """What every text must obey; `AttendError` for a field in a form that transformers doesn't read."""
        banned = self._sequences("bad_words_ids")
        biases = [(tuple(ids), bias) for ids, bias in self._biases()]
        biases += [(ids, -math.inf) for ids in banned if len(ids) > 1]
        singles = {ids[0] for ids in banned if len(ids) == 1} - end_tokens  # transformers never bans end tokens
        start, factor = self._decay()
        return GenerationRules(
            suppress_tokens=self._ids("suppress_tokens") | singles,
            begin_suppress_tokens=self._ids("begin_suppress_tokens"),
            sequence_bias=tuple(dict(biases).items()),
            encoder_repetition_penalty=self._number("encoder_repetition_penalty", 1.0, above=0),
            encoder_no_repeat_ngram_size=int(self._number("encoder_no_repeat_ngram_size", 0)),
            min_length=int(self._number("min_length", 0)),
            forced_bos_token_ids=self._ids("forced_bos_token_id"),
            forced_eos_token_ids=self._ids("forced_eos_token_id"),
            decay_start=start,
            decay_factor=factor,
            renormalize_logits=self.values.get("renormalize_logits") is True,
        )

    def notes(self, context_length: int, *, translates: bool) -> tuple[str, ...]:
        """Sentences about what is left to the settings, and about what Attend doesn't do."""
        suggested = []
        for field, neutral in SUGGESTIONS.items():
            value = self.values.get(field)
            usual = (_BEAMS_OF_TRANSLATORS,) if field == "num_beams" and translates else neutral
            ends_later = field.startswith("max_") and isinstance(value, int) and value >= context_length
            if value is not None and value not in usual and not ends_later:
                suggested.append(f"{field} {_quoted(value)}")
        unsupported = [
            f"{_quoted(field)} {_quoted(value)}"
            for field, value in self.values.items()
            if field not in _KNOWN - UNSUPPORTED.keys()
            and not field.startswith("_")
            and value not in UNSUPPORTED.get(field, ())
        ]
        notes = []
        if suggested:
            notes.append(
                f"The generation config of {self.name} suggests {_listed(suggested)}: Attend leaves these to your "
                "settings."
            )
        if unsupported:
            notes.append(
                f"The generation config of {self.name} asks for {_listed(unsupported)}, which Attend ignores: other "
                "programs may write other texts."
            )
        for field in ("eos_token_id", "forced_bos_token_id", "forced_eos_token_id"):
            value = self.values.get(field)
            ids = value if isinstance(value, list) else [] if value is None else [value]
            if absent := [_quoted(piece) for piece in ids if not token_ids(piece, self.vocabulary_size)]:
                notes.append(
                    f"The {field} of {self.name} is {_listed(absent)}, which its vocabulary of "
                    f"{self.vocabulary_size:,} tokens lacks: Attend ignores it."
                )
        return tuple(notes)

    def _ids(self, field: str) -> frozenset[int]:
        value = self.values.get(field)
        if value is not None and not all(
            type(piece) is int for piece in (value if isinstance(value, list) else [value])
        ):
            raise self._malformed(field, "a token id or a list of them")
        return token_ids(value, self.vocabulary_size)

    def _sequences(self, field: str) -> list[tuple[int, ...]]:
        """Sequences of the vocabulary's tokens."""
        words = self.values.get(field) or []
        if not isinstance(words, list) or not all(isinstance(ids, list) and ids and _is_ids(ids) for ids in words):
            raise self._malformed(field, "a list of lists of token ids")
        if sum(map(len, words)) > _MAX_IDS:
            raise self._malformed(field, f"a list of {_MAX_IDS:,} token ids or fewer")
        return [tuple(ids) for ids in words if max(ids) < self.vocabulary_size]

    def _biases(self) -> Iterator[tuple[Sequence[int], float]]:
        pairs = self.values.get("sequence_bias") or []
        form = f"a list of pairs, each a list of token ids and a bias between {-_MAX_BIAS:g} and {_MAX_BIAS:g}"
        if not isinstance(pairs, list):
            raise self._malformed("sequence_bias", form)
        count = 0
        for pair in pairs:
            match pair:
                case [[_, *_] as ids, int() | float() as bias] if _is_ids(ids) and -_MAX_BIAS <= bias <= _MAX_BIAS:
                    if (count := count + len(ids)) > _MAX_IDS:
                        raise self._malformed("sequence_bias", f"a list of {_MAX_IDS:,} token ids or fewer")
                    if max(ids) < self.vocabulary_size:
                        yield ids, float(bias)
                case _:
                    raise self._malformed("sequence_bias", form)

    def _decay(self) -> tuple[int, float]:
        match self.values.get("exponential_decay_length_penalty"):
            case None:
                return 0, 1.0
            case [int() as start, int() | float() as factor] if start >= 0 and 0 < factor <= _MAX_BIAS:
                return start, float(factor)
        raise self._malformed(
            "exponential_decay_length_penalty", f"a number of tokens and a factor above 0, up to {_MAX_BIAS:g}"
        )

    def _number(self, field: str, default: float, *, above: float = -1) -> float:
        value = self.values.get(field, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < 2**31:
            raise self._malformed(field, f"a number from {default:g}" if above < 0 else f"a number above {above:g}")
        return value

    def _malformed(self, field: str, form: str) -> AttendError:
        return AttendError(
            f"The generation config of {self.name} has {field} {_quoted(self.values.get(field))}, which must be "
            f"{form}: copy the checkpoint folder again."
        )


def token_ids(value: object, vocabulary_size: int) -> frozenset[int]:
    """Token ids as configs write them: one, a list, or nothing; what is not a token is left out."""
    listed = value if isinstance(value, list) else [value]
    return frozenset(piece for piece in listed if type(piece) is int and 0 <= piece < vocabulary_size)


def _is_ids(values: Sequence[Any]) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


def _quoted(value: object) -> str:
    text = str(value)
    return text if len(text) <= _MAX_QUOTED else f"{text[: _MAX_QUOTED - 1]}…"


def _listed(fields: list[str]) -> str:
    more = len(fields) - _MAX_MENTIONED
    if more > 0:
        fields = [*fields[:_MAX_MENTIONED], f"{more:,} more"]
    return fields[0] if len(fields) == 1 else f"{', '.join(fields[:-1])} and {fields[-1]}"
