"""PMI: by how much persona and context make a response likelier than it is out of nowhere (Li et
al., 2016)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workers.metrics.base import Metric, Option, OptionValue
from workers.metrics.common.options import (
    LANGUAGE_MODEL,
    LANGUAGE_MODEL_SYSTEMS_AT_ONCE,
    format_option,
    missing_model,
)
from workers.metrics.common.responses import COPIED_SHARE, RUN

if TYPE_CHECKING:
    from workers.metrics.common.likelihood_scorers import Information

PERSONA = Option("persona", True, "the speaker's persona is among what the response is to fit")


def _build(options: Mapping[str, OptionValue]) -> Information:
    from workers.metrics.common.likelihood_scorers import Information

    return Information(str(options["model"]), str(options["format"]), bool(options["persona"]))


METRIC = Metric(
    name="pmi",
    version="1",
    summary="By how much persona and context make the response likelier to a language model, per "
    "token.",
    citation="Li et al. (2016), A Diversity-Promoting Objective Function for Neural Conversation "
    "Models, NAACL",
    build=_build,
    needs=frozenset({"context"}),
    queue="gpu",
    value_range=(None, None),
    options=(LANGUAGE_MODEL, format_option("chat"), PERSONA),
    signature_facts=(
        ("length", "mean_per_token"),
        ("logarithm", "natural"),
        ("prior", "same_format_empty_utterance"),
        ("copied", f"{COPIED_SHARE:g}_in_runs_of_{RUN}"),
    ),
    missing=missing_model,
    systems_at_once=LANGUAGE_MODEL_SYSTEMS_AT_ONCE,
    equation=r"\mathrm{PMI}(r; k, c) = \frac{1}{|r|} "
    r"\left( \log p(r \mid k, c) - \log p(r) \right)",
    description="""The pointwise mutual information between a response r and what it answers: the
persona k and the context c. A causal language model gives the response's logarithmic probability
twice, once after persona and context and once after nothing; the difference, per token, says how
much of the response was to be expected from the dialogue. A dull answer is likely both times and
gains nothing, which is what a plain likelihood gets wrong. Of the scores that need no reference it
is the one of the packaged model that agrees with people most often.

A response that repeats the context or the persona word for word is expected from the dialogue like
nothing else, and is overrated. Such a response keeps its score and gets a remark: at least half of
its words are in runs of four or more words of one utterance or line of the persona. A broken
answer on the right topic is overrated too: log p(r) takes back what the broken sentence cost.

Out of nowhere means: in the same format after an empty utterance, with no persona.

With SmolLM2 it reaches .32/.30 (Pearson/Spearman) on USR and, with persona=false, .34/.35 on
Daily(Z); the reference numbers are .32/.31 and .37/.38. An empty utterance rather than none
matters: a chat template that adds instructions to every chat adds them to both sides (with none,
Daily(Z) falls to .27/.28). The paper uses the value to choose responses, with a weight on the
prior; here the weight is 1.""",
)
