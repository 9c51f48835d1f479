"""Tokenisation: how lexical metrics cut a text into tokens: Unicode folding, normalisation, then a
tokeniser, each with a name.

``tokenize=auto`` follows the corpus's language: ``words`` for English, and where no language is
known, which cuts at white space and makes each character a token in scripts that are written
without spaces; sacrebleu's tokenisers for Chinese, Japanese and Korean, characters where words are
written without spaces, else sacrebleu's ``intl``. ``parlai``, ``rouge-score`` and ``py-rouge`` are
the rules of these packages to the letter, without Unicode folding: with them the papers' numbers
were computed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache

import regex

from workers.metrics import wordnet
from workers.metrics.base import Option, OptionValue, SignatureFields
from workers.metrics.common.lexical import (
    Analysis,
    RememberedAnalysis,
    TokenisedText,
    is_plain,
    normalise,
    normalised_tokens,
)
from workers.metrics.common.unicode_folding import fold

SACREBLEU = ("13a", "intl", "zh", "ja-mecab", "ko-mecab", "char")
"""sacrebleu's, by its names. Its flores and spm tokenisers download a model, so they are left
out."""
AS_PUBLISHED = ("parlai", "rouge-score", "py-rouge")

NORMALIZE = Option(
    "normalize",
    True,
    "lower-case, turn punctuation into spaces and drop articles (a, an, the) before counting words",
)
TOKENIZE = Option(
    "tokenize",
    "auto",
    "how tokens are cut: auto, by the corpus's language; words, at white space (single characters "
    "in Chinese, Thai and the like); one of sacrebleu's; parlai, rouge-score or py-rouge, as these "
    "packages do, without Unicode folding",
    ("auto", "words", *SACREBLEU, *AS_PUBLISHED),
)
UNICODE = Option(
    "unicode",
    "fold",
    "fold: quotes, dashes, spaces and composed letters are written one way first; none: the text "
    "as it is",
    ("fold", "none"),
)
OPTIONS = (NORMALIZE, TOKENIZE, UNICODE)
LOWERCASE = Option("lowercase", False, "compare in lower case")

_BY_LANGUAGE = {
    **dict.fromkeys(("", "en"), "words"),
    **dict.fromkeys(("th", "lo", "km", "my", "bo", "dz"), "char"),
    "zh": "zh",
    "ja": "ja-mecab",
    "ko": "ko-mecab",
}
_ARTICLES = frozenset({"a", "an", "the"})
_DOTLESS_CAPITALS = str.maketrans({"I": "ı", "İ": "i"})
# Unicode's, and what ASCII counts as such beside it
_PUNCTUATION = regex.compile(r"[\p{P}$+<=>^`|~]")
_CONTENT = regex.compile(
    r"[\p{L}\p{M}\p{N}\u200c\u200d]+|\p{So}(?:[\p{M}\p{Sk}]|[\U000e0020-\U000e007f]|\u200d\p{So})*"
)
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)
_ROUGE_SCORE_TOKEN = re.compile("[a-z0-9]+")
_NOT_PY_ROUGE = re.compile("[^a-z0-9]")
_SHORTEST_STEMMED = 4


def corpus_tokeniser(language: str) -> str:
    """Name of sacrebleu's tokeniser for a language.

    Args:
        language: a code such as ``en``; "" where it is not known.

    Returns:
        sacrebleu's own choice; ``char`` for languages that write words without spaces and have none
        of their own; ``13a`` where it has no other and words are separated by white space.
    """
    chosen = _BY_LANGUAGE.get(language, "13a")
    return "13a" if chosen == "words" else chosen


@dataclass(frozen=True, slots=True)
class Tokenisation:
    """Settings with the corpus's language put in. Equal ones cut every text alike."""

    tokenize: str
    normalize: bool
    unicode: str
    language: str = field(default="", compare=False)
    has_articles: bool = True
    """English articles are dropped by normalisation: elsewhere *a* and *an* are other words."""
    has_dotless_i: bool = False
    content_only: bool = False
    """ROUGE's: nothing but letters, figures and symbols, in lower case, normalised or not."""
    stem: bool = False
    lowercase: bool = False

    @classmethod
    def of(
        cls, options: Mapping[str, OptionValue], language: str = "", content_only: bool = False
    ) -> Tokenisation:
        """Put the corpus's language into a metric's options.

        Args:
            options: values of ``tokenize``, ``normalize``, ``unicode`` and, where the metric has
                them, ``stem`` and ``lowercase``.
            language: a code such as ``en``; "" where it is not known.
            content_only: whether tokens are letters, figures and symbols only, in lower case, as
                for ROUGE.

        Returns:
            Settings in which ``auto`` is replaced by a tokeniser's name, and ``unicode`` is
            ``none`` for the tokenisers of other packages (``AS_PUBLISHED``).
        """
        chosen = str(options["tokenize"])
        return cls(
            tokenize=_BY_LANGUAGE.get(language, "intl") if chosen == "auto" else chosen,
            normalize=bool(options["normalize"]),
            unicode="none" if chosen in AS_PUBLISHED else str(options["unicode"]),
            language=language,
            has_articles=language in ("", "en"),
            has_dotless_i=language in ("tr", "az"),
            content_only=content_only,
            stem=bool(options.get("stem", False)),
            lowercase=bool(options.get("lowercase", False)),
        )

    @property
    def facts(self) -> SignatureFields:
        """Fields for a signature: what ``auto`` resolved to, and the language that decided it."""
        return (
            ("tokenize", self.tokenize),
            ("unicode", self.unicode),
            ("language", self.language or "unknown"),
        )

    @property
    def analysis(self) -> Analysis:
        """Function from a text to its tokens; metrics of one tokenisation share its cache."""
        return _remembered(self)

    def prepared(self, text: str) -> str:
        """Fold and normalise a text, as it goes to a tokeniser.

        Returns:
            The text as it is where neither is asked for.
        """
        folded = fold(text) if self.unicode == "fold" else text
        return " ".join(self.normalised_tokens(folded)) if self.normalize else folded

    def normalised_tokens(self, text: str) -> list[str]:
        """Words of a text in lower case, without punctuation.

        Args:
            text: already folded where ``unicode`` is ``fold``; this folds nothing.

        Returns:
            The words in order, without articles where the language may be English.
        """
        if self.has_dotless_i:
            text = text.translate(_DOTLESS_CAPITALS)
        if self.has_articles and text.isascii():
            return normalised_tokens(text)
        words = _PUNCTUATION.sub(" ", text.lower()).split()
        return [word for word in words if word not in _ARTICLES] if self.has_articles else words


