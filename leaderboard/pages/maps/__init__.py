"""Maps of a corpus: of metrics that say the same, and of what systems said."""
