from django.apps import AppConfig


class CommonConfig(AppConfig):
    """Template tags; no models of its own."""

    name = "common"
