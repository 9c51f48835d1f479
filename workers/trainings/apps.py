from django.apps import AppConfig


class TrainingsConfig(AppConfig):
    name = "workers.trainings"
    label = "trainings"

    def ready(self) -> None:
        from annotations import site_identity
        from workers.trainings import remote

        for kind in remote.KINDS:
            site_identity.register(kind)
