"""The follow-up utterances of FED: what the partner says after good and after bad responses, by
aspect. Pure.

The project's own are in ``fed_followups.json``; the published ones, or others, come from a file of
the same form: ``{"interesting": {"positive": ["…"], "negative": ["…"]}, …}``. One of the two lists
may be empty.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from workers.metrics.named_files import text_of

OURS = "ours"
_OURS_FILE = Path(__file__).with_name("fed_followups.json")
_LARGEST_FILE = 1_000_000
_MOST = 100
TURN_ASPECTS = (
    "interesting",
    "engaging",
    "specific",
    "relevant",
    "correct",
    "semantically_appropriate",
    "understandable",
    "fluent",
)
DIALOGUE_ASPECTS = (
    "coherent",
    "error_recovery",
    "consistent",
    "diverse",
    "depth",
    "likeable",
    "understanding",
    "flexible",
    "informative",
    "inquisitive",
)


class FollowUpsError(ValueError):
    """The file is not there or says something else than follow-ups; the message says where and
    what."""


@dataclass(frozen=True, slots=True)
class FollowUps:
    """What a partner says after good (positive) and after bad (negative) responses; one may be
    empty."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]


def read_follow_ups(name: str) -> dict[str, FollowUps]:
    """Read the follow-ups of FED's aspects.

    Args:
        name: ``ours``, or the path of a JSON file: ``{"interesting": {"positive": ["…"],
            "negative": ["…"]}, …}``.

    Returns:
        Follow-ups by aspect, for the aspects that the file has; each has at least one follow-up.

    Raises:
        FollowUpsError: no such file, not of this form, an unknown aspect, or one without
            follow-ups. The message never shows what else a file holds.
    """
    return dict(_ours()) if name == OURS else _read(name, name)


@cache
def _ours() -> Mapping[str, FollowUps]:
    """A part of the project: read once, for each of eighteen aspects asks whether it is in it."""
    return _read(OURS, str(_OURS_FILE))


def _read(name: str, file: str) -> dict[str, FollowUps]:
    try:
        document = json.loads(text_of(file, _LARGEST_FILE))
    except json.JSONDecodeError as error:
        raise FollowUpsError(
            f"{name}: line {error.lineno}, column {error.colno}: not JSON"
        ) from error
    except RecursionError as error:
        raise FollowUpsError(f"{name}: not JSON") from error
    except ValueError as error:
        raise FollowUpsError(f"{name}: {error}") from error
    if not isinstance(document, Mapping) or not document:
        raise FollowUpsError(f"{name}: $: must be an object with an entry per aspect")
    return {_aspect(name, key): _of_aspect(name, key, entry) for key, entry in document.items()}


def fingerprint(follow_ups: FollowUps) -> str:
    """Hash of the wording, for signatures: scores with different ones are not comparable.

    Returns:
        The first 12 hexadecimal digits of the SHA-256 of the follow-ups in their order.
    """
    document = json.dumps([follow_ups.positive, follow_ups.negative])
    return hashlib.sha256(document.encode()).hexdigest()[:12]


def _aspect(name: str, key: str) -> str:
    aspect = key.strip().lower().replace(" ", "_").replace("-", "_")
    if aspect not in TURN_ASPECTS + DIALOGUE_ASPECTS:
        raise FollowUpsError(f"{name}: $.{key[:50]}: no such aspect")
    return aspect


def _of_aspect(name: str, key: str, entry: object) -> FollowUps:
    if not isinstance(entry, Mapping):
        raise FollowUpsError(
            f"{name}: $.{key}: must be an object with the lists positive and negative"
        )
    if unknown := sorted(set(entry) - {"positive", "negative"}):
        raise FollowUpsError(
            f"{name}: $.{key}.{unknown[0][:50]}: only positive and negative belong here"
        )
    positive, negative = (
        _texts(name, key, side, entry.get(side, [])) for side in ("positive", "negative")
    )
    if not positive and not negative:
        raise FollowUpsError(f"{name}: $.{key}: has no follow-up")
    return FollowUps(positive, negative)


def _texts(name: str, key: str, side: str, entry: object) -> tuple[str, ...]:
    where = f"{name}: $.{key}.{side}"
    if not isinstance(entry, list) or len(entry) > _MOST:
        raise FollowUpsError(f"{where}: must be a list of at most {_MOST} texts")
    for index, text in enumerate(entry):
        if not isinstance(text, str) or not text.strip() or len(text) > 1000:
            raise FollowUpsError(f"{where}[{index}]: must be a text of 1 to 1,000 characters")
    return tuple(text.strip() for text in entry)
