from django.apps import AppConfig


class SiteConfig(AppConfig):
    name = "dialeval_site"

    def ready(self) -> None:
        from dialeval_site.config import checks  # noqa: F401  registers them
        from dialeval_site.help import tours  # noqa: F401  begins at a log-in
