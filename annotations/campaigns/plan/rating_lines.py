"""Reading what was exported of a campaign: what it asked (``campaign.json``) and its ratings
(``ratings.jsonl``). Pure: no Django here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from annotations.campaigns.plan.allocation import Target
from annotations.campaigns.plan.form_changes import is_about
from annotations.campaigns.plan.lists import MOST_SYSTEMS
from annotations.campaigns.scale import HIGHEST, HIGHEST_RATING_WIDTH, HIGHEST_WIDTH, LOWEST
from annotations.formats.importers.fields import JsonObject, all_or_none
from annotations.formats.importers.json_source import json_lines
from annotations.formats.importers.problems import Problems
from annotations.questions.reading import FormError, form_of
from annotations.questions.schema import Form
from common.text import MAX_ASPECT, MAX_NAME

Kind = Literal["turn", "dialogue", "pair", "dialogue_pair", "systems"]
KINDS: dict[str, Kind] = {
    "turn": "turn",
    "dialogue": "dialogue",
    "pair": "pair",
    "dialogue_pair": "dialogue_pair",
    "systems": "systems",
}
Allocation = Literal["uniform", "adaptive"]
ALLOCATIONS: dict[str, Allocation] = {"uniform": "uniform", "adaptive": "adaptive"}
TARGETS: dict[str, Target] = {"none": "none", "pairs": "pairs", "width": "width"}
PAIRED: tuple[Kind, ...] = ("pair", "dialogue_pair")
WHOLE: tuple[Kind, ...] = ("dialogue", "dialogue_pair")
MOST_RATINGS = 200_000
"""Lines that are read; they are held at once."""
LARGEST_DOCUMENT = 20_000_000
"""Bytes of ``campaign.json``."""
MOST_RATERS_PER_ITEM = 50
LONGEST_GUIDELINES, LONGEST_COMMENT, LONGEST_LABEL = 50_000, 4_000, 80
MOST_AXES = 12
LARGEST_BUDGET = 2**31 - 1
_RATER = re.compile(r"rater ([1-9][0-9]{0,5})\Z")


@dataclass(frozen=True, slots=True)
class ExportedCampaign:
    """What a campaign exported.

    Attributes:
        name: of the campaign.
        kind: what its items are.
        raters_per_item: k.
        labels: of the scale; ``axes`` and ``axes_below`` likewise as ``Campaign`` has them.
        guidelines: by number.
        forms: by number; none where the scale was exported.
        simulated: whether its raters were programs.
        allocation: how ratings were spread over systems.
        target: when it had enough, with ``target_value``.
        budget: of pairs, how many comparisons were made at most.
    """

    name: str
    kind: Kind
    raters_per_item: int
    labels: tuple[str, ...]
    axes: tuple[Mapping[str, str], ...]
    axes_below: int | None
    guidelines: Mapping[int, str]
    forms: Mapping[int, Form]
    simulated: bool = False
    allocation: Allocation = "uniform"
    target: Target = "none"
    target_value: float | None = None
    budget: int | None = None


@dataclass(frozen=True, slots=True)
class RevisionLine:
    """One revision, with the fields of ``RatingRevision``."""

    number: int
    score: int | None
    low_axes: tuple[str, ...] | None
    form: int | None
    answers: Mapping[str, Any] | None
    question_ms: Mapping[str, int] | None
    flagged: bool
    comment: str
    guidelines: int | None
    first_key_ms: int | None
    submit_ms: int | None
    active_ms: int | None
    shown_at: datetime | None
    created_at: datetime


@dataclass(frozen=True, slots=True)
class RatingLine:
    """One rating of a regular item.

    Attributes:
        line: in the file.
        dialogue: its id in the corpus.
        turn: number; None of a whole dialogue.
        system: name; of a pair, the one that was shown first.
        system_b: of a pair, the one that was shown second; None elsewhere.
        systems: of a list, in the order shown; () elsewhere.
        rater: number of the pseudonym, from 1.
        is_excluded: whether the rater was excluded.
        counts: whether it was one of the item's k ratings.
        position: in the rater's order of work.
        propensity: with which the item was drawn.
        system_propensity: with which its system, or its two, were drawn.
        revisions: oldest first, at least one.
    """

    line: int
    dialogue: str
    turn: int | None
    system: str
    system_b: str | None
    systems: tuple[str, ...]
    rater: int
    is_excluded: bool
    counts: bool
    position: int
    propensity: float | None
    system_propensity: float | None
    revisions: tuple[RevisionLine, ...]


# --- what was asked -------------------------------------------------------------------------------


def read_campaign(path: Path, problems: Problems) -> ExportedCampaign | None:
    """Read ``campaign.json``.

    Args:
        path: the file.
        problems: collects faults.

    Returns:
        What was asked; None, with the problems noted, where something is missing or bad.

    Raises:
        ImportFailed: where the file is no JSON object, or too large.
    """
    with path.open("rb") as file:
        data = file.read(LARGEST_DOCUMENT + 1)
    if len(data) > LARGEST_DOCUMENT:
        problems.stop("", "", f"has more than {LARGEST_DOCUMENT:,} bytes")
    try:
        value = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        problems.stop("", "", "is not JSON in UTF-8")
    document = JsonObject.of(value, "$", problems)
    if document is None:
        return None
    kind = document.text("kind", MAX_NAME)
    if kind is not None and kind not in KINDS:
        document.complain("kind", f"must be one of {', '.join(KINDS)}: others have no ratings here")
    name, per_item = document.text("name", MAX_NAME), document.parse_integer("raters_per_item")
    if per_item is not None and not 1 <= per_item <= MOST_RATERS_PER_ITEM:
        document.complain("raters_per_item", f"must lie between 1 and {MOST_RATERS_PER_ITEM}")
    labels, axes = document.texts("scale_labels", LONGEST_LABEL), _axes(document)
    if labels is not None and len(labels) != HIGHEST:
        document.complain("scale_labels", f"must be {HIGHEST} texts")
    below = _optional_integer(document, "axes_below")
    if below is not None and not LOWEST < below <= HIGHEST + 1:
        document.complain("axes_below", f"must lie between {LOWEST + 1} and {HIGHEST + 1}")
    guidelines, forms = _guidelines(document), _forms(document, kind or "")
    if kind in (*PAIRED, "systems") and not document.value.get("forms"):
        document.complain("forms", "must hold a form: pairs are compared by one")
    simulated = document.flag("simulated")
    spreading = _spreading(document, kind or "")
    if problems.found or name is None or per_item is None or labels is None or axes is None:
        return None
    return ExportedCampaign(
        *(name, KINDS[kind or ""], per_item, labels, axes, below),
        guidelines,
        forms,
        bool(simulated),
        *spreading,
    )


def _spreading(
    document: JsonObject, kind: str
) -> tuple[Allocation, Target, float | None, int | None]:
    """Allocation, target, its value and the budget, which files of older versions do not have."""
    given = {key: document.value.get(key) for key in ("allocation", "target")}
    for key, known in (("allocation", ALLOCATIONS), ("target", TARGETS)):
        if given[key] is not None and given[key] not in list(known):
            document.complain(key, f"must be one of {', '.join(known)}")
    allocation = ALLOCATIONS.get(str(given["allocation"]), "uniform")
    target = TARGETS.get(str(given["target"]), "none")
    if kind == "systems" and (allocation, target) != ("uniform", "none"):
        document.complain("allocation", "must be uniform, without a target: lists show all systems")
    value, budget = None, _optional_integer(document, "budget")
    if target != "none" and (value := document.number("target_value")) is not None:
        width = HIGHEST_RATING_WIDTH if kind in PAIRED else HIGHEST_WIDTH
        most = 100 if target == "pairs" else width
        if not 0 < value <= most:
            document.complain("target_value", f"must be above 0 and at most {most}")
    if budget is not None and (kind not in PAIRED or not 1 <= budget <= LARGEST_BUDGET):
        document.complain("budget", f"must be 1 to {LARGEST_BUDGET:,}, and of pairs")
    return allocation, target, value, budget


def _axes(document: JsonObject) -> tuple[Mapping[str, str], ...] | None:
    axes = document.children("axes")
    if axes is None:
        return None
    if len(axes) > MOST_AXES:
        document.complain("axes", f"are more than {MOST_AXES}")
    found = []
    for axis in axes[:MOST_AXES]:
        texts = {key: axis.text(key, MAX_ASPECT * 5) for key in ("key", "name", "question")}
        found.append({key: text for key, text in texts.items() if text is not None})
    if len({axis.get("key") for axis in found}) < len(found):
        document.complain("axes", "have two of one key")
    return tuple(found)


def _guidelines(document: JsonObject) -> dict[int, str]:
    found = {}
    for one in document.children("guidelines") or ():
        number, text = one.parse_integer("version"), one.text("text", LONGEST_GUIDELINES, True)
        if number is None or text is None:
            continue
        if number < 1 or number in found:
            one.complain("version", "must be 1 or more, once each")
        found[number] = text
    return found


def _forms(document: JsonObject, kind: str) -> dict[int, Form]:
    found: dict[int, Form] = {}
    for one in document.children("forms") or ():
        number, schema = one.parse_integer("version"), one.child("form")
        if number is None or schema is None:
            continue
        if number < 1 or number in found:
            one.complain("version", "must be 1 or more, once each")
        try:
            form = form_of(schema.value)
        except FormError as error:
            for fault in error.faults:
                one.complain(f"form.{fault.path}".rstrip("."), fault.text)
            continue
        if kind in KINDS and not is_about(form, kind):
            one.complain("form.level", f"{form.level} is not what raters of this kind see")
        found[number] = form
    return found


# --- the ratings ----------------------------------------------------------------------------------


def read_ratings(
    path: Path, exported: ExportedCampaign, problems: Problems
) -> Iterator[RatingLine]:
    """Read ``ratings.jsonl``.

    Args:
        path: JSON lines, as ``exporters.rating_files.json_lines`` writes them.
        exported: what the campaign asked.
        problems: collects faults. A line with a fault is left out.

    Returns:
        Iterator over the ratings of regular items; training and attention items are passed over.

    Raises:
        ImportFailed: as in ``json_lines``; where there are more than ``MOST_RATINGS`` lines.
    """
    for count, (number, value) in enumerate(json_lines(path, problems), start=1):
        if count > MOST_RATINGS:
            problems.stop(number, "", f"is beyond the {MOST_RATINGS:,} ratings of a file")
        before = len(problems.found)
        line = JsonObject.of(value, number, problems)
        if line is None or line.value.get("role") in ("training", "attention"):
            continue
        rating = _rating(line, number, exported)
        if rating is not None and len(problems.found) == before:
            yield rating


def _rating(line: JsonObject, number: int, exported: ExportedCampaign) -> RatingLine | None:
    rater = _RATER.match(line.text("rater", MAX_NAME) or "")
    if rater is None and line.has("rater"):
        line.complain("rater", "must be a pseudonym, as rater 3")
    turn = None if exported.kind in WHOLE else line.parse_integer("turn")
    if exported.kind in WHOLE and line.value.get("turn") is not None:
        line.complain("turn", "must be null: whole dialogues are rated")
    state = line.text("rater_state", MAX_NAME)
    if state not in (None, "active", "excluded"):
        line.complain("rater_state", "must be active or excluded")
    revisions = line.children("revisions")
    if revisions is not None and not revisions:
        line.complain("revisions", "is empty")
    read = all_or_none([_revision(one, exported) for one in revisions or ()])
    if read is not None and [one.number for one in read] != list(range(1, len(read) + 1)):
        line.complain("revisions", "must be numbered from 1")
    dialogue, listed = line.text("dialogue", MAX_NAME), _listed(line, exported)
    system = listed[0] if listed else line.text("system", MAX_NAME)
    other = line.text("system_b", MAX_NAME) if exported.kind in PAIRED else None
    if other is not None and other == system:
        line.complain("system_b", "is the system itself")
    counts, position = line.flag("counts"), line.parse_integer("position")
    propensity, of_system = (_probability(line, key) for key in ("propensity", "system_propensity"))
    if dialogue is None or system is None or rater is None or counts is None or position is None:
        return None
    return RatingLine(
        line=number,
        dialogue=dialogue,
        turn=turn,
        system=system,
        system_b=other,
        systems=listed,
        rater=int(rater[1]),
        is_excluded=state == "excluded",
        counts=counts,
        position=position,
        propensity=propensity,
        system_propensity=of_system,
        revisions=read or (),
    )


def _listed(line: JsonObject, exported: ExportedCampaign) -> tuple[str, ...]:
    if exported.kind != "systems":
        return ()
    names = line.texts("systems", MAX_NAME) or ()
    if line.has("systems") and not 2 <= len(set(names)) == len(names) <= MOST_SYSTEMS:
        line.complain("systems", f"must be 2 to {MOST_SYSTEMS} names, each once")
    return tuple(names)


def _revision(line: JsonObject, exported: ExportedCampaign) -> RevisionLine | None:
    number, flagged = line.parse_integer("revision"), line.flag("flagged")
    comment, created = line.text("comment", LONGEST_COMMENT, True), _moment(line, "created_at")
    guidelines = _optional_integer(line, "guidelines")
    if guidelines is not None and guidelines not in exported.guidelines:
        line.complain("guidelines", f"the campaign has no version {guidelines} of them")
    shown = None if line.value.get("shown_at") is None else _moment(line, "shown_at")
    score, low, form, answers, question_ms = None, None, None, None, None
    if exported.forms:
        form, given = line.parse_integer("form"), line.child("answers")
        answers = None if given is None else given.value
        if form is not None and form not in exported.forms:
            line.complain("form", f"the campaign has no version {form} of its form")
        question_ms = _question_ms(line)
    else:
        score = line.parse_integer("score")
        if score is not None and not LOWEST <= score <= HIGHEST:
            line.complain("score", f"must lie between {LOWEST} and {HIGHEST}")
        low = None if line.value.get("low_axes") is None else line.texts("low_axes", MAX_ASPECT)
        if unknown := set(low or ()) - {axis["key"] for axis in exported.axes}:
            line.complain("low_axes", f"the campaign has no axis {min(unknown)!r}")
    if number is None or flagged is None or comment is None or created is None:
        return None
    return RevisionLine(
        number=number,
        score=score,
        low_axes=low,
        form=form,
        answers=answers,
        question_ms=question_ms,
        flagged=flagged,
        comment=comment,
        guidelines=guidelines,
        first_key_ms=_optional_integer(line, "first_key_ms"),
        submit_ms=_optional_integer(line, "submit_ms"),
        active_ms=_optional_integer(line, "active_ms"),
        shown_at=shown,
        created_at=created,
    )


def _moment(line: JsonObject, key: str) -> datetime | None:
    if (text := line.text(key, 60)) is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or not 1970 < moment.year < 2200:
        line.complain(key, "must be a moment in ISO 8601 with its zone")
        return None
    return moment


def _question_ms(line: JsonObject) -> dict[str, int] | None:
    if line.value.get("question_ms") is None or (given := line.child("question_ms")) is None:
        return None
    times = {key: given.parse_integer(key) for key in given.value}
    return {key: time for key, time in times.items() if time is not None}


def _optional_integer(line: JsonObject, key: str) -> int | None:
    return None if line.value.get(key) is None else line.parse_integer(key)


def _probability(line: JsonObject, key: str) -> float | None:
    if line.value.get(key) is None or (value := line.number(key)) is None:
        return None
    if not 0 < value <= 1:
        line.complain(key, "must be above 0 and at most 1")
    return value
