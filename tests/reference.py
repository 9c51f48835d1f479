"""Reference pages from the code: ``python -m tests.reference FOLDER`` (``make reference``).

``commands.md`` has each command's help; ``settings.md``, ``metrics.md``, ``formats.md`` and
``questions.md`` what is declared; ``addresses.md`` the URL configuration with each view's
docstring, and who may open it by the permission matrices, which tests hold to the site. Nothing
here is written by hand.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import django
from django.core.management import get_commands
from django.urls import URLPattern, get_resolver

from annotations.formats.exporters.rating_files import COLUMNS
from annotations.formats.exporters.registry import exporters
from annotations.formats.importers.registry import importers
from annotations.questions import templates
from annotations.questions.json_schema import json_schema
from annotations.questions.schema import COMMON_FIELDS, FIELDS
from dialeval_site.config.environment import SETTINGS
from tests.dialeval_site.example_checks import parser_of
from workers.metrics.base import Metric, Option
from workers.metrics.common.configuration import Configuration
from workers.metrics.common.not_available import NOT_AVAILABLE
from workers.metrics.common.signature_facts import FACTS
from workers.metrics.registry import built_in_metrics

APPS = (
    "common",
    "annotations",
    "annotations.campaigns",
    "workers",
    "leaderboard",
    "dialeval_site",
)
KEYS_OF_JSON = Path(__file__).parent / "dialeval_site" / "command_json.json"
REFUSED = {"login", "401", "403", "404"}
WHO = {
    "taking part": "who takes part",
    "excluded": "excluded raters",
    "member": "members of the team",
    "rival": "members of other teams",
    "disqualified": "members of a disqualified team",
    "organiser": "organisers",
}
"""What the matrices call a role: what a reader calls it. A superuser is an organiser."""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(
        "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in row) + " |"
        for row in lines
    )


# --- commands -------------------------------------------------------------------------------------


def commands() -> list[str]:
    return sorted(name for name, app in get_commands().items() if str(app) in APPS)


def commands_page() -> str:
    os.environ["COLUMNS"] = "100"  # by which argparse wraps
    printed = json.loads(KEYS_OF_JSON.read_text(encoding="utf-8"))
    parts = ["# Commands\n"]
    for name in commands():
        parts.append(f"## {name}\n\n```text\n{parser_of(name).format_help()}```\n")
        if name in printed:
            keys = "\n".join(printed[name])
            parts.append(f"What `--format json` prints:\n\n```text\n{keys}\n```\n")
    return "\n".join(parts)


# --- settings -------------------------------------------------------------------------------------


def settings_page() -> str:
    rows = [
        [f"`{one.name}`", f"`{one.default}`" if one.default else "–", one.help] for one in SETTINGS
    ]
    return "# Settings\n\n" + table(["name", "default", "what"], rows) + "\n"


# --- metrics --------------------------------------------------------------------------------------


def metrics_page() -> str:
    facts = [[f"`{name}`", what] for name, what in FACTS.items()]
    absent = [[one.name, one.why, one.citation, f"<{one.url}>"] for one in NOT_AVAILABLE]
    return "\n".join(
        [
            "# Metrics\n",
            *(_metric(one) for one in built_in_metrics()),
            "## Facts of a signature\n",
            table(["fact", "of what, and what it says"], facts),
            "\n## Published metrics that are not here\n",
            table(["metric", "why", "from", "code"], absent),
            "",
        ]
    )


def _metric(metric: Metric) -> str:
    default = Configuration.of(metric)
    low, high = (
        "open" if end is None else f"{end:g}" for end in default.value_range or (None, None)
    )
    facts = [
        f"{'higher' if metric.higher_is_better else 'lower'} is better, from {low} to {high}",
        f"levels: {', '.join(level for level in LEVELS if level in metric.levels)}",
        f"looks at: {', '.join(sorted(default.needs)) or 'the response alone'}",
        f"queue `{metric.queue}`, version {metric.version}",
        *(f"`{name}:{value}` in its signature" for name, value in metric.signature_facts),
    ]
    options = [
        [
            f"`{one.name}`",
            _default_of(one),
            ", ".join(f"`{_text(c)}`" for c in one.choices),
            one.help,
        ]
        for one in metric.options
    ]
    equations = [f"```latex\n{one.strip()}\n```" for one in metric.equation.split("\n\n")]
    parts = [
        f"## {metric.name}",
        metric.summary,
        *equations,
        metric.description,
        table(["option", "default", "choices", "what"], options) if options else "",
        "\n".join(f"* {fact}" for fact in facts),
        metric.citation,
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


LEVELS = ("turn", "dialogue", "system")


def _default_of(option: Option) -> str:
    return "empty" if option.default == "" else f"`{_text(option.default)}`"


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- formats --------------------------------------------------------------------------------------


def formats_page() -> str:
    read = [
        f"## {one.name}\n\n{one.summary}\n\n{one.description}\n\n```text\n{one.example}```\n"
        for one in importers().values()
    ]
    written = [[f"`{one.name}`", one.summary] for one in exporters().values()]
    columns = [[f"`{name}`", what] for name, what in COLUMNS.items()]
    return "\n".join(
        [
            "# What importers read\n",
            *read,
            "# What exporters write\n",
            table(["name", "what"], written),
            "\n## Columns of exported ratings\n",
            table(["column", "what"], columns),
            "",
        ]
    )


# --- questions ------------------------------------------------------------------------------------


def questions_page() -> str:
    forms = [templates.load(name) for name in templates.names()]
    types = [
        [f"`{kind}`", ", ".join(f"`{field}`" for field in fields)]
        for kind, fields in FIELDS.items()
    ]
    parts = [
        "# Forms of questions\n",
        "## Fields\n",
        f"Of every question: {', '.join(f'`{field}`' for field in COMMON_FIELDS)}.\n",
        table(["type", "fields of its own"], types),
        f"\n## JSON Schema\n\n```json\n{json.dumps(json_schema(), indent=1)}\n```\n",
    ]
    for form in forms:
        rows = [
            [
                f"`{one.key}`",
                f"`{one.type}`",
                one.text,
                one.measurement,
                ", ".join(map(_text, one.values)),
            ]
            for one in form.questions
        ]
        parts += [
            f"## {form.name}\n\n{form.title} (level `{form.level}`). {form.description}\n",
            table(["key", "type", "question", "measurement", "answers"], rows),
            f"\n{form.citation}\n",
        ]
    return "\n".join(parts)


# --- addresses ------------------------------------------------------------------------------------


def addresses() -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """(name, path, view) of every address but the admin's and the API's."""
    waiting = [("/", pattern) for pattern in reversed(get_resolver().url_patterns)]
    while waiting:
        start, pattern = waiting.pop()
        path = start + re.sub(r"<\w+:(\w+)>", r"<\1>", str(pattern.pattern))
        if isinstance(pattern, URLPattern):
            yield str(pattern.name), path.replace("^api/", "api/…"), pattern.callback
        elif pattern.namespace not in ("admin", "api"):
            waiting += [(path, inner) for inner in reversed(pattern.url_patterns)]


def addresses_page() -> str:
    allowed = who_may()
    rows = [
        [f"`{name}`", f"`{path}`", methods, who, (view.__doc__ or "").replace("``", "`")]
        for name, path, view in addresses()
        for methods, who in [allowed.get(name, ("", ""))]
    ]
    return (
        "# Addresses\n\nWho: the roles of the permission matrices that are not refused.\n\n"
        + table(["name", "path", "methods", "who", "what"], rows)
        + "\n"
    )


def who_may() -> dict[str, tuple[str, str]]:
    """By an address's name its methods, and which roles get something there."""
    # What the matrices import is of models, which are there when Django is set up.
    from tests.dialeval_site import (
        arena_matrix,
        campaign_matrix,
        challenge_matrix,
        corpus_matrix,
        judge_matrix,
        small_campaigns,
        small_challenges,
        small_corpora,
        training_matrix,
    )

    found: dict[str, dict[str, str]] = {}
    of_corpora = small_corpora.ROLE_NAMES
    for name, one in corpus_matrix.MATRIX.items():
        who = _roles(of_corpora, one.public.split())
        if one.private != one.public and one.private:
            who += f"; of a private corpus {_roles(of_corpora, one.private.split())}"
        found[name] = {one.method: who}
    for matrix, roles in (
        (campaign_matrix, small_campaigns.ROLE_NAMES),
        (challenge_matrix, small_challenges.ROLE_NAMES),
        (arena_matrix, of_corpora),
        (judge_matrix, of_corpora),
        (training_matrix, of_corpora),
    ):
        for row in matrix.MATRIX:  # type: ignore[attr-defined]
            got = row.roles.split() if isinstance(row.roles, str) else row.roles
            # The first row of a method is of what is open, those after it of exceptions.
            found.setdefault(row.name, {}).setdefault(row.method, _roles(roles, got))
    for name in (
        "login",
        "corpus-new",
        "corpus-add",
        "corpus-subset",
    ):  # whose POST tests of their own send
        found[name]["POST"] = found[name]["GET"]
    return {
        name: (
            ", ".join(methods),
            next(iter(methods.values()))
            if len(set(methods.values())) == 1
            else "; ".join(f"{method}: {who}" for method, who in methods.items()),
        )
        for name, methods in found.items()
    }


def _roles(names: Sequence[str], got: Sequence[str]) -> str:
    """Where nobody gets anything, the matrix asks for what is not there."""
    refused = REFUSED if set(got) - REFUSED else REFUSED - {"404"}
    allowed = [name for name, what in zip(names, got, strict=True) if what not in refused]
    if len(set(got)) == 1 or len(allowed) == len(names):
        return "everybody"
    if allowed == list(names[1:]):
        return "who is logged in"
    return ", ".join(WHO.get(name, name) for name in allowed if name != "superuser")


PAGES = {
    "commands.md": commands_page,
    "settings.md": settings_page,
    "metrics.md": metrics_page,
    "formats.md": formats_page,
    "questions.md": questions_page,
    "addresses.md": addresses_page,
}


def main(folder: Path) -> None:
    django.setup()
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")
    main(Path(sys.argv[1]))
