"""The scales of USR's questionnaire (Mehri & Eskenazi 2020, ACL, section 3), which two of the
formats share."""

from __future__ import annotations

USR_SCALES: dict[str, tuple[float, float]] = {
    "Understandable": (0.0, 1.0),
    "Natural": (1.0, 3.0),
    "Maintains Context": (1.0, 3.0),
    "Engaging": (1.0, 3.0),
    "Uses Knowledge": (0.0, 1.0),
    "Overall": (1.0, 5.0),
}
