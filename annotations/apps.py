from django.apps import AppConfig
from django.conf import settings

from common import temporary


class AnnotationsConfig(AppConfig):
    name = "annotations"

    def ready(self) -> None:
        temporary.use(settings.HOME / "tmp")
