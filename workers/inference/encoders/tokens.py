"""Texts to a model's token ids: many texts in one call, then cut and put between the special
tokens; and which texts go through a model together: those of like length, as many as a budget of
tokens holds.

A text is tokenised once without special tokens; what a model wants around one text or two is
learned from an example. So a context that stands before 99 responses is tokenised once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workers.inference import resources
from workers.inference.encoders.sentencepiece_file import FILES, read_model, tokenizer_of
from workers.inference.model_files import ModelError, ModelFiles, configuration_of, first_line

LEAST_LENGTH_RATIO = 0.8
"""A text shorter than this share of a batch's longest is padding for the most part: another batch,
where it pays."""


def batches_by_length(
    lengths: Sequence[int], token_budget: int, worth_a_batch: int | None = None
) -> Iterator[list[int]]:
    """Places into ``lengths``, longest first. A batch's padded size, texts × its longest, is at
    most ``token_budget``; a text longer than that is a batch of its own. A batch of
    ``worth_a_batch`` tokens takes no text that is much shorter than its longest; None: it does."""
    batch: list[int] = []
    longest = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        is_full = (len(batch) + 1) * longest > token_budget
        is_worth_it = worth_a_batch is not None and len(batch) * longest >= worth_a_batch
        if batch and (is_full or (is_worth_it and lengths[index] < LEAST_LENGTH_RATIO * longest)):
            yield batch
            batch = []
        if not batch:
            longest = lengths[index]
        batch.append(index)
    if batch:
        yield batch


@dataclass(frozen=True, slots=True)
class Input:
    """What goes into the model for one text or one pair."""

    ids: list[int]
    segments: list[int]
    cut: bool

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The special tokens before, between and after texts, and the segment of each part."""

    specials: tuple[tuple[int, ...], ...]
    special_segments: tuple[tuple[int, ...], ...]
    text_segments: tuple[int, ...]

    @property
    def size(self) -> int:
        return sum(map(len, self.specials))

    def around(self, texts: Sequence[list[int]], cut: bool) -> Input:
        ids, segments = list(self.specials[0]), list(self.special_segments[0])
        for index, text in enumerate(texts):
            ids += text + list(self.specials[index + 1])
            segments += [self.text_segments[index]] * len(text) + list(
                self.special_segments[index + 1]
            )
        return Input(ids, segments, cut)


