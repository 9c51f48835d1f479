from django.apps import AppConfig


class TrainingsConfig(AppConfig):
    name = "workers.training"
    label = "trainings"

    def ready(self) -> None:
        from annotations import site_identity
        from workers.training import remote

        for kind in remote.KINDS:
            site_identity.register(kind)
