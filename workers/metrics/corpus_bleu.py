"""Corpus BLEU of a whole system as sacrebleu computes it: the counts of all turns are summed before
the formula."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
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
from workers.metrics.common.tokenisation import LOWERCASE, SACREBLEU, UNICODE, corpus_tokeniser
from workers.metrics.common.unicode_folding import fold

TOKENIZE = Option(
    "tokenize",
    "auto",
    "sacrebleu's tokeniser: auto, the one for the corpus's language, 13a where there is no other; "
    "treebank: NLTK's",
    ("auto", *SACREBLEU, "treebank", "none"),
)
SMOOTH = Option(
    "smooth",
    "exp",
    "an order without a match: exp, as sacrebleu; none, the smallest positive number, as NLTK",
    ("exp", "none"),
)


class CorpusBleu:
    """A ``SystemScorer``. Turns without a reference are left out."""

    def __init__(self, options: Mapping[str, OptionValue]) -> None:
        self._tokenize = str(options["tokenize"])
        self._lowercase = bool(options["lowercase"])
        self._smooth = str(options["smooth"])
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
            In [0, 1]: sacrebleu's score divided by 100, or NLTK's. ``Undefined`` where no turn has
            a reference, or no reference has a token.
        """
        # Here, because listing the metrics must not load it
        from sacrebleu.metrics.bleu import BLEU

        is_treebank = self._used == "treebank"
        bleu = BLEU(
            tokenize="none" if is_treebank else self._used,
            lowercase=self._lowercase and not is_treebank,
            smooth_method=self._smooth,
            force=is_treebank,
        )
        fold_text: Callable[[str], str] = fold if self._unicode == "fold" else str
        prepare = self._treebank_tokens(fold_text) if is_treebank else fold_text
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
        if not found.ref_len:
            return NO_READABLE_REFERENCE
        if self._smooth == "exp":
            return float(found.score) / 100
        lengths = [len(bleu.tokenizer(response).split()) for response, _ in pairs]
        return _without_smoothing(found, lengths)

    def _treebank_tokens(self, fold_text: Callable[[str], str]) -> Callable[[str], str]:
        from nltk.tokenize import TreebankWordTokenizer

        tokens = TreebankWordTokenizer().tokenize

        def prepare(text: str) -> str:
            folded = fold_text(text)
            return " ".join(tokens(folded.lower() if self._lowercase else folded))

        return prepare


def _without_smoothing(found: Any, lengths: Sequence[int]) -> float:
    """NLTK's ``corpus_bleu`` from sacrebleu's counts: a response that is too short for an n-gram
    counts as one."""
    if not found.counts[0]:
        return 0.0
    logs = [
        math.log(
            count / (total + sum(length < order for length in lengths))
            if count
            else sys.float_info.min
        )
        for order, (count, total) in enumerate(zip(found.counts, found.totals, strict=True), 1)
    ]
    return float(found.bp) * math.exp(math.fsum(logs) / len(logs))


METRIC = Metric(
    name="corpus_bleu",
    version="1",
    summary="BLEU of all responses of a system together, as sacrebleu reports it (divided by 100).",
    citation="Post (2018), A Call for Clarity in Reporting BLEU Scores, WMT",
    build=CorpusBleu,
    levels=frozenset({"system"}),
    needs=frozenset({"reference"}),
    options=(TOKENIZE, LOWERCASE, UNICODE, SMOOTH),
    signature_facts=(("implementation", "sacrebleu"), ("eff", "no")),
    equation=r"""
\text{BLEU} = B \cdot \sqrt[4]{p_1 p_2 p_3 p_4} \qquad p_n = \frac{\sum_{t} m_n(t)}{\sum_{t} c_n(t)}
""",
    description="""\
The n-grams that match (m) and those that there are (c) are counted over all turns t first; then the
four precisions are multiplied. B makes responses that are together shorter than their references
pay for it. An order without a match is smoothed as sacrebleu does (exp), or not (none).

This is the number that papers report as BLEU. The mean of bleu_4 over turns is another one, mostly
lower: it punishes every single turn in which no four words match.

Turns without a reference are left out. tokenize=auto is sacrebleu's tokeniser for the corpus's
language, 13a where it has no other. With unicode=none the score equals sacrebleu's
`corpus_bleu`, divided by 100; with tokenize=treebank, lowercase=true and smooth=none besides,
NLTK's, which is the BLEU of the FBD paper: all twelve of its correlations come out to three
digits.""",
)
