"""A fast tokenizer from a SentencePiece model (``spiece.model``, ``spm.model``), for checkpoints
that bring no ``tokenizer.json``: UniEval's T5 and BLEURT-20.

The file is a protocol buffer of which three things are read: the pieces with their scores and
types, which of them is the unknown one, and the table by which characters are normalised. Only
unigram models are.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILES = ("spiece.model", "spm.model")
LARGEST_FILE = 64_000_000
_VARINT, _EIGHT_BYTES, _BYTES, _FOUR_BYTES = 0, 1, 2, 5
_PIECES, _TRAINER, _NORMALIZER = 1, 2, 3
_PIECE, _SCORE, _TYPE = 1, 2, 3
_MODEL_TYPE, _UNIGRAM = 3, 1
_CHARACTERS = 2
_UNKNOWN, _CONTROL, _USER_DEFINED = 2, 3, 4


class NotSentencePieceError(ValueError):
    """The file is no unigram model of SentencePiece; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Piece:
    text: str
    score: float
    type: int = 1
    """1: an ordinary one; 2: the unknown one; 3: a control piece such as </s>; 4: taken whole."""


@dataclass(frozen=True, slots=True)
class SentencePieceModel:
    pieces: tuple[Piece, ...]
    characters: bytes = b""
    """The table of normalisation, compiled; empty where there is none."""


def read_model(path: Path) -> SentencePieceModel:
    """Raises ``NotSentencePieceError``, or OSError where the file cannot be read."""
    if path.stat().st_size > LARGEST_FILE:
        raise NotSentencePieceError(f"has more than {LARGEST_FILE:,} bytes")
    pieces: list[Piece] = []
    characters = b""
    model_type = _UNIGRAM
    try:
        for field, value in _fields(path.read_bytes()):
            if field == _PIECES:
                pieces.append(_piece(value))
            elif field == _TRAINER:
                model_type = dict(_fields(value)).get(_MODEL_TYPE, _UNIGRAM)
            elif field == _NORMALIZER:
                characters = dict(_fields(value)).get(_CHARACTERS, b"")
    except (IndexError, TypeError, ValueError, struct.error) as error:
        raise NotSentencePieceError("is no SentencePiece model") from error
    if model_type != _UNIGRAM:
        raise NotSentencePieceError("is no unigram model of SentencePiece")
    if sum(piece.type == _UNKNOWN for piece in pieces) != 1:
        raise NotSentencePieceError("has no unknown piece, or several")
    return SentencePieceModel(tuple(pieces), characters)


def tokenizer_of(model: SentencePieceModel) -> Any:
    """A tokenizer that frames texts as T5 does, with ``</s>`` at the end, or as BERT does where the
    model has ``[CLS]`` and ``[SEP]``.

    Raises ``NotSentencePieceError`` where it has neither.
    """
    from tokenizers import (
        AddedToken,
        Regex,
        Tokenizer,
        decoders,
        models,
        normalizers,
        pre_tokenizers,
        processors,
    )
    from transformers import PreTrainedTokenizerFast

    index = {piece.text: number for number, piece in enumerate(model.pieces)}
    unknown = next(piece.text for piece in model.pieces if piece.type == _UNKNOWN)
    rust = Tokenizer(
        models.Unigram([(one.text, one.score) for one in model.pieces], unk_id=index[unknown])
    )
    clean = [normalizers.Strip(left=False, right=True), normalizers.Replace(Regex(" {2,}"), " ")]
    if model.characters:
        clean.insert(0, normalizers.Precompiled(model.characters))
    rust.normalizer = normalizers.Sequence(clean)
    rust.pre_tokenizer = pre_tokenizers.Metaspace()
    rust.decoder = decoders.Metaspace()
    rust.add_tokens(
        [
            AddedToken(one.text, normalized=False, special=one.type == _CONTROL)
            for one in model.pieces
            if one.type in (_CONTROL, _USER_DEFINED)
        ]
    )
    if {"[CLS]", "[SEP]"} <= index.keys():
        names = {"cls_token": "[CLS]", "sep_token": "[SEP]"}
        single, pair = "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1"
    elif "</s>" in index:
        names = {"eos_token": "</s>"}
        single, pair = "$A </s>", "$A </s> $B </s>"
    else:
        raise NotSentencePieceError("has neither </s> nor [CLS] and [SEP]")
    rust.post_processor = processors.TemplateProcessing(
        single=single, pair=pair, special_tokens=[(name, index[name]) for name in names.values()]
    )
    padding = next((name for name in ("<pad>", "[PAD]") if name in index), unknown)
    make: Any = PreTrainedTokenizerFast  # it has no types
    return make(tokenizer_object=rust, unk_token=unknown, pad_token=padding, **names)


def _piece(value: bytes) -> Piece:
    found = dict(_fields(value))
    (score,) = struct.unpack("<f", found.get(_SCORE, b"\0\0\0\0"))
    return Piece(
        found[_PIECE].decode("utf-8") if _PIECE in found else "", score, found.get(_TYPE, 1)
    )


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and value of each field: an int, or bytes. Raises IndexError at half a message."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        if kind == _VARINT:
            value, place = _varint(data, place)
            yield number, value
            continue
        if kind == _BYTES:
            length, place = _varint(data, place)
        elif kind in (_EIGHT_BYTES, _FOUR_BYTES):
            length = 8 if kind == _EIGHT_BYTES else 4
        else:
            raise ValueError(kind)
        if place + length > len(data):
            raise IndexError(place)
        yield number, data[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("a number has no end")
