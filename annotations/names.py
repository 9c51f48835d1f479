"""Names that people give themselves and their teams: short plain text that cannot be taken for
another name."""

from __future__ import annotations

import re
import unicodedata

from django.utils.translation import gettext as _

TAKEN_FOR_EACH_OTHER = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC")
"""Alphabets whose letters look alike. A word of two of them was made to look like another word."""
_LOOK_LATIN = frozenset(
    "авеѕікмнорсутхјԁԛԝһҽӏүԍ"  # Cyrillic
    "АВЕЅІКМНОРСУТХЈԚԜҺҮԌ"
    "αεικνορτυχγ"  # Greek
    "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧ"
    "օոսցհզլ"  # Armenian
)
"""Letters of other alphabets that are drawn as a Latin one. Not all of them: the common ones."""
_STACKED = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]{3}")
"""Three combining marks in a row."""
_WORD = re.compile(r"[^\W\d_]+")


def tidied(name: str) -> str:
    """The name in the form it is kept in: composed letters, wide and small-capital forms as plain
    ones, single blanks."""
    return " ".join(unicodedata.normalize("NFKC", name).split())


def fold(name: str) -> str:
    """What two names have in common that a reader would take for one: case, blanks and joints do
    not tell them apart."""
    return re.sub(r"[\s._-]+", " ", tidied(name).casefold()).strip()


def name_fault(name: str) -> str:
    """What is wrong with a tidied name, in words; "" where nothing is.

    Refused: characters that are not seen (control, zero width, direction, half surrogate pairs), no
    letter or digit at all, stacked marks, and letters of one alphabet that stand for those of
    another.
    """
    for character in name:
        if unicodedata.category(character)[0] == "C" or unicodedata.category(character) in (
            "Zl",
            "Zp",
        ):
            return _("It holds a character that cannot be seen (%(code)s).") % {
                "code": f"U+{ord(character):04X}"
            }
    if not any(character.isalnum() for character in name):
        return _("It needs at least one letter or digit.")
    if _STACKED.search(name):
        return _("It stacks more than two marks on one letter.")
    if any(_imitates_another(word) for word in _WORD.findall(name)):
        return _(
            "A word in it mixes alphabets or looks like a Latin word. Write each word in one "
            "alphabet."
        )
    return ""


def _imitates_another(word: str) -> bool:
    alphabets = {unicodedata.name(letter, "").split(" ")[0] for letter in word} & set(
        TAKEN_FOR_EACH_OTHER
    )
    if len(alphabets) > 1:
        return True
    return len(word) > 1 and all(letter in _LOOK_LATIN for letter in word)
