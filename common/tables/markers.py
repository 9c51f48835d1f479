"""The colour and the marker of a system: its stable number fixes both, in tables and in charts.

Eight colours (Okabe & Ito 2008, "Color universal design") and, beyond eight systems, six marker
shapes: 48 combinations before one repeats. Colours are named by number here; the style sheet holds
them for light and dark.
"""

from __future__ import annotations

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7", "#000000", "#F0E442")
"""The light theme's values, for readers of a figure who have no style sheet. Yellow, the palest,
comes last."""
SHAPES = ("circle", "square", "diamond", "triangle-up", "triangle-down", "cross")
"""Names as in plotly."""
LOOKS = len(COLOURS) * len(SHAPES)
_PATHS = {
    "circle": '<circle cx="6" cy="6" r="4.5"/>',
    "square": '<path d="M2 2h8v8H2z"/>',
    "diamond": '<path d="M6 .8 11.2 6 6 11.2.8 6z"/>',
    "triangle-up": '<path d="M6 1.2 11.2 10.4H.8z"/>',
    "triangle-down": '<path d="M6 10.8.8 1.6h10.4z"/>',
    "cross": '<path d="M4.2 1h3.6v3.2H11v3.6H7.8V11H4.2V7.8H1V4.2h3.2z"/>',
}


def colour_number(swatch: int) -> int:
    """Number of a system's colour, the N of the style sheet's class ``series-N``.

    Args:
        swatch: stable number of the system, from 0.

    Returns:
        Index into ``COLOURS``, from 0 to 7.
    """
    return swatch % len(COLOURS)


def colour(swatch: int) -> str:
    """Colour of a system in the light theme.

    Args:
        swatch: stable number of the system, from 0.

    Returns:
        One of ``COLOURS``, as ``#RRGGBB``.
    """
    return COLOURS[colour_number(swatch)]


def shape(swatch: int) -> str:
    """Marker shape of a system.

    Args:
        swatch: stable number of the system, from 0. Eight systems in a row share a shape.

    Returns:
        One of ``SHAPES``, named as in plotly.
    """
    return SHAPES[swatch // len(COLOURS) % len(SHAPES)]


def swatch_svg(swatch: int) -> str:
    """Marker of a system as a 12 px drawing.

    Args:
        swatch: stable number of the system, from 0.

    Returns:
        An ``<svg>`` element, coloured by the class ``series-N`` and hidden from screen readers.
    """
    return (
        f'<svg class="swatch series-{colour_number(swatch)}" viewBox="0 0 12 12" width="12" '
        f'height="12" aria-hidden="true" focusable="false">{_PATHS[shape(swatch)]}</svg>'
    )
