from django.apps import AppConfig


class JudgesConfig(AppConfig):
    name = "workers.judges"
    label = "judges"
