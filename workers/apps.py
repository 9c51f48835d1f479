from django.apps import AppConfig
from django.conf import settings

from workers.inference import resources


class WorkersConfig(AppConfig):
    name = "workers"

    def ready(self) -> None:
        from workers.training import remote

        resources.use(
            resources.Resources(
                device=settings.DEVICE,
                precision=settings.PRECISION,
                threads=settings.THREADS,
                feature_folder=settings.HOME / "features" if settings.FEATURE_CACHE_BYTES else None,
                feature_bytes=settings.FEATURE_CACHE_BYTES,
                trained_folder=settings.HOME / "trained",
                remote_models=remote.OnStorage() if remote.are_shared() else None,
            )
        )
