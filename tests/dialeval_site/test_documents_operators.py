"""What operators seldom do is told in words that still fit: the trial of a restore, and the update
with a break."""

from __future__ import annotations

import re
import shlex

from django.core.management import get_commands

from dialeval_site.config import environment
from dialeval_site.config.environment import SETTINGS
from tests.dialeval_site.documents import code_words, flat, sections, text_of
from tests.dialeval_site.example_checks import check_make, check_management, check_systemctl
from tests.site import PROJECT

# --- the trial of a restore -----------------------------------------------------------------------


def trial() -> tuple[dict[str, str], list[str], list[str]]:
    """The trial's whole environment, and its two commands of ``manage.py``."""
    text = flat(sections(text_of("operators.md"))["Backup"])
    found = re.search(r"`(env -i [^`]+)`, then the same with `([^`]+)`", text)
    assert found, "the trial has an environment of its own"
    words = shlex.split(found[1])[2:]
    place = next(number for number, word in enumerate(words) if "=" not in word)
    assert words[place : place + 2] == [".venv/bin/python", "manage.py"]
    return (
        dict(word.split("=", 1) for word in words[:place]),
        words[place + 2 :],
        shlex.split(found[2]),
    )


def test_a_restore_that_is_tried_has_a_folder_of_its_own_and_nothing_of_the_site_s() -> None:
    """With the site's broker its workers would take the site's work, with its mail server they
    would send again."""
    given, _, _ = trial()
    assert set(given) == {"PATH", "DIALEVAL_HOME"}
    not_default = [one.name for one in SETTINGS if environment.text(one.name, given) != one.default]
    assert not_default == ["DIALEVAL_HOME"]


def test_a_restore_is_tried_with_commands_that_exist() -> None:
    _, restore, run = trial()
    assert (restore[0], run[0]) == ("restore", "run")
    check_management(restore)
    check_management(run)


# --- the update with a break ----------------------------------------------------------------------


def test_the_plain_way_that_the_changelog_asks_for_is_told_where_it_says() -> None:
    changes = flat((PROJECT / "CHANGELOG.md").read_text(encoding="utf-8"))
    asked = re.findall(
        r"\*\*Update from [\d.]+ the plain way\*\* \(\[[^\]]+\]\(docs/([\w.]+)[^)]*\)\)", changes
    )
    assert len(asked) == changes.count(" the plain way**") > 0, "each is said with a link"
    assert all(plain_way(document) for document in asked)


def plain_way(document: str) -> str:
    """The paragraph that begins with it, under the heading on updates."""
    updates = [
        text
        for heading, text in sections(text_of(document)).items()
        if heading.startswith("Updates")
    ]
    (told,) = re.findall(r"^The plain way,.*$", "\n".join(updates), flags=re.MULTILINE)
    return str(told)


def test_the_plain_way_is_of_steps_that_exist() -> None:
    steps = [shlex.split(word) for word in code_words(plain_way("operators.md"))]
    assert [step[0] for step in steps] == ["systemctl", "make", "migrate", "collectstatic"]
    check_systemctl(steps[0][1:])
    check_make(steps[1][1:])
    assert {"migrate", "collectstatic"} <= set(get_commands())
