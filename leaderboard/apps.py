from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    name = "leaderboard"

    def ready(self) -> None:
        # Each registers kinds of stored answers.
        import leaderboard.pages.cases.query
        import leaderboard.pages.fewer_ratings.query
        import leaderboard.pages.judges.bias
        import leaderboard.pages.judges.items
        import leaderboard.pages.maps.query
        import leaderboard.pages.metric.query
        import leaderboard.pages.metric_pair.plots
        import leaderboard.pages.metric_pair.query
        import leaderboard.pages.metrics.plots
        import leaderboard.pages.metrics.query
        import leaderboard.pages.published.query
        import leaderboard.pages.raters.query
        import leaderboard.pages.system_pair.query
        import leaderboard.pages.systems.query
        import leaderboard.queries.arena_board
        import leaderboard.queries.comparisons
        import leaderboard.queries.preference_board
        import leaderboard.queries.preference_metrics
        import leaderboard.queries.standing  # noqa: F401
        from leaderboard import signals  # noqa: F401  connects them
        from leaderboard.additions import add_as_form_says
        from workers.imports import use_additions

        use_additions(add_as_form_says)
