from django.apps import AppConfig


class CampaignsConfig(AppConfig):
    name = "annotations.campaigns"
    label = "campaigns"

    def ready(self) -> None:
        from annotations.campaigns import signals  # noqa: F401  connects them
