"""Words as LaTeX reads them: with pdflatex as it comes, in its default font encoding, without
further packages."""

from __future__ import annotations

from collections.abc import Sequence

_SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip
_PUNCTUATION = {
    "<": "$<$", ">": "$>$", "|": "$|$", '"': r"\textquotedblright{}",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}", "\N{EN DASH}": "--", "\N{EM DASH}": "---",
    "\N{HYPHEN}": "-", "\N{NON-BREAKING HYPHEN}": "-", "\N{MINUS SIGN}": "$-$",
    "\N{LEFT SINGLE QUOTATION MARK}": "`", "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": r"\textquotedblleft{}",
    "\N{RIGHT DOUBLE QUOTATION MARK}": r"\textquotedblright{}",
    "\N{SECTION SIGN}": r"\S{}", "\N{DEGREE SIGN}": r"$^{\circ}$", "\N{PRIME}": "$'$",
    "\N{VULGAR FRACTION ONE HALF}": r"$\frac{1}{2}$",
}  # fmt: skip
"""In the default encoding ``<``, ``>`` and ``|`` print as other characters; a language may make
``"`` a command."""
_MATHS = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "varepsilon", "ζ": "zeta",
    "η": "eta", "θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu",
    "ξ": "xi", "π": "pi", "ρ": "rho", "ς": "varsigma", "σ": "sigma", "τ": "tau", "υ": "upsilon",
    "φ": "varphi", "χ": "chi", "ψ": "psi", "ω": "omega", "ϵ": "epsilon", "ϑ": "vartheta",
    "ϕ": "phi", "ϖ": "varpi", "ϱ": "varrho", "\N{MICRO SIGN}": "mu", "Γ": "Gamma", "Δ": "Delta",
    "Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Π": "Pi", "Σ": "Sigma", "Υ": "Upsilon", "Φ": "Phi",
    "Ψ": "Psi", "Ω": "Omega", "±": "pm", "×": "times", "÷": "div", "·": "cdot", "√": "surd",
    "∑": "sum", "∏": "prod", "∞": "infty", "≤": "leq", "≥": "geq", "≠": "neq", "≈": "approx",
    "∝": "propto", "∈": "in", "⊕": "oplus", "‖": "Vert", "→": "to", "←": "leftarrow",
    "↔": "leftrightarrow", "↑": "uparrow", "↓": "downarrow", "⇒": "Rightarrow", "•": "bullet",
    "†": "dagger", "‡": "ddagger",
}  # fmt: skip
_LATIN_IN_SHAPE = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
"""Greek letters that TeX has no command for, because a Latin one looks the same."""
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵀ", "0123456789+-nT", strict=True))
_LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ᵢⱼₙₜ", "0123456789+-()ijnt", strict=True))
_WRITTEN = {
    **_SPECIAL,
    **_PUNCTUATION,
    **{sign: rf"$\{command}$" for sign, command in _MATHS.items()},
    **_LATIN_IN_SHAPE,
    **{sign: f"$^{{{plain}}}$" for sign, plain in _RAISED.items()},
    **{sign: f"$_{{{plain}}}$" for sign, plain in _LOWERED.items()},
}
_ARGUMENT_STARTS = ("[", "*")


def one_line(text: str) -> str:
    """Remove line breaks and other control characters.

    A comment or a row of a table ends where its line does.

    Args:
        text: any text.

    Returns:
        The text with single spaces in their place, without white space at its ends.
    """
    return " ".join(
        "".join(character if character.isprintable() else " " for character in text).split()
    )


def escaped(text: str) -> str:
    """Escape text for a cell in LaTeX.

    Args:
        text: any text.

    Returns:
        LaTeX on one line that prints the text in the default encoding. Letters of scripts that
        pdflatex cannot print stay as they are.
    """
    return "".join(_WRITTEN.get(character, character) for character in one_line(text))


def row_of(cells: Sequence[str]) -> str:
    r"""A row of a ``tabular``.

    Args:
        cells: in LaTeX, one per column.

    Returns:
        The cells, separated by ``&``, and ``\\``. A row that begins with a bracket or an asterisk
        has ``{}`` before it: the ``\\`` or the rule before it would take that for an argument of
        its own.
    """
    row = " & ".join(cells) + r" \\"
    return "{}" + row if row.startswith(_ARGUMENT_STARTS) else row


def comment(text: str) -> str:
    """A comment in LaTeX.

    Args:
        text: any text.

    Returns:
        The text on one line, behind ``%``.
    """
    return f"% {one_line(text)}"
