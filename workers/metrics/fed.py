"""FED, 18 aspects: 8 of a response and 10 of a dialogue, from likely follow-ups (Mehri & Eskenazi,
2020)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.fed import (
    DIALOGUE_ASPECTS,
    OURS,
    TURN_ASPECTS,
    FollowUpsError,
    read_follow_ups,
)
from workers.metrics.common.options import (
    LANGUAGE_MODEL,
    LANGUAGE_MODEL_SYSTEMS_AT_ONCE,
    format_option,
    missing_model,
)

if TYPE_CHECKING:
    from workers.metrics.common.fed import FollowUpScorer

FOLLOW_UPS = Option("followups", OURS, "what a partner says next: ours, or a JSON file by aspect")


def _build(aspect: str, options: Mapping[str, OptionValue]) -> FollowUpScorer:
    from workers.metrics.common.fed import FollowUpScorer

    of_dialogues = aspect in DIALOGUE_ASPECTS
    aspects = DIALOGUE_ASPECTS if of_dialogues else TURN_ASPECTS
    model, style, file = (str(options[name]) for name in ("model", "format", "followups"))
    return FollowUpScorer(model, style, file, aspect, aspects, at_the_end=of_dialogues)


def _missing(aspect: str, options: Mapping[str, OptionValue]) -> str:
    try:
        if aspect not in read_follow_ups(str(options["followups"])):
            return f"{options['followups']} has no follow-ups for {aspect}"
    except FollowUpsError as error:
        return str(error)
    return missing_model(options)


def _declare(aspect: str) -> Metric:
    words = aspect.replace("_", " ")
    of_dialogues = aspect in DIALOGUE_ASPECTS
    whole = "dialogue" if of_dialogues else "response"
    return Metric(
        name=f"fed_{aspect}",
        version="1",
        summary=f"Whether a partner's next words would be those after a {whole} that is {words}."
        if aspect not in ("depth", "error_recovery")
        else f"Whether a partner's next words would be those after a dialogue with {words}.",
        citation="Mehri and Eskenazi (2020), Unsupervised Evaluation of Interactive Dialog with "
        "DialoGPT, SIGDIAL",
        build=partial(_build, aspect),
        needs=frozenset({"context"}),
        queue="gpu",
        value_range=(None, None),
        options=(LANGUAGE_MODEL, format_option("chat"), FOLLOW_UPS),
        signature_facts=(("length", "mean_per_token"), ("sides", "difference_of_means")),
        missing=partial(_missing, aspect),
        # The last turn is that of one system's dialogue: others in the call would have a last
        # turn of their own.
        systems_at_once=1 if of_dialogues else LANGUAGE_MODEL_SYSTEMS_AT_ONCE,
        equation=r"\mathrm{FED}(c, r) = \frac{1}{|P|} \sum_{f \in P} \ell(f) - \frac{1}{|N|} "
        r"\sum_{f \in N} \ell(f),\quad \ell(f) = \frac{1}{|f|} \log p(f \mid c, r)",
        description=f"""\
A language model reads the dialogue with the response in it and is asked how likely the partner is
to go on with certain sentences: some that people say where the {whole} was {words} (P), some where
it was not (N). The score is by how much the first are the likelier ones, as means over tokens and
over sentences.

The wording of the follow-ups decides much, and so does the model: the paper used DialoGPT, which
learned from discussions on the web. The project has its own follow-ups; the published ones can be
read from a file, and the signature names which were used. """
        + (
            "This aspect is one of a whole dialogue: it is scored at its last turn that has a "
            "response."
            if of_dialogues
            else (
                "A language model finds a friendly sentence likely after almost anything; compare "
                "systems, not values."
            )
        )
        + (
            "\n\nThe paper prints sums; means do not depend on how many and how long the sentences "
            "are. A side without sentences counts 0. In the format chat the model speaks as the "
            'partner. A file of follow-ups is `{"interesting": {"positive": ["…"], "negative": '
            '["…"]}}`.'
        ),
    )


METRICS = tuple(_declare(aspect) for aspect in TURN_ASPECTS + DIALOGUE_ASPECTS)
"""Turn-level aspects first, each group in the paper's order."""
