from django.apps import AppConfig


class ChallengesConfig(AppConfig):
    name = "leaderboard.challenges"
    label = "challenges"

    def ready(self) -> None:
        from annotations import site_identity
        from leaderboard.challenges import signals, uploads  # noqa: F401  connects them
        from leaderboard.challenges.actions import judge_budget
        from leaderboard.challenges.queries import board  # noqa: F401  its kind of stored answer
        from leaderboard.challenges.queries.contributions import (
            of_rounds_and_tracks,
            received_at,
            rounds_naming,
        )
        from leaderboard.pages.systems import query
        from leaderboard.queries import system_choice
        from workers.judges import budgets, prompt_queries

        budgets.register(judge_budget.pays_for)
        prompt_queries.register(rounds_naming)
        system_choice.register(of_rounds_and_tracks)
        query.register(received_at)
        site_identity.register(uploads.FILES)
