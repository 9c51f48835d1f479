from django.apps import AppConfig


class JudgesConfig(AppConfig):
    name = "workers.judges"
    label = "judges"

    def ready(self) -> None:
        from workers.judges import prompt_queries
        from workers.judges.desks import SiteDesks
        from workers.judging import desk, prompt_shelf

        desk.use(SiteDesks())
        prompt_shelf.use(prompt_queries.text_of)
