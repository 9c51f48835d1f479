from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        from leaderboard import signals  # noqa: F401  connects them

        # As the following, kinds of stored answers.
        from leaderboard.metric_boards import scatter_plots  # noqa: F401
        from leaderboard.metric_pairs import plots  # noqa: F401
        from leaderboard.queries import (  # noqa: F401
            campaigns,
            comparisons,
            disagreement,
            heat_map,
            judge_bias,
            judge_items,
            metric_leaderboard,
            metric_pair,
            prediction_powered,
            rater_effects,
            response_map,
            score_spread,
            separating,
            standing,
            system_leaderboard,
            system_pair,
            system_profile,
        )
