"""Which language a corpus is in: as it was said, or guessed from the scripts of its texts. Pure.

A language is the code that web pages use (BCP 47's primary subtag): ``en``, ``zh``, ``ja``. "" is:
not known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

import regex

NAMES = {
    "am": "Amharic", "ar": "Arabic", "bn": "Bengali", "cs": "Czech", "da": "Danish", "de": "German",
    "el": "Greek", "en": "English", "es": "Spanish", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "gu": "Gujarati", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian",
    "hy": "Armenian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ka": "Georgian",
    "km": "Khmer", "kn": "Kannada", "ko": "Korean", "lo": "Lao", "ml": "Malayalam", "my": "Burmese",
    "nl": "Dutch", "no": "Norwegian", "pa": "Punjabi", "pl": "Polish", "pt": "Portuguese",
    "ro": "Romanian", "ru": "Russian", "si": "Sinhala", "sv": "Swedish", "ta": "Tamil",
    "te": "Telugu", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu",
    "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
_CODE = re.compile(r"[a-z]{2,3}")
_SCRIPT_LANGUAGE = {
    "Arabic": "ar", "Armenian": "hy", "Bengali": "bn", "Cyrillic": "ru", "Devanagari": "hi",
    "Ethiopic": "am", "Georgian": "ka", "Greek": "el", "Gujarati": "gu", "Gurmukhi": "pa",
    "Hangul": "ko", "Hebrew": "he", "Kannada": "kn", "Khmer": "km", "Lao": "lo", "Malayalam": "ml",
    "Myanmar": "my", "Sinhala": "si", "Tamil": "ta", "Telugu": "te", "Thai": "th",
}  # fmt: skip
"""The language with the most speakers among those of the script: a guess, and shown as one."""
NOT_LATIN = frozenset({*_SCRIPT_LANGUAGE.values(), "fa", "ja", "uk", "ur", "zh"})
"""Languages that are not written in Latin letters."""
_LATIN, _HAN, _KANA = "Latin", "Han", "Kana"
_LETTERS = {
    **{script: regex.compile(rf"\p{{{script}}}") for script in (*_SCRIPT_LANGUAGE, _LATIN, _HAN)},
    _KANA: regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
}
_ANY_LETTER = regex.compile(r"\p{L}")
_ENGLISH = frozenset(
    {
        "the",
        "and",
        "you",
        "to",
        "is",
        "it",
        "of",
        "that",
        "in",
        "what",
        "do",
        "i'm",
        "don't",
        "it's",
        "have",
        "are",
        "was",
        "for",
        "my",
        "your",
        "with",
        "not",
        "but",
        "how",
        "this",
        "be",
    }
)
"""Words that make up a good third of English talk and are rare, one with another, in other
languages."""
_WORD = re.compile(r"[a-z']+")
_ENGLISH_SHARE = 0.08
_KANA_SHARE = 0.05
_ENOUGH_LETTERS = 20_000


def language_fault(code: str) -> str:
    """What is wrong with a language as somebody gave it, in words; "" where nothing is."""
    if not code or _CODE.fullmatch(code):
        return ""
    return "must be the two or three lower-case letters of a language's code, such as en, zh or ja"


def language_name(code: str) -> str:
    """The English name of a language, or its code where the list has none; "not known" for ""."""
    return NAMES.get(code, code) if code else "not known"


def guess_language(texts: Iterable[str]) -> str:
    """The language that the letters of ``texts`` tell, or "".

    Han with kana is Japanese, Han alone Chinese; other scripts stand for their most widely spoken
    language. Latin letters are English only where English function words are common, else "": the
    script alone does not tell. Reading ends where about 20,000 letters are counted.
    """
    scripts: Counter[str] = Counter()
    words = english = letters = 0
    for text in texts:
        letters += len(_ANY_LETTER.findall(text))
        if text.isascii():
            scripts[_LATIN] += sum(map(str.isalpha, text))
        else:
            scripts.update(
                {script: len(pattern.findall(text)) for script, pattern in _LETTERS.items()}
            )
        found = _WORD.findall(text.lower().replace("’", "'"))
        words += len(found)
        english += sum(word in _ENGLISH for word in found)
        if letters >= _ENOUGH_LETTERS:
            break
    if not letters or not scripts:
        return ""
    east_asian = scripts[_HAN] + scripts[_KANA]
    if east_asian > scripts.total() / 2:
        return "ja" if scripts[_KANA] > _KANA_SHARE * east_asian else "zh"
    script, count = scripts.most_common(1)[0]
    if count <= scripts.total() / 2:
        return ""
    if script == _LATIN:
        return "en" if english > _ENGLISH_SHARE * words else ""
    return _SCRIPT_LANGUAGE.get(script, "")
