"""Whether a metric can read a corpus's language, told before anything is computed."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from annotations.corpora.queries import language_of
from annotations.languages import NOT_LATIN, language_name
from annotations.models import CorpusVersion, System, Turn
from workers.inference.model_files import ModelError, model_files
from workers.metrics.base import Read
from workers.metrics.common.configuration import Configuration, parse, still_there
from workers.metrics.common.readability import read_of, sum_of, unknown_remark
from workers.metrics.registry import all_metrics
from workers.models import MetricRun
from workers.runs.queries import why_not_offered

FOR_ENGLISH = ("word_f1", "bleu_4", "rouge_l", "meteor")
FOR_OTHERS = ("chrf", "word_f1", "bleu_4", "rouge_l")
"""The lexical ones that are reported most; METEOR's stems and synonyms are English, and chrF needs
no tokeniser."""
WITHOUT_REFERENCES = ("response_length", "distinct_2", "self_repetition")
_SLOW_PROCESSOR_METRICS = frozenset({"meteor"})
_MANY_RESPONSES = 200_000
_REFERENCES_READ = 200
_UNSPACED = frozenset({"zh", "ja", "th", "lo", "km", "my", "bo"})


def recommend(language: str, has_references: bool, responses: int) -> tuple[str, ...]:
    """Metrics to begin with: they need no model, so any machine computes them in minutes.

    Args:
        language: code; "" where it is not known, which counts as English.
        has_references: whether the corpus has any.
        responses: number of responses.

    Returns:
        Names, the best one to rank by first: lexical overlap with the references, chrF before the
        others where the language is not English; without references what responses alone show.
        Above 200,000 responses none that takes a processor longer.
    """
    if not has_references:
        return WITHOUT_REFERENCES
    names = FOR_ENGLISH if language in ("", "en") else FOR_OTHERS
    is_large = responses > _MANY_RESPONSES
    return tuple(name for name in names if not (is_large and name in _SLOW_PROCESSOR_METRICS))


def recommended_metrics(version: CorpusVersion) -> list[str]:
    """Names, the best one to rank by first; those that can be computed on this corpus here."""
    counted = version.counted or {}
    responses = int(counted.get("responses", 0))
    language = language_of(version)
    for has_references in (True, False):
        names = [
            name
            for name in recommend(language, has_references, responses)
            if name in all_metrics() and not why_not_offered(parse(name), version)
        ]
        if names:
            return names
    return []


def why_hard_to_read(configuration: Configuration, version: CorpusVersion) -> str:
    """Why the metric's scores say little of texts in the corpus's language, as the end of a
    sentence; "" where they do, as far as can be told without computing."""
    language, options = language_of(version), configuration.options
    tokenize = options.get("tokenize")
    if tokenize in ("rouge-score", "py-rouge") and language in NOT_LATIN:
        return (
            "its tokens are the letters a to z and figures: it reads nothing of "
            f"{language_name(language)}"
        )
    if tokenize == "parlai" and language in _UNSPACED:
        return (
            f"it cuts words at white space, which {language_name(language)} does not write "
            "between them"
        )
    if configuration.metric.name == "meteor" and language not in ("", "en"):
        return f"its stems and synonyms are English, and the corpus is in {language_name(language)}"
    if configuration.metric.queue == "gpu" and options.get("model") and not options.get("vectors"):
        try:
            return unknown_remark(_read_by(str(options["model"]), version.digest))
        except (ModelError, OSError, ValueError):  # no tokenizer, today
            return ""
    return ""


def reading_warnings(
    version: CorpusVersion, configurations: Collection[str], systems: Collection[System]
) -> dict[str, str]:
    """Why scores of these systems by these metrics say little, by configuration.

    What finished runs counted decides, and what ``why_hard_to_read`` says of metrics without a
    model. Metrics that read the texts well are not in it.
    """
    done = MetricRun.objects.filter(
        system__in=systems, configuration__in=configurations, state=MetricRun.State.DONE
    )
    # Judges count no tokens, and their details are large.
    runs = done.exclude(queue="llm").values_list("configuration", "metric_version", "details__read")
    counted: dict[str, list[Read]] = {}
    for text, metric_version, read in runs:
        if read and still_there(text, metric_version):
            counted.setdefault(text, []).append(Read(**read))
    found: dict[str, str] = {}
    for text in configurations:
        configuration = still_there(text)
        if configuration is None:
            continue
        warning = unknown_remark(sum_of(counted.get(text, ())))
        if not warning and configuration.metric.queue == "cpu":
            warning = why_hard_to_read(configuration, version)
        if warning:
            found[text] = warning
    return found


@lru_cache(maxsize=64)
def _read_by(model: str, digest: str) -> Read:
    """What a model's vocabulary holds of the first references of any version with this content."""
    tokenizer, unknown = _tokenizer(model)
    version = CorpusVersion.objects.filter(digest=digest).first()
    turns = Turn.objects.filter(dialogue__version=version).order_by("dialogue__position", "number")
    texts = (
        text
        for references in turns.values_list("references", flat=True).iterator()
        for text in references
    )
    found = tokenizer.encode_batch(list(islice(texts, _REFERENCES_READ)), add_special_tokens=False)
    read = [read_of(one.ids, unknown) for one in found]
    return Read(sum(one.tokens for one in read), sum(one.unknown for one in read))


@lru_cache(maxsize=4)
def _tokenizer(model: str) -> tuple[Any, int | None]:
    """Without the model, and without loading transformers: a page may ask."""
    from tokenizers import Tokenizer

    file = model_files(model).folder / "tokenizer.json"
    document: Mapping[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer, tokenizer.token_to_id(document["model"].get("unk_token") or "")
