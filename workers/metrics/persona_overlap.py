"""How many words a response shares with the persona of who speaks: persona precision, recall and F1
over all statements, and persona coverage (Song et al. 2019)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain

from common.estimates import Undefined
from workers.metrics.base import Example, Metric, OptionValue, Progress, Score
from workers.metrics.common.against_references import AgainstReferences
from workers.metrics.common.lexical import TokenisedText
from workers.metrics.common.tokenisation import OPTIONS
from workers.metrics.word_f1 import word_f1
from workers.metrics.word_precision import word_precision
from workers.metrics.word_recall import word_recall

NO_PERSONA = Undefined("the dialogue has no persona")
PER_MILLION = 1_000_000


class AgainstPersona(AgainstReferences):
    """A ``TurnScorer``: compares a response with the statements of its speaker's persona."""

    without_text = NO_PERSONA
    without_readable_text = Undefined("no line of the persona holds a token that the metric reads")

    def texts_of(self, example: Example) -> tuple[str, ...]:
        return example.persona


class PersonaCoverage(AgainstPersona):
    """A ``TurnScorer`` whose weights of words are those of the corpus."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        super().__init__(options, self._coverage)
        self._corpus: Sequence[Example] = ()
        self._idf: dict[str, float] = {}

    def see_corpus(self, turns: Sequence[Example]) -> None:
        """Weigh words by how often they occur in these turns.

        Args:
            turns: all turns of the corpus that the next calls' examples are of, answered or not.
        """
        self._corpus = turns

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Persona coverage of each response; see ``TurnScorer.score``.

        Returns:
            One score per example, in order, in [0, 1]. ``Undefined`` where the dialogue has no
            persona, or the tokeniser reads nothing of it or of the response.
        """
        # Each text once: a context's utterances come again with every later turn
        texts = {
            text
            for turn in self._corpus or examples
            for text in chain(
                turn.persona,
                turn.partner_persona,
                turn.references,
                (utterance.text for utterance in turn.context),
            )
        }
        occurrences = Counter(word for text in texts for word in self._analyse(text).tokens)
        words = occurrences.total()
        self._idf = {
            word: 1 / (1 + math.log1p(PER_MILLION * count / words))
            for word, count in occurrences.items()
        }
        return super().score(examples, progress)

    def _coverage(self, response: TokenisedText, statements: Sequence[TokenisedText]) -> float:
        return max(persona_coverage(response, statement, self._idf) for statement in statements)


def persona_coverage(
    response: TokenisedText, statement: TokenisedText, idf: Mapping[str, float]
) -> float:
    """Mean inverse frequency of the different words that a response shares with a statement.

    Args:
        statement: one line of a persona.
        idf: weight of each word, in (0, 1]; a word that is not there has weight 1.

    Returns:
        In [0, 1]; 0 where no word is shared.

    S(r, p) = Σ_{w ∈ W} idf(w) / |W|, W = r ∩ p (Song et al. 2019).
    """
    shared = set(response.tokens) & set(statement.tokens)
    return math.fsum(idf.get(word, 1.0) for word in shared) / len(shared) if shared else 0.0


def _whole_persona(
    compare_one: Callable[[TokenisedText, TokenisedText], float],
    response: TokenisedText,
    statements: Sequence[TokenisedText],
) -> float:
    words = chain.from_iterable(statement.tokens for statement in statements)
    return compare_one(response, TokenisedText(tuple(words)))


def _declare(
    name: str,
    compare_one: Callable[[TokenisedText, TokenisedText], float],
    summary: str,
    equation: str,
) -> Metric:
    return Metric(
        name=name,
        version="1",
        summary=summary,
        citation="Shuster et al. (2021), Retrieval Augmentation Reduces Hallucination in "
        "Conversation, Findings of EMNLP (knowledge F1), with the persona as the knowledge",
        build=lambda options: AgainstPersona(options, partial(_whole_persona, compare_one)),
        needs=frozenset({"persona"}),
        options=OPTIONS,
        equation=equation,
        description="""\
The words that the response h has in common with the statements of its speaker's persona p, which
count as one text. Words are bags: one that h has three times and p twice is shared twice.

A response has a score where the dialogue has a persona, whether or not the turn asks for it: most
good responses use little of it, and one that recites the persona scores highest. Function words
count like any other; persona_coverage weighs them down. Words that contradict the persona
count as shared, too: persona_contradiction tells them apart.""",
    )


_EQUATION = r"P = \frac{|h \cap p|}{|h|} \qquad R = \frac{|h \cap p|}{|p|}"
METRICS = (
    _declare(
        "persona_f1",
        word_f1,
        "Harmonic mean of word precision and word recall against the persona.",
        _EQUATION + r" \qquad F_1 = \frac{2 P R}{P + R}",
    ),
    _declare(
        "persona_precision",
        word_precision,
        "Share of the response's words that the persona holds.",
        _EQUATION,
    ),
    _declare(
        "persona_recall",
        word_recall,
        "Share of the persona's words that the response holds.",
        _EQUATION,
    ),
    Metric(
        name="persona_coverage",
        version="1",
        summary="Mean inverse frequency of the words that the response shares with the best line "
        "of the persona.",
        citation="Song et al. (2019), Exploiting Persona Information for Diverse Generation of "
        "Conversational Responses, IJCAI",
        build=PersonaCoverage,
        needs=frozenset({"persona"}),
        options=OPTIONS,
        signature_facts=(("idf", "corpus"),),
        equation=r"""
C_{\text{per}}(h) = \max_{p} \frac{1}{|W_p|} \sum_{w \in W_p} \text{idf}(w) \qquad W_p = h \cap p

\text{idf}(w) = \frac{1}{1 + \ln(1 + \text{tf}(w))}
""",
        description="""\
W holds the different words that the response h and a line p of its speaker's persona share; a line
without one counts 0. A rare word weighs nearly 1, a frequent one little. The best line counts.

It is a mean over shared words: one rare word scores higher than the same word with two frequent
ones. It sees the same words alone, and not whether they contradict the persona
(persona_contradiction).

tf is how often a word occurs per million words of the corpus's different texts. The paper takes it
from a word's rank in a published list, by Zipf's law (Zhang et al. 2018), so its numbers differ
from these. No published scores were at hand to compare with: the tests hold it to the equation.""",
    ),
)
