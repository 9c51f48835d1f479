"""What others may want to know of metric runs, without the workers knowing them."""

from django.dispatch import Signal

run_ended = Signal()
"""Sent when a run is done or failed for good, after the commit, with ``run_ids`` (list) and
``system_ids`` (set)."""

run_begins = Signal()
"""Sent by a worker that is about to take up a run: what others wait for is done first. With
``run_id``."""
