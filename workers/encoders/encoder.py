"""Where ``workers.inference.encoders.encoder`` was until 0.3: plug-ins import it from here. Goes in
0.4."""

from workers.inference.encoders.encoder import TextEncoder, encoder_for

__all__ = ["TextEncoder", "encoder_for"]
