"""How many of a run's responses had a persona, for its signature: with and without one, scores may
differ in scale."""

from __future__ import annotations

from collections.abc import Collection

from workers.metrics.base import Example, SignatureFields


def has_persona(example: Example) -> bool:
    """Whether the responding speaker's persona has a line that is not blank."""
    return any(line.strip() for line in example.persona)


def persona_fields(having: Collection[bool]) -> SignatureFields:
    """Signature field that says how many of the responses had a persona.

    Args:
        having: for each response whether it had one.

    Returns:
        ``with_persona``: ``all``, ``some`` or ``none``. No field where there is no response: a
        system without any was not scored otherwise than its neighbours.
    """
    if not having:
        return ()
    return (("with_persona", "none" if not any(having) else "all" if all(having) else "some"),)
