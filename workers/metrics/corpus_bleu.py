"""Corpus BLEU of a whole system as sacrebleu computes it: the counts of all turns are summed before
the formula."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from common.estimates import Undefined
from workers.metrics.base import (
    Account,
    Example,
    Metric,
    Option,
    OptionValue,
    Progress,
    Read,
    Score,
)
from workers.metrics.common.against_references import NO_READABLE_REFERENCE
from workers.metrics.common.tokenisation import SACREBLEU, UNICODE, corpus_tokeniser
from workers.metrics.common.unicode_folding import fold

TOKENIZE = Option(
    "tokenize",
    "auto",
    "sacrebleu's tokeniser: auto, the one for the corpus's language, 13a where there is no other",
    ("auto", *SACREBLEU, "none"),
)
LOWERCASE = Option("lowercase", False, "compare in lower case")


class CorpusBleu:
    """A ``SystemScorer``. Turns without a reference are left out."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        self._tokenize = str(options["tokenize"])
        self._lowercase = bool(options["lowercase"])
        self._unicode = str(options["unicode"])
        self._account = Account()
        self.see_language("")

    def see_language(self, language: str) -> None:
        """Choose the tokeniser for the next calls.

        Args:
            language: code of the corpus's language; "" where it is not known.
        """
        self._used = corpus_tokeniser(language) if self._tokenize == "auto" else self._tokenize

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def score_system(
        self,
        examples: Sequence[Example],
        human: Sequence[Example],  # noqa: ARG002
        progress: Progress | None = None,
    ) -> Score:
        """Corpus BLEU of all responses of a system; see ``SystemScorer.score_system``.

        Args:
            human: not used.

        Returns:
            In [0, 1]: sacrebleu's score divided by 100. ``Undefined`` where no turn has a
            reference, or no reference has a token.
        """
        # Here, because listing the metrics must not load it
        from sacrebleu.metrics.bleu import BLEU

        bleu = BLEU(tokenize=self._used, lowercase=self._lowercase)
        prepare = fold if self._unicode == "fold" else str
        given = [
            (prepare(example.response), [prepare(one) for one in example.references if one.strip()])
            for example in examples
        ]
        pairs = [(response, references) for response, references in given if references]
        if not pairs:
            return Undefined("no turn has a reference")
        most = max(len(references) for _, references in pairs)
        # A stream of references for each place; None where a turn has fewer.
        streams: list[Any] = [
            [of_turn[k] if k < len(of_turn) else None for _, of_turn in pairs] for k in range(most)
        ]
        found = bleu.corpus_score([response for response, _ in pairs], streams)
        self._account = Account(
            facts=(("tokenize", self._used),), read=[Read(found.sys_len + found.ref_len)]
        )
        if progress is not None:
            progress(len(examples))
        return found.score / 100 if found.ref_len else NO_READABLE_REFERENCE


METRIC = Metric(
    name="corpus_bleu",
    version="1",
    summary="BLEU of all responses of a system together, as sacrebleu reports it (divided by 100).",
    citation="Post (2018), A Call for Clarity in Reporting BLEU Scores, WMT",
    build=CorpusBleu,
    levels=frozenset({"system"}),
    needs=frozenset({"reference"}),
    options=(TOKENIZE, LOWERCASE, UNICODE),
    signature_facts=(("implementation", "sacrebleu"), ("smooth", "exp"), ("eff", "no")),
    equation=r"""
\text{BLEU} = B \cdot \sqrt[4]{p_1 p_2 p_3 p_4} \qquad p_n = \frac{\sum_{t} m_n(t)}{\sum_{t} c_n(t)}
""",
    description="""\
The n-grams that match (m) and those that there are (c) are counted over all turns t first; then the
four precisions are multiplied. B makes responses that are together shorter than their references
pay for it. An order without a match is smoothed as sacrebleu does (exp).

This is the number that papers report as BLEU. The mean of bleu_4 over turns is another one, mostly
lower: it punishes every single turn in which no four words match.

Turns without a reference are left out. tokenize=auto is sacrebleu's tokeniser for the corpus's
language, 13a where it has no other. With unicode=none the score equals sacrebleu's `corpus_bleu`,
divided by 100.""",
)
