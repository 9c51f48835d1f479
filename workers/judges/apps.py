from django.apps import AppConfig


class JudgesConfig(AppConfig):
    name = "workers.judges"
    label = "judges"

    def ready(self) -> None:
        from workers.judges.judge_clients import SiteClients
        from workers.judging import judge_client, prompt_registry

        judge_client.use(SiteClients())
        prompt_registry.use(_text_of)


def _text_of(name: str) -> str | None:
    """What it needs takes long to load, and most processes never ask."""
    from workers.judges.prompt_queries import text_of

    return text_of(name)
