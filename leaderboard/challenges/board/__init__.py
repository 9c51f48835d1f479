"""A round's leaderboard: which dialogues count, which submission stands for a team, who stands
where. Pure."""
