"""Losses and bounds of DEnsity and CMN: tensors in, tensors out, one to a file, each with the
equation it computes.

All compute in float32 at least, whatever the model runs in (``precision``).
"""
