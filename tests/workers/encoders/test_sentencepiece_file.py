"""A tokenizer from SentencePiece's own file, and checkpoints that have nothing else."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from tests.workers.checkpoints import save_t5
from workers.inference.encoders.boolean_model import BooleanModel
from workers.inference.encoders.sentencepiece_file import (
    NotSentencePieceError,
    Piece,
    read_model,
    tokenizer_of,
)
from workers.inference.encoders.tokens import Tokens
from workers.inference.model_files import ModelError, model_files

T5_PIECES = (
    Piece("<pad>", 0.0, 3),
    Piece("</s>", 0.0, 3),
    Piece("<unk>", 0.0, 2),
    Piece("▁", -2.0),
    Piece("▁hello", -3.0),
    Piece("▁there", -3.5),
    Piece("▁the", -3.0),
    Piece("re", -4.0),
    Piece("▁Yes", -5.0),
    Piece("▁No", -5.0),
    Piece("s", -6.0),
)


def varint(number: int) -> bytes:
    found = b""
    while number > 127:
        found, number = found + bytes([number & 127 | 128]), number >> 7
    return found + bytes([number])


def field(number: int, value: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(value)) + value


def written(pieces: tuple[Piece, ...], model_type: int = 1) -> bytes:
    """A ModelProto as SentencePiece writes it, with fields that are not read among the others."""
    body = b""
    for one in pieces:
        text = field(1, one.text.encode())
        kind = varint(3 << 3) + varint(one.type) if one.type != 1 else b""
        body += field(1, text + varint(2 << 3 | 5) + struct.pack("<f", one.score) + kind)
    trainer = (
        field(1, b"corpus.txt") + varint(3 << 3) + varint(model_type) + varint(4 << 3) + b"\x08"
    )
    return body + field(2, trainer) + field(3, field(1, b"identity"))


def test_pieces_with_scores_and_types_are_read(tmp_path: Path) -> None:
    path = tmp_path / "spiece.model"
    path.write_bytes(written(T5_PIECES))
    assert read_model(path).pieces == T5_PIECES


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"hello, I am a text", "is no SentencePiece model"),
        (written(T5_PIECES)[:-3], "is no SentencePiece model"),
        (b"", "has no unknown piece"),
        (written(T5_PIECES, model_type=2), "is no unigram model"),
        (written(T5_PIECES[:2]), "has no unknown piece"),
    ],
)
def test_another_file_is_refused(tmp_path: Path, data: bytes, fault: str) -> None:
    path = tmp_path / "spiece.model"
    path.write_bytes(data)
    with pytest.raises(NotSentencePieceError, match=fault):
        read_model(path)


def test_words_are_cut_as_transformers_t5_cuts_them(tmp_path: Path) -> None:
    """there is one piece: −3.5 is above the sum of ▁the and re, −7."""
    from transformers import T5Tokenizer

    path = tmp_path / "spiece.model"
    path.write_bytes(written(T5_PIECES))
    ours = tokenizer_of(read_model(path))
    theirs = T5Tokenizer(vocab=[(one.text, one.score) for one in T5_PIECES], extra_ids=0)
    for text in ("hello there", "hello  theres ", "the unknown", "hello </s> there", ""):
        assert ours(text).input_ids == theirs(text).input_ids, text
    assert ours("hello there").input_ids == [4, 5, 1]


def test_a_model_with_class_and_separator_frames_pairs_as_bert_does(tmp_path: Path) -> None:
    pieces = (
        Piece("[PAD]", 0.0, 3),
        Piece("[UNK]", 0.0, 2),
        Piece("[CLS]", 0.0, 3),
        Piece("[SEP]", 0.0, 3),
        Piece("▁hello", -3.0),
    )
    path = tmp_path / "spm.model"
    path.write_bytes(written(pieces))
    found = tokenizer_of(read_model(path))("hello", "hello", return_token_type_ids=True)
    assert found.input_ids == [2, 4, 3, 4, 3]
    assert found.token_type_ids == [0, 0, 0, 1, 1]
    path.write_bytes(written((Piece("<unk>", 0.0, 2), Piece("▁a", -1.0))))
    bare = read_model(path)
    with pytest.raises(NotSentencePieceError, match="neither"):
        tokenizer_of(bare)


def test_a_t5_folder_with_that_file_alone_is_loaded(tmp_path: Path) -> None:
    folder = save_t5(tmp_path)
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)
    (folder / "spiece.model").write_bytes(written(T5_PIECES))
    model = BooleanModel(model_files(str(folder)), "cpu")
    (answer,) = model.answers(["hello there"])
    assert 0 < answer.yes < 1
    assert Tokens(model_files(str(folder))).words("hello there") == ["▁hello", "▁there"]
    (folder / "spiece.model").write_bytes(b"broken")
    with pytest.raises(ModelError, match=r"tokenizer of the model .* cannot be loaded"):
        Tokens(model_files(str(folder)))
