"""Cosines between sentence vectors of an encoder: response with reference, or with its context and
persona."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from common.estimates import Undefined
from workers.inference.encoders.encoder import Pooling, TextEncoder, encoder_for
from workers.metrics.base import Account, Example, Progress, Read, Score, SignatureFields
from workers.metrics.common.against_references import NO_REFERENCE
from workers.metrics.common.options import account_of, preparation
from workers.metrics.common.readability import ReadPair, read_of
from workers.metrics.common.responses import has_persona, persona_fields

EXAMPLES_AT_ONCE = 8_192
EMPTY_RESPONSE = Undefined("the response is empty")
NO_CONTEXT = Undefined("the turn has no context")
_CUT = "a text was cut: the model takes no more tokens"


class SentenceCosines:
    """What the two scorers share: examples in parts, every text of a part encoded once, what was
    cut remarked."""

    def __init__(self, model: str, pooling: Pooling = "mean") -> None:
        self._model = model
        self._pooling = pooling
        self._account = Account()

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Encode each distinct text once and score each example; see ``TurnScorer.score``."""
        encoder = encoder_for(self._model)
        self._remarks: dict[int, str] = {}
        self._read: list[Read] = []
        # Now, too: a run shows with what it is computed
        self._account = account_of(encoder, self._remarks)
        scores: list[Score] = []
        for start in range(0, len(examples), EXAMPLES_AT_ONCE):
            part = examples[start : start + EXAMPLES_AT_ONCE]
            scores += self._score_part(encoder, part, start, _onwards(progress, start, len(part)))
        if progress is not None and examples:
            progress(len(examples))
        self._account = replace(
            self.with_facts_of(account_of(encoder, self._remarks), examples), read=self._read
        )
        return scores

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def with_facts_of(
        self,
        account: Account,
        examples: Sequence[Example],  # noqa: ARG002  for subclasses
    ) -> Account:
        """Add what depends on the call's examples to the run metadata."""
        return account

    def _score_part(
        self,
        encoder: TextEncoder,
        part: Sequence[Example],
        start: int,
        tell: Callable[[int, int], None],
    ) -> Iterator[Score]:
        inputs = [self.texts_of(encoder, example) for example in part]
        rows = {
            text: row
            for row, text in enumerate(dict.fromkeys(text for texts in inputs for text in texts))
        }
        vectors = encoder.sentence_vectors(
            list(rows), self._pooling, progress=lambda done: tell(done, len(rows))
        )
        ids = encoder.token_ids(list(rows))
        for index, (example, texts) in enumerate(zip(part, inputs, strict=True), start):
            if any(rows[text] in vectors.cut for text in texts):
                self._remarks.setdefault(index, _CUT)
            own = [ids[rows[text]] for text in texts]
            read = [read_of(one, encoder.unknown_id) for one in own]
            self._read.append(
                Read(sum(one.tokens for one in read), sum(one.unknown for one in read))
            )
            pairs = [ReadPair.of(own[0], other, encoder.unknown_id) for other in own[1:]]
            yield self.score_of(
                example, texts, vectors.values[[rows[text] for text in texts]], pairs
            )

    def texts_of(self, encoder: TextEncoder, example: Example) -> list[str]:
        """Texts of an example to encode.

        Returns:
            The response first, then what it is compared with; empty where there is no score.
        """
        raise NotImplementedError

    def score_of(
        self,
        example: Example,
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        pairs: Sequence[ReadPair],
    ) -> Score:
        """Score of an example from its sentence vectors.

        Args:
            texts: from ``texts_of``; empty where there is no score.
            vectors: (texts, dimensions), rows of length one.
            pairs: what was read of the first text and each other one; one fewer than texts.
        """
        raise NotImplementedError


class ReferenceCosine(SentenceCosines):
    """cos(response, reference), the best reference."""

    def __init__(self, model: str, pooling: Pooling, unicode: str) -> None:
        super().__init__(model, pooling)
        self._prepare = preparation(normalize=False, unicode=unicode)

    def texts_of(self, encoder: TextEncoder, example: Example) -> list[str]:  # noqa: ARG002
        references = [text for one in example.references if (text := self._prepare(one))]
        response = self._prepare(example.response)
        return [response, *references] if references and response else []

    def score_of(
        self,
        example: Example,
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        pairs: Sequence[ReadPair],
    ) -> Score:
        if not texts:
            return (
                EMPTY_RESPONSE if any(one.strip() for one in example.references) else NO_REFERENCE
            )
        response, *references = texts
        cosines: list[float] = []
        faults: list[Undefined] = []
        for reference, pair, cosine in zip(
            references, pairs, _cosines_with_first(vectors).tolist(), strict=True
        ):
            same = response == reference
            if fault := pair.fault(same, cosine):
                faults.append(fault)
            # 1 to the last digit: how a sum was rounded must not rank those who repeat a reference
            else:
                cosines.append(1.0 if same else cosine)
        return max(cosines) if cosines else faults[0]


class ContextCosine(SentenceCosines):
    """cos(response, context) + the largest cos(response, line of the persona); without a persona
    the first alone."""

    def __init__(self, model: str, utterances: int) -> None:
        super().__init__(model)
        self._utterances = utterances
        self._lengths: dict[str, int] = {}

    def with_facts_of(self, account: Account, examples: Sequence[Example]) -> Account:
        having = [has_persona(example) for example in examples]

        def facts_of(part: slice) -> SignatureFields:
            return (*account.facts, *persona_fields(having[part]))

        return replace(account, facts=facts_of(slice(None)), facts_of=facts_of)

    def texts_of(self, encoder: TextEncoder, example: Example) -> list[str]:
        response = example.response.strip()
        context = self._context(encoder, example)
        if not response or not context:
            return []
        return [response, context, *(line.strip() for line in example.persona if line.strip())]

    def score_of(
        self,
        example: Example,
        texts: Sequence[str],
        vectors: NDArray[np.float32],
        pairs: Sequence[ReadPair],
    ) -> Score:
        if not texts:
            return NO_CONTEXT if example.response.strip() else EMPTY_RESPONSE
        with_context, *with_persona = _cosines_with_first(vectors).tolist()
        if fault := pairs[0].fault(texts[0] == texts[1], with_context):
            return fault
        return float(with_context + max(with_persona, default=0.0))

    def _context(self, encoder: TextEncoder, example: Example) -> str:
        """The last utterances as one text, as many as the model takes: the oldest are left out
        first."""
        utterances = [
            utterance.text.strip() for utterance in example.context if utterance.text.strip()
        ]
        latest = utterances[-self._utterances :] if self._utterances else utterances
        capacity = encoder.sentence_tokens - 2  # the tokens around a text
        retained: list[str] = []
        for text in reversed(latest):
            capacity -= self._length(encoder, text)
            if capacity < 0 and retained:
                break
            retained.append(text)
        return " ".join(reversed(retained))

    def _length(self, encoder: TextEncoder, text: str) -> int:
        length = self._lengths.get(text)
        if length is None:
            if len(self._lengths) > 100_000:
                self._lengths.clear()
            length = self._lengths[text] = len(encoder.words_of(text))
        return length


def _cosines_with_first(units: NDArray[np.float32]) -> NDArray[np.float64]:
    wide = units.astype(np.float64)
    cosines: NDArray[np.float64] = wide[1:] @ wide[0]
    return cosines


def _onwards(progress: Progress | None, start: int, examples: int) -> Callable[[int, int], None]:
    """Progress in examples from the texts of a part: the last is told when all have their score."""

    def tell(done: int, texts: int) -> None:
        if progress is not None and done < texts:
            progress(start + examples * done // texts)

    return tell
