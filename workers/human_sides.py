"""Which people's answers a distribution metric holds systems against: the corpus's own references,
or those of another corpus in a version that the configuration names."""

from __future__ import annotations

import re

from annotations.corpora.queries import NotFound, version_of
from annotations.models import CorpusVersion
from workers.metrics.configuration import Configuration, ConfigurationError
from workers.metrics.human_side import HUMAN, REFERENCES

_NAMED = re.compile(r"([^@]+)(?:@v(\d+)(?:-([0-9a-f]+))?)?")


def takes_one(configuration: Configuration) -> bool:
    return HUMAN.name in configuration.options


def pinned(configuration: Configuration, version: CorpusVersion) -> Configuration:
    """The configuration with the human side written as ``slug@version label``, so that it says whom
    it compares with when a new version is imported. Raises ``ConfigurationError`` where there is no
    such corpus."""
    if not takes_one(configuration) or configuration.options[HUMAN.name] == REFERENCES:
        return configuration
    side = corpus_of(configuration, version)
    written = REFERENCES if side.pk == version.pk else f"{side.corpus.slug}@{side.label}"
    return Configuration.of(configuration.metric, **{**configuration.options, HUMAN.name: written})


def with_human_reference(configuration: Configuration, side: str) -> Configuration:
    """The configuration against this human side, where its metric takes one."""
    if not takes_one(configuration):
        return configuration
    return Configuration.of(configuration.metric, **{**configuration.options, HUMAN.name: side})


def corpus_of(configuration: Configuration, version: CorpusVersion) -> CorpusVersion:
    """The corpus version whose references are the human side for systems of ``version``."""
    written = str(configuration.options.get(HUMAN.name, REFERENCES))
    return version if written == REFERENCES else _named(configuration, written)


def _named(configuration: Configuration, written: str) -> CorpusVersion:
    match = _NAMED.fullmatch(written.strip())
    if match is None:
        raise ConfigurationError(
            f'{configuration.metric.name}: human side "{written}" is not slug or slug@v1'
        )
    slug, number, digest = match.groups()
    try:
        found = version_of(slug, int(number) if number else None)
    except (NotFound, ValueError, OverflowError) as problem:
        raise ConfigurationError(
            f"{configuration.metric.name}: human side {written}: {problem}"
        ) from None
    if digest and not found.digest.startswith(digest):
        raise ConfigurationError(
            f"{configuration.metric.name}: human side {written}: version {number} of {slug} here "
            f"is {found.label}"
        )
    return found
