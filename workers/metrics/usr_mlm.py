"""USR-MLM: how well a masked language model foresees each token of the response (Mehri and Eskenazi
2020).

score = 1/|r| · Σ_t log p(r_t | c, r without r_t), each token of the response masked in turn while
all others stand.

The paper's sum runs over the response, and so does this one. The released code masks the tokens of
the context too and takes the mean over both; a variant that masks the response alone is commented
out there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from common.estimates import Undefined
from workers.metrics.base import Account, Example, Metric, Option, OptionValue, Progress, Score
from workers.metrics.common.options import (
    SYSTEMS_AT_ONCE,
    account_of,
    each_once,
    model_option,
    number,
    why_no_checkpoint,
)
from workers.metrics.common.readability import read_of_responses

if TYPE_CHECKING:
    from workers.inference.encoders.masked_model import Continued, MaskedModel

EMPTY = Undefined("the response has no token to mask")


class UsrMlm:
    """A ``TurnScorer``."""

    def __init__(self, load: Callable[[], MaskedModel], context: int, separator: str) -> None:
        self._load = load
        self._context = context
        self._separator = separator or " "
        self._account = Account()

    def score(self, examples: Sequence[Example], progress: Progress | None = None) -> list[Score]:
        """Mean log-probability of the response's masked tokens; see ``TurnScorer.score``.

        Returns:
            One score per example, in order, 0 or less, in natural logarithms per token; higher is
            better. ``Undefined`` where the response has no token, where the score is not finite, or
            where the model cannot read the texts.
        """
        model, remarks = self._load(), dict[int, str]()
        self._account = account_of(model, remarks, (("max_tokens", str(model.max_tokens)),))
        inputs = [self._continued(example) for example in examples]
        scores: list[Score] = []
        for index, found in enumerate(
            each_once(inputs, model.pseudo_likelihoods, progress, len(examples))
        ):
            if found.cut:
                remarks[index] = f"{found.cut} was cut: the model takes {model.max_tokens} tokens"
            scores.append(number(found.log_probability / found.tokens) if found.tokens else EMPTY)
        shown = [[one.text, one.before] for one in inputs]
        self._account = replace(self._account, read=read_of_responses(model, shown, scores))
        return scores

    def account(self) -> Account:
        """Run metadata of the last call."""
        return self._account

    def _continued(self, example: Example) -> Continued:
        from workers.inference.encoders.masked_model import Continued

        utterances = [utterance.text.strip() for utterance in example.context]
        shown = [text for text in utterances[-self._context :] if text] if self._context else []
        response = example.response.strip()
        if not shown:
            return Continued("", response)
        # White space that ends the separator belongs to the next word: tokenizers like RoBERTa's
        # read " word" as one.
        separator = self._separator.rstrip()
        space = self._separator[len(separator) :]
        return Continued(
            self._separator.join(shown) + separator, space + response if response else ""
        )


def _build(options: Mapping[str, OptionValue]) -> UsrMlm:
    from workers.inference.encoders.masked_model import masked_model_for

    load = partial(masked_model_for, str(options["model"]))
    return UsrMlm(load, int(options["context"]), str(options["separator"]))


def _missing(options: Mapping[str, OptionValue]) -> str:
    return why_no_checkpoint("usr_mlm", options)


METRIC = Metric(
    name="usr_mlm",
    version="2",
    summary="Mean log-probability of the response's tokens, each masked in turn, by a masked "
    "language model.",
    citation=(
        "Mehri and Eskenazi (2020), USR: An Unsupervised and Reference Free Evaluation Metric for "
        "Dialog Generation, ACL"
    ),
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(None, 0.0),
    options=(
        model_option("a masked language model"),
        Option(
            "context",
            1,
            "how many of the last utterances come before the response; 0: none",
            least=0,
        ),
        Option(
            "separator", "", "what is put between utterances, taken as it is; left empty: a space"
        ),
    ),
    signature_facts=(("masked", "response"), ("log", "natural")),
    missing=_missing,
    systems_at_once=SYSTEMS_AT_ONCE,
    equation=r"\text{USR-MLM}(c, r) = \frac{1}{|r|} \sum_{t=1}^{|r|} \log p(r_t \mid c, "
    r"r_{\setminus t})",
    description=(
        "Each token of the response r is hidden in turn and a masked language model says how "
        "likely the hidden token is, given the context c and all other tokens. The score is the "
        "mean of the logarithms: 0 is certain, lower is less expected. It speaks of fluency, and "
        "of fit to the context as far as the model was trained on dialogues; the paper trains "
        "RoBERTa on them first.\n\nCommon words in common places win: a dull response is an "
        "expected one. Pieces of a rare word give each other away, which flatters long "
        "words.\n\nThe last utterance is the context, as in the released code (`context` for "
        "more). That code masks the context's tokens too and takes the mean over all; this metric "
        "masks the response alone, as the paper's text has it. The released checkpoint was "
        "trained with its own marks between utterances: give them as `separator`. An empty "
        "response has no token and no score."
        "\n\nWhere both are too long the context loses its beginning, and a response that is too "
        "long alone loses its end; both are remarked. Equal to one pass through the model for "
        "each mask; tested on small checkpoints with random weights."
    ),
)
