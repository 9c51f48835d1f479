"""The system leaderboard: its table, sentence and pictures, where metrics mislead on it, and its
page."""