@cache
def _remembered(settings: Tokenisation) -> Analysis:
    return RememberedAnalysis(_content(settings) if settings.content_only else _tokens(settings))


def _tokens(settings: Tokenisation) -> Analysis:
    cut = _cut(settings)
    if settings.lowercase:
        return lambda text: TokenisedText(tuple(cut(text.lower())))
    return lambda text: TokenisedText(tuple(cut(text)))


def _cut(settings: Tokenisation) -> Callable[[str], list[str]]:
    if settings.tokenize == "parlai":
        return normalised_tokens if settings.normalize else str.split
    if settings.tokenize == "rouge-score":
        clean = normalise if settings.normalize else str
        return lambda text: _ROUGE_SCORE_TOKEN.findall(clean(text).lower())
    if settings.tokenize == "py-rouge":
        return _py_rouge_tokens(normalise if settings.normalize else str)
    if settings.tokenize == "words":
        folded = fold if settings.unicode == "fold" else str
        words = settings.normalised_tokens if settings.normalize else str.split
        of_ascii = normalised_tokens if settings.normalize and settings.has_articles else words

        def words_of(text: str) -> list[str]:
            if text.isascii():  # nearly always: nothing to fold
                return of_ascii(text)
            return words(_UNSPACED.sub(r" \g<0> ", folded(text)))

        return words_of
    from sacrebleu.metrics.bleu import BLEU  # here, because listing the metrics must not load it

    tokenizer = BLEU(tokenize=settings.tokenize).tokenizer
    return lambda text: tokenizer(settings.prepared(text)).split()


def _py_rouge_tokens(clean: Callable[[str], str]) -> Callable[[str], list[str]]:
    """NLTK's Treebank tokens of letters a to z and figures, with *cannot* in one."""
    from nltk.tokenize import TreebankWordTokenizer

    treebank = TreebankWordTokenizer().tokenize

    def tokens_of(text: str) -> list[str]:
        plain = _NOT_PY_ROUGE.sub(" ", clean(text).lower()).replace("cannot", "_cannot_")
        return [token.replace("_cannot_", "cannot") for token in treebank(plain)]

    return tokens_of


def _content(settings: Tokenisation) -> Analysis:
    """Tokens without punctuation, in lower case; stemmed by Porter's rules for English where asked
    for."""
    analyse = _remembered(replace(settings, content_only=False, stem=False))
    stemmed = None
    if settings.stem:
        stemmed = _py_rouge_stem() if settings.tokenize == "py-rouge" else _porter_stem()

    def content_of(text: str) -> TokenisedText:
        found = analyse(text)
        # Else the other metrics' tokens, already counted
        if not (settings.normalize and is_plain(found.tokens)):
            found = TokenisedText(
                tuple(one for token in found.tokens for one in _CONTENT.findall(token.lower()))
            )
        if stemmed is None:
            return found
        return TokenisedText(
            tuple(
                stemmed(one) if len(one) >= _SHORTEST_STEMMED and one.isascii() else one
                for one in found.tokens
            )
        )

    return content_of


def _porter_stem() -> Callable[[str], str]:
    # Here, because listing the metrics must not load NLTK
    from nltk.stem.porter import PorterStemmer

    return lru_cache(maxsize=50_000)(PorterStemmer().stem)


def _py_rouge_stem() -> Callable[[str], str]:
    """py-rouge's, without its own list of 137 words: base forms of irregular words, and Porter's
    stems as he published them."""
    from nltk.stem.porter import PorterStemmer

    irregular = wordnet.irregular_forms()
    stem = PorterStemmer(PorterStemmer.ORIGINAL_ALGORITHM).stem
    return lru_cache(maxsize=50_000)(lambda word: irregular.get(word) or stem(word))
