from django.apps import AppConfig


class JudgesConfig(AppConfig):
    name = "workers.judges"
    label = "judges"

    def ready(self) -> None:
        from workers.judges.clients import SiteClients
        from workers.judges.core import clients, prompt_file

        clients.use(SiteClients())
        prompt_file.use(_text_of)


def _text_of(name: str) -> str | None:
    """What it needs takes long to load, and most processes never ask."""
    from workers.judges.prompt_queries import text_of

    return text_of(name)
