"""What a judge is worth, where we know it: said wherever its scores are shown. Pure.

The packaged model is there so that everything runs with no network, and it is far too small to
judge. Nobody should have to find that out from a board.
"""

from __future__ import annotations

from typing import Any

from workers.language_models.server import PACKAGED_MODEL_NAME

_CAVEATS = {
    PACKAGED_MODEL_NAME: (
        "A model of 135 million parameters is a weak judge. On USR its CPDScore-Detail agrees "
        "with people at r = .09 and its CPDScore-Simple at r = .08, with 95 % intervals that hold "
        "0, where the mere length of a response reaches r = .25 and one rater with the others .67 "
        "to .80. Asked to write it answers 1 to almost every Detail prompt: only its expected "
        "score orders anything"
    )
}
"""By model. Turn level, 300 responses, the packaged weights behind llama.cpp, the project's own
prompts (ρ = .08, .07; with the reference r = .07, .01; other wordings reached .14, .21). No final
stop: it is joined to other remarks."""
SHORT = {PACKAGED_MODEL_NAME: "a weak judge: on USR r = .08 to .09, length alone .25"}
"""The same where there is room for a few words."""


def caveat_of_model(model: str) -> str:
    """What is known of a model as a judge, "" where nothing is. ``model``: a name, with or without
    its revision."""
    return _CAVEATS.get(model.partition("@")[0], "")


def judge_of(configuration: Any) -> str:
    """The model that a metric's configuration has judge; "" where no language model is asked.

    ``configuration``: a ``Configuration``; what was handed in as scores has neither a metric nor
    options.
    """
    metric = getattr(configuration, "metric", None)
    if metric is None or metric.queue != "llm":
        return ""
    return str(configuration.options.get("model", ""))


def caveat_of(configuration: Any) -> str:
    """What to know before one reads this configuration's scores; "" where there is nothing to
    say."""
    return caveat_of_model(judge_of(configuration))


def caveat_in_short(configuration: Any) -> str:
    return SHORT.get(judge_of(configuration), "")
