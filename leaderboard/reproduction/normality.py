"""How normal the points are that FBD takes as Gaussian: a row a corpus, the paper's figures beside
it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotations.corpora.queries import select_systems
from annotations.models import CorpusVersion
from leaderboard.reproduction.published import paper
from workers.metrics.base import Example
from workers.metrics.common.configuration import Configuration, MetricUnavailableError, parse
from workers.metrics.common.normality import LEVEL, normality
from workers.runs import queries

NORMALITY = paper("fbd").tables["2"]
ENCODERS = [row.model for row in NORMALITY.rows]
PEOPLE = "human"
"""The side whose responses are the corpus's references."""
NOTE = (
    "The paper prints one figure with its standard deviation and does not say whether it is W or "
    "p: both stand here. W of this many points lies near 1 in every dimension, so its figures "
    "look like p. They are of other encoders."
)
MANY_POINTS = "With many points the test refutes small departures, too: compare rows of equal n."


def normality_table(
    versions: Sequence[CorpusVersion], model: str = "", layer: int | None = None, side: str = PEOPLE
) -> dict[str, Any]:
    """Of people's responses, or of the system named ``side``, on each of ``versions``. Encodes what
    is not known yet.

    Raises ``NotFound`` for a system that a corpus does not have, ``MetricUnavailableError`` and
    ``ModelError`` where the encoder is not here.
    """
    chosen = {**({"model": model} if model else {}), **({} if layer is None else {"layer": layer})}
    configuration = Configuration.of(parse("fbd").metric, **chosen)
    if reason := configuration.missing():
        raise MetricUnavailableError(reason)
    sides = [_examples(configuration, version, side) for version in versions]
    return {
        "side": side,
        "layer": configuration.options["layer"],
        "level": LEVEL,
        **_rows(configuration, versions, sides, side),
        "published": f"{paper('fbd').citation}, Table 4",
        "notes": [NOTE, MANY_POINTS],
    }


def _rows(
    configuration: Configuration,
    versions: Sequence[CorpusVersion],
    sides: Sequence[Sequence[Example]],
    side: str,
) -> dict[str, Any]:
    from workers.inference.encoders.encoder import encoder_for
    from workers.metrics.common.pair_features import PRECISION, pair_points

    encoder = encoder_for(str(configuration.options["model"]), PRECISION)
    layer = int(configuration.options["layer"])
    rows = []
    for version, examples in zip(versions, sides, strict=True):
        found = normality(pair_points(encoder, examples, layer).values).as_json()
        del found["level"]
        rows.append(
            {
                "corpus": version.corpus.slug,
                "corpus_version": version.label,
                **found,
                "published": _published(version.corpus.slug) if side == PEOPLE else {},
            }
        )
    return {"model": encoder.files.label, "device": encoder.device_label, "rows": rows}


def _examples(configuration: Configuration, version: CorpusVersion, side: str) -> list[Example]:
    if side == PEOPLE:
        return queries.human_reference_of(configuration, version)
    (system,) = select_systems(version, [side])
    return [example for example in queries.examples_of(system) if example is not None]


def _published(slug: str) -> dict[str, dict[str, float]]:
    """By encoder, where the corpus has the name of one of the paper's."""
    return {
        row.model: {name: figure.value for name, figure in figures.items()}
        for row in NORMALITY.rows
        if (figures := row.of_column(slug))
    }
