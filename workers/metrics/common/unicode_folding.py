"""One spelling for what looks the same: curly and straight quotes, dashes, spaces, composed and
decomposed letters.

A keyboard, a word processor or a model decides whether an apostrophe is ``'`` or ``’``. Counting
words must not. Nothing that a reader tells apart is merged: no accent, no case, no dotless ı, no
joined emoji.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

import regex

_SINGLE_QUOTES = "‘’‚‛′‵‹›´ʹʻʼʽ❛❜＇"
_DOUBLE_QUOTES = "“”„‟″‶«»❝❞〝〞〟＂"
_DASHES = "‐‑‒–—―−⸺⸻﹘﹣－־"
_SPACES = "\x85\u00a0\u1680\u2028\u2029\u202f\u205f\u3000\u2800\u3164\uffa0" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_INVISIBLE = (
    # U+FE0E and U+FE0F: an emoji as text or in colour
    "\u00ad\u034f\u061c\u200b\u200e\u200f\ufe0e\ufe0f\ufeff"
    + "".join(map(chr, range(0x202A, 0x202F)))
    + "".join(map(chr, [*range(0x2060, 0x2065), *range(0x2066, 0x2070)]))
)
# Full-width Latin and half-width Katakana, and Latin ligatures, are the same letters in another
# width or join.
_COMPATIBLE = [*range(0xFF01, 0xFFBF), *range(0xFFC2, 0xFFE7), *range(0xFB00, 0xFB07)]
_TABLE: dict[int, str | None] = {
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in _COMPATIBLE},
    **dict.fromkeys(map(ord, _SINGLE_QUOTES), "'"),
    **dict.fromkeys(map(ord, _DOUBLE_QUOTES), '"'),
    **dict.fromkeys(map(ord, _DASHES), "-"),
    **dict.fromkeys(map(ord, _SPACES), " "),
    **dict.fromkeys(map(ord, _INVISIBLE), None),
    ord("…"): "...",
}
_JOINING_SCRIPTS = (
    r"\p{Arabic}\p{Syriac}\p{Mongolian}\p{Nko}\p{Mandaic}\p{Devanagari}\p{Bengali}\p{Gurmukhi}"
    r"\p{Gujarati}\p{Oriya}\p{Tamil}\p{Telugu}\p{Kannada}\p{Malayalam}\p{Sinhala}\p{Khmer}"
    r"\p{Myanmar}\p{Tibetan}"
)
# A joiner stays inside an emoji, and after a letter of a script in which it changes how the word is
# written.
_JOINER = regex.compile(
    r"((?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}])\u200d(?=\p{Extended_Pictographic})"
    rf"|(?<=[{_JOINING_SCRIPTS}])[\u200c\u200d])|[\u200c\u200d]"
)
# The tags that make the flags of England, Scotland and Wales; elsewhere tags are invisible text.
_TAGS = regex.compile("(\U0001f3f4[\U000e0020-\U000e007e]+\U000e007f)|[\U000e0000-\U000e007f]")


def fold(text: str) -> str:
    """Write what looks the same in one way.

    ASCII text comes back as it is. Idempotent.

    Returns:
        The text in NFC with plain quotes, dashes and spaces, without invisible characters. ``…``
        becomes three dots; full-width Latin, half-width Katakana and Latin ligatures become
        ordinary letters.
    """
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFC", text).translate(_TABLE)
    for pattern in (_JOINER, _TAGS):
        plain = pattern.sub(lambda match: match[1] or "", plain)
    return unicodedata.normalize("NFC", plain)


_WIDE = "".join(set(map(chr, _COMPATIBLE)) - {*_SINGLE_QUOTES, *_DOUBLE_QUOTES, *_DASHES, *_SPACES})
_KINDS: Mapping[str, tuple[str, str, str]] = {
    "quotes": ("curly quotes", "straight ones", _SINGLE_QUOTES + _DOUBLE_QUOTES),
    "dashes": ("long dashes", "hyphens", _DASHES),
    "ellipses": ("ellipsis characters", "three dots", "…"),
    "spaces": ("special spaces", "plain ones", _SPACES),
    "invisible": ("invisible characters", "", _INVISIBLE),
    "widths": ("full-width letters and ligatures", "plain letters", _WIDE),
}
"""By kind: its name, what it is read as ("" where it is passed over), and its characters."""
_CHARACTERS = {
    kind: frozenset(
        one for one in characters if fold(one) != one
    )  # not all code points are letters
    for kind, (_, _, characters) in _KINDS.items()
}


def foldings(text: str) -> list[str]:
    """Kinds of characters that ``fold`` changes in a text.

    Returns:
        Each kind once: ``quotes``, ``dashes``, ``ellipses``, ``spaces``, ``invisible``, ``widths``
        (the keys of ``_KINDS``) or ``composition``. Empty where nothing changes.
    """
    if text.isascii():
        return []
    held = frozenset(text)
    kinds = [kind for kind, characters in _CHARACTERS.items() if held & characters]
    if "invisible" not in kinds and any(
        match[1] is None for pattern in (_JOINER, _TAGS) for match in pattern.finditer(text)
    ):
        kinds.append("invisible")
    return kinds if unicodedata.is_normalized("NFC", text) else [*kinds, "composition"]


def folding_report(counts: Mapping[str, int]) -> list[str]:
    """Sentences for people that say how metrics read each kind of special character.

    Args:
        counts: number of responses by kind (see ``foldings``); 0 or absent where there are none.

    Returns:
        One sentence for each kind that occurs.
    """
    found = []
    for kind, (what, becomes, _) in _KINDS.items():
        if count := counts.get(kind):
            read = (
                f"are read as {becomes} by the metrics"
                if becomes
                else "are passed over by the metrics"
            )
            found.append(f"{what.capitalize()} in {_responses(count)} {read}.")
    if count := counts.get("composition"):
        found.append(
            f"Letters with combining marks in {_responses(count)} are read as composed ones."
        )
    return found


def _responses(count: int) -> str:
    return "1 response" if count == 1 else f"{count:,} responses"
