"""SentencePiece models of other people's checkpoints: `tokenizer.model`, `spiece.model`, and those in GGUF files.

SentencePiece itself cuts the texts. transformers turns such a model into merges and rules of its own, which give other
ids for spaces at the beginning and in runs, for U+2581, and where two pieces are equally probable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentencepiece import SentencePieceProcessor
from sentencepiece.sentencepiece_model_pb2 import ModelProto  # pyright: ignore[reportAttributeAccessIssue]
from tokenizers import Tokenizer as Backend
from tokenizers import models
from transformers.tokenization_utils_base import PreTrainedTokenizerBase

from model.errors import AttendError
from model.huggingface.tokenizer import CheckpointTokenizer, backend_of, check_size, framing, not_known
from model.huggingface.tokenizers.notes import tokenizer_notes
from model.text.sentencepiece_tokenizer import piece_bytes
from model.text.tokenizer import check_whole

_Piece = ModelProto.SentencePiece
_HIDDEN = (_Piece.CONTROL, _Piece.UNKNOWN)  # kinds that never result from text that can be read


class SpmTokenizer(CheckpointTokenizer):
    """A SentencePiece model, and the special tokens that stand around its texts."""

    def __init__(
        self,
        pieces: ModelProto,
        hf_tokenizer: PreTrainedTokenizerBase,
        vocabulary_size: int,
        *,
        every_part: bool = True,
    ) -> None:
        """
        Args:
            pieces: the pieces of the SentencePiece model.
            hf_tokenizer: a tokenizer over the words of `lookup`; it names special tokens and frames texts.
            every_part: whether the space before a text is also inserted after each special token in it.

        Raises `AttendError` for a tokenizer of another vocabulary.
        """
        names = [piece.piece for piece in pieces.pieces]
        backend = backend_of(hf_tokenizer)
        added = backend.get_added_tokens_decoder()
        check_size({*range(len(names)), *added}, [token for token in added if token >= len(names)], vocabulary_size)
        texts = {token: each.content for token, each in added.items() if token >= len(names) and not each.special}
        special = {token: f"<unused {token}>" for token in range(len(names), vocabulary_size) if token not in texts}
        special |= {token: each.content for token, each in added.items() if each.special}
        special |= {token: piece.piece for token, piece in enumerate(pieces.pieces) if piece.type in _HIDDEN}
        bytes_of = [
            b""
            if token in special
            else texts.get(token, "").encode()
            or piece_bytes(names[token], single=pieces.pieces[token].type == _Piece.BYTE)
            for token in range(vocabulary_size)
        ]
        rules = pieces.normalizer_spec
        super().__init__(bytes_of, special, prefix=b" " if rules.add_dummy_prefix else b"")
        self.hf_tokenizer = hf_tokenizer
        self._beginning = _processor(pieces)
        self.unknown = self._beginning.unk_id()
        rules.add_dummy_prefix = rules.remove_extra_whitespaces = False
        self._going_on = _processor(pieces)
        self._every_part = every_part
        self._parsed = self._ids_of_special | {content: token for token, content in texts.items()}
        self._split = re.compile("|".join(map(re.escape, sorted(self._parsed, key=len, reverse=True))))
        written = (name for token, name in enumerate(names) if token not in special)
        _, self.prefix_tokens, self.suffix_tokens = framing(backend, written, special)
        self.notes = tokenizer_notes(self, self.unknown)

    def encode(self, text: str, *, begins: bool = False) -> list[int]:
        check_whole(text)
        return (self._beginning if begins else self._going_on).EncodeAsIds(text)

    def parse(self, text: str) -> list[int]:
        """Ids of a text in which the name of a special or added token stands for the token; SentencePiece reads what is
        between them."""
        ids, end = [], 0
        for match in self._split.finditer(text):
            ids += self.encode(text[end : match.start()], begins=self._every_part or not end)
            if (token := self._parsed[match[0]]) >= self.vocabulary_size:
                raise not_known(match[0])
            ids.append(token)
            end = match.end()
        return ids + self.encode(text[end:], begins=self._every_part or not end)


def _processor(pieces: ModelProto) -> SentencePieceProcessor:
    processor = SentencePieceProcessor()
    try:
        processor.LoadFromSerializedProto(pieces.SerializeToString())
    except RuntimeError as error:
        raise AttendError("The SentencePiece model of this checkpoint is damaged: copy it again.") from error
    return processor


def lookup(names: Sequence[str]) -> Backend:
    """A vocabulary in which transformers finds ids by names; it cuts no text."""
    return Backend(models.WordLevel({name: token for token, name in enumerate(names)}))


def arranged(pieces: ModelProto, backend: Backend) -> ModelProto:
    """A SentencePiece model in the order in which a family numbers its tokens: XLM-R's and mBART's begin with other
    special tokens, Pegasus' with a hundred of its own. `AttendError` for pieces that the family has no ids for."""
    by_name = {piece.piece: piece for piece in pieces.pieces}
    ids = {name: backend.token_to_id(name) for name in by_name}
    known = {token: by_name[name] for name, token in ids.items() if token is not None}
    for name, token in ids.items():
        if token is None and by_name[name].type not in (_Piece.CONTROL, _Piece.UNUSED):
            raise AttendError(
                f"The SentencePiece model has a piece {name[:40]!r} that its tokenizer class doesn't know: put the "
                "tokenizer.json of this model into its folder."
            )
    changed = ModelProto()
    changed.CopyFrom(pieces)
    del changed.pieces[:]
    for token in range(max(known) + 1):
        name = backend.id_to_token(token) or f"<unused {token}>"
        changed.pieces.add().CopyFrom(known.get(token) or _Piece(piece=name, type=_Piece.CONTROL))
    return changed
