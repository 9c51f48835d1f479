from django.apps import AppConfig


class TrainingsConfig(AppConfig):
    name = "workers.trainings"
    label = "trainings"
