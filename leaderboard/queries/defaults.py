"""How published intervals are made where nobody asks otherwise."""

RESAMPLES, SEED = 1000, 0
