"""How much is asked of an endpoint at once, how long, and how often again. Pure."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """As the settings ``DIALEVAL_LLM_…`` give them."""

    at_once: int = 8
    seconds: float = 60.0
    """How long one attempt may take."""
    retries: int = 6
    """Times that a call is tried again; and times that the endpoint may say 429 with no answer in
    between."""
    requests_a_minute: int = 0
    """0: no limit; the same for tokens. ``Pace`` keeps them; here they say how many calls are
    reserved together."""
    tokens_a_minute: int = 0
