"""Case studies: single responses with all scores on one scale."""
