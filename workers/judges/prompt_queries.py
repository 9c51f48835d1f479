"""Every read of the prompts that organisers write: their texts, what is wrong with one by line,
where they are used (rounds of challenges, of which workers know nothing, say so themselves), what
they say of a response."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, QuerySet

from annotations.corpora.queries import newest_visible_versions
from annotations.formats.importers.problems import ImportFailed, Problem
from annotations.models import CorpusVersion, Response
from workers.judges.core.prompt_file import JudgePromptFile, read_prompt
from workers.judges.models import JudgePrompt, JudgeRun, PromptVersion
from workers.models import MetricRun

CALLED = "the prompt"


@dataclass(frozen=True, slots=True)
class Fault:
    """``line`` from 1; 0 where it is no line's."""

    line: int
    field: str
    message: str

    def __str__(self) -> str:
        where = f"line {self.line}" if self.line else ""
        return ": ".join(part for part in (where, self.field, self.message) if part)


@dataclass(frozen=True, slots=True)
class Checked:
    """``prompt`` is None where there are faults."""

    prompt: JudgePromptFile | None
    faults: tuple[Fault, ...] = ()


def text_of_form(text: str) -> str:
    """Browsers send a line end as two characters; a line end is one."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check(text: str) -> Checked:
    """Reads the text. A prompt of whole dialogues is refused, because the site's judge scores
    responses."""
    try:
        prompt = read_prompt(text, CALLED)
    except ImportFailed as failure:
        return Checked(None, tuple(_fault(one) for one in failure.problems))
    if prompt.step != "turn":
        message = (
            "write turn: a judge that is written here scores responses, and dialogues by the mean "
            "of their turns"
        )
        return Checked(None, (Fault(_line_of(text, "step"), "step", message),))
    return Checked(prompt)


def _fault(problem: Problem) -> Fault:
    if isinstance(problem.where, int):
        return Fault(problem.where, problem.field, problem.message)
    return Fault(0, problem.field or problem.where, problem.message)


def _line_of(text: str, key: str) -> int:
    lines = text.split("\n")
    return next(
        (
            number
            for number, line in enumerate(lines, start=1)
            if line.strip().startswith(f"{key}:")
        ),
        0,
    )


_NAME = re.compile(r"([a-z0-9_-]{1,60})@([1-9][0-9]{0,8})")
_OPTION = re.compile(
    r"[\[,]\s*(?:turn_)?prompt=\"?([a-z0-9_-]{1,60})@([1-9][0-9]{0,8})\"?\s*(?=[\],])"
)


# --- the shelf ------------------------------------------------------------------------------------


def text_of(name: str) -> str | None:
    """For ``workers.judges.core.prompt_file``: the text behind ``slug@number``."""
    version = version_named(name)
    return None if version is None else version.text


def version_named(name: str) -> PromptVersion | None:
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return PromptVersion.objects.filter(prompt__slug=match[1], number=int(match[2])).first()


# --- the list -------------------------------------------------------------------------------------


def prompts() -> QuerySet[JudgePrompt]:
    """Newest first, each with ``wordings``, ``newest`` (number) and ``trial_count``."""
    counted = JudgePrompt.objects.annotate(
        wordings=Count("versions", distinct=True),
        newest=Max("versions__number"),
        trial_count=Count("versions__trials", distinct=True),
    )
    return counted.order_by("-created_at", "slug")


@dataclass(frozen=True, slots=True)
class Use:
    """A version of a prompt in work: on a corpus, or in a round."""

    number: int
    configuration: str
    where: str
    """For people: the corpus and its version, or the round."""
    corpus: str = ""
    """Slug, where it is on a corpus."""
    version: int = 0
    """Of the corpus."""
    done: int = 0
    runs: int = 0


def uses_by_slug() -> dict[str, list[Use]]:
    """Of all prompts that are in use, by slug; by number, then by corpus."""
    found: dict[str, list[Use]] = {}
    for slug, use in _uses("prompt="):
        found.setdefault(slug, []).append(use)
    return {
        slug: sorted(uses, key=lambda one: (one.number, one.where)) for slug, uses in found.items()
    }


def uses_of(slug: str) -> list[Use]:
    uses = [use for named, use in _uses(f"prompt={slug}@") if named == slug]
    return sorted(uses, key=lambda one: (one.number, one.where))


def _uses(part: str) -> Iterator[tuple[str, Use]]:
    """(slug, use) of every configuration that holds the ``part``. Runs of withheld systems count,
    unnamed."""
    rows = (
        MetricRun.objects.filter(configuration__contains=part)
        .order_by()
        .values_list(
            "configuration",
            "state",
            "system__version__corpus__slug",
            "system__version__number",
            "system__withheld",
        )
        .annotate(Count("pk"))
    )
    counts: dict[tuple[str, str, int], dict[str, int]] = {}
    for configuration, state, corpus, version, _withheld, count in rows:
        states = counts.setdefault((configuration, corpus, version), {})
        states[state] = states.get(state, 0) + count
    for configuration, corpus, version in JudgeRun.objects.filter(
        configuration__contains=part
    ).values_list("configuration", "version__corpus__slug", "version__number"):
        counts.setdefault((configuration, corpus, version), {})
    for (configuration, corpus, version), states in counts.items():
        for slug, number in named_in(configuration):
            done, runs = states.get(MetricRun.State.DONE, 0), sum(states.values())
            yield (
                slug,
                Use(number, configuration, f"{corpus} v{version}", corpus, version, done, runs),
            )
    for naming in namings(part):
        for slug, number in named_in(naming.configuration):
            yield slug, Use(number, naming.configuration, naming.where)


def named_in(configuration: str) -> list[tuple[str, int]]:
    """The prompts of the shelf that a configuration's text names: (slug, number)."""
    return [(match[1], int(match[2])) for match in _OPTION.finditer(configuration)]


