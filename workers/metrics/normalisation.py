"""How a text is cleaned before words are counted: the rule of ParlAI's F1 metric, which the CPD challenge kit uses.

Lower case; each ASCII punctuation mark becomes a space; the articles *a*, *an* and *the* become a space; white
space is collapsed. Marks outside ASCII (a curly apostrophe, an ellipsis sign) stay: the rule names ASCII only.
"""

from __future__ import annotations

import re
import string

_PUNCTUATION_TO_SPACE = str.maketrans(dict.fromkeys(string.punctuation, " "))
# A word boundary, not white space, ends an article: in "a’la" the "a" goes, because ’ is neither a letter nor ASCII.
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")


def normalise(text: str) -> str:
    """``text`` in lower case, without ASCII punctuation and articles, words separated by single spaces."""
    without_punctuation = text.lower().translate(_PUNCTUATION_TO_SPACE)
    return " ".join(_ARTICLE.sub(" ", without_punctuation).split())
