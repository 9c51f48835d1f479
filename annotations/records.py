"""Where ``annotations.formats.records`` was until 0.3: plug-ins import ``Utterance`` from it.
Goes in 0.4."""

from annotations.formats.records import Utterance

__all__ = ["Utterance"]