# --- two versions ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DiffLine:
    kind: str
    """``same``, ``added``, ``removed`` or ``gap``."""
    text: str = ""


def difference(before: str, after: str, context: int = 3) -> list[DiffLine]:
    """Line by line, with ``context`` lines around each change; empty where nothing differs."""
    kinds = {" ": "same", "+": "added", "-": "removed"}
    lines: list[DiffLine] = []
    unified = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=context)
    for number, line in enumerate(unified):
        if number < 2:
            continue  # the names of the two files
        if line.startswith("@@"):
            if lines:
                lines.append(DiffLine("gap"))
        else:
            lines.append(DiffLine(kinds[line[0]], line[1:]))
    return lines


# --- a response to look at ------------------------------------------------------------------------


def response_at(version: CorpusVersion, number: int) -> Response | None:
    """The version's response ``number`` (from 1) in the order of dialogues, turns and systems, of
    those shown."""
    rows = Response.objects.filter(system__version=version, system__withheld=False)
    ordered = rows.order_by("turn__dialogue__position", "turn__number", "system__position")
    return (
        ordered.select_related("system", "turn__dialogue")[number - 1 : number].first()
        if number >= 1
        else None
    )


def responses_shown(version: CorpusVersion) -> int:
    return Response.objects.filter(system__version=version, system__withheld=False).count()


def versions_with_responses(user: Any) -> list[CorpusVersion]:
    """The newest version of each visible corpus that has a response to show, by name."""
    return [one for one in newest_visible_versions(user) if response_at(one, 1) is not None]


@dataclass(frozen=True, slots=True)
class Naming:
    """A configuration that somebody wants computed, and where, for people."""

    configuration: str
    where: str


Provider = Callable[[str], Iterable[Naming]]
"""Given a text, every naming whose configuration holds it."""

_providers: list[Provider] = []


def register(provider: Provider) -> None:
    if provider not in _providers:
        _providers.append(provider)


def namings(part: str) -> list[Naming]:
    return [one for provider in _providers for one in provider(part)]