class Tokens:
    """A model's own fast tokenizer. Raises ``ModelError`` where the folder has none."""

    def __init__(self, files: ModelFiles) -> None:
        from transformers import AutoTokenizer

        try:
            tokenizer = _from_sentencepiece(files) or AutoTokenizer.from_pretrained(
                str(files.folder), local_files_only=True, trust_remote_code=False
            )
        except Exception as error:  # tokenizers raise whatever they meet in a broken file
            raise ModelError(
                f"the tokenizer of the model {files.name} cannot be loaded: {first_line(error)}"
            ) from error
        if not getattr(tokenizer, "is_fast", False):
            raise ModelError(f"the model {files.name} has no fast tokenizer (tokenizer.json)")
        check_vocabulary(tokenizer, files)
        self.special_ids = frozenset(int(id_) for id_ in tokenizer.all_special_ids)
        # None where the vocabulary can write every text
        self.unknown_id: int | None = tokenizer.unk_token_id
        self.blank_id: int | None = tokenizer.get_vocab().get("\u2581")  # SentencePiece's space
        self.mask_id: int | None = tokenizer.mask_token_id
        self.padding_id = int(tokenizer.pad_token_id or 0)
        self.longest = int(min(tokenizer.model_max_length, 1_000_000))
        self._rust: Any = tokenizer.backend_tokenizer
        if resources.at_hand().threads_to_use == 1:
            # Else it takes a thread for each core
            os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self._rust.no_truncation()
        self._rust.no_padding()
        self._one = _frame(self._rust.encode("a", add_special_tokens=True), 1)
        self._two = _frame(self._rust.encode("a", "a", add_special_tokens=True), 2)
        self.class_place = _class_place(self._one, tokenizer.cls_token_id)

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Word pieces without special tokens."""
        return [encoding.ids for encoding in self._encodings(texts)]

    def read_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Word pieces without special tokens and without those that stand for a space alone: what
        is read of a text. SentencePiece writes a space before every word, before one that it does
        not know, too."""
        return [[id_ for id_ in ids if id_ != self.blank_id] for ids in self.ids(texts)]

    def words(self, text: str) -> list[str]:
        return [str(self._rust.id_to_token(id_)) for id_ in self.ids([text])[0]]

    def as_json(self) -> str:
        """Everything that decides what ids a text gets."""
        return str(self._rust.to_str())

    def inputs(self, texts: Sequence[str], longest: int) -> list[Input]:
        """A text's end is cut where it and its special tokens are more than ``longest``."""
        capacity = longest - self._one.size
        return [self._one.around([ids[:capacity]], len(ids) > capacity) for ids in self.ids(texts)]

    def pair_inputs(self, pairs: Sequence[tuple[str, str]], longest: int) -> list[Input]:
        """The beginning of the first text is cut, all of it if need be; then the end of the
        second."""
        distinct = list(dict.fromkeys(text for pair in pairs for text in pair))
        known = dict(zip(distinct, self.ids(distinct), strict=True))
        capacity = longest - self._two.size
        found = []
        for first, second in ((known[one], known[other]) for one, other in pairs):
            retained = second[:capacity]
            free = capacity - len(retained)
            beginning = max(0, len(first) - free)
            found.append(
                self._two.around([first[beginning:], retained], len(first) + len(second) > capacity)
            )
        return found

    @property
    def vocabulary_size(self) -> int:
        """How many different ids there are, added tokens too. A model needs a row for each."""
        return int(self._rust.get_vocab_size(with_added_tokens=True))

    @property
    def first_index(self) -> int:
        """Where a text's first token stands in an input of one text."""
        return len(self._one.specials[0])

    def special_tokens(self, texts: int) -> int:
        """How many special tokens an input of one text, or of two, has."""
        return (self._one if texts == 1 else self._two).size

    def framed(self, texts: Sequence[list[int]], cut: bool) -> Input:
        """Ids of one text, or of two, that the caller has cut to fit, between their special
        tokens."""
        return (self._one if len(texts) == 1 else self._two).around(texts, cut)

    def _encodings(self, texts: Sequence[str]) -> list[Any]:
        try:
            return list(self._rust.encode_batch_fast(list(texts), add_special_tokens=False))
        except (TypeError, UnicodeEncodeError):  # half of a surrogate pair has no bytes
            whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
            return list(self._rust.encode_batch_fast(whole, add_special_tokens=False))


def _from_sentencepiece(files: ModelFiles) -> Any:
    """Of a T5's or BLEURT's folder that has SentencePiece's own file alone; None for others, whose
    frames are not those."""
    has_own = (files.folder / "tokenizer.json").exists()
    if has_own or configuration_of(files.folder).get("model_type") not in ("t5", "bleurt"):
        return None
    found = [files.folder / name for name in FILES if (files.folder / name).is_file()]
    return tokenizer_of(read_model(found[0])) if found else None


def check_vocabulary(tokenizer: Any, files: ModelFiles) -> None:
    """Raises ``ModelError`` for a folder without a tokenizer's files: transformers makes one there
    all the same, to which every word is unknown."""
    # T5's has a word that stands for a space
    if len(tokenizer) - len(set(tokenizer.all_special_ids)) <= 1:
        raise ModelError(
            f"the model {files.name} has no tokenizer in {files.folder}: tokenizer.json is missing"
        )


def _class_place(frame: _Frame, class_id: int | None) -> int | None:
    """Where the token stands whose state is the text's: 0, as BERT's [CLS] and RoBERTa's <s>; −1,
    as XLNet's <cls>; None where there is none."""
    if frame.specials[-1] and frame.specials[-1][-1] == class_id:
        return -1
    return 0 if frame.specials[0] else None


def _frame(example: Any, texts: int) -> _Frame:
    """Reads from an encoded example which tokens belong to no text, and what segment each part
    has."""
    specials: list[list[int]] = [[] for _ in range(texts + 1)]
    segments: list[list[int]] = [[] for _ in range(texts + 1)]
    text_segments = [0] * texts
    behind = 0
    for id_, segment, text in zip(example.ids, example.type_ids, example.sequence_ids, strict=True):
        if text is None:
            specials[behind].append(id_)
            segments[behind].append(segment)
        else:
            behind = text + 1
            text_segments[text] = segment
    return _Frame(tuple(map(tuple, specials)), tuple(map(tuple, segments)), tuple(text_segments))
