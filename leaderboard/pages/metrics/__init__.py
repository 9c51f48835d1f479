"""The metric leaderboard: its table, sentence and pictures, what a reader may ask of it, and its
pages."""
