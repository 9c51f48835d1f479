"""The desk: one page with all that an organiser, a participant or a rater looks after."""
