from django.apps import AppConfig


class CampaignsConfig(AppConfig):
    name = "annotations.campaigns"
    label = "campaigns"
