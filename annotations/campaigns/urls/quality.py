from django.urls import path

from annotations.campaigns.views import quality

urlpatterns = [
    path("<slug:slug>/raters/", quality.raters, name="campaign-raters"),
    path("<slug:slug>/raters/<int:number>/exclude/", quality.exclude, name="rater-exclude"),
    path("<slug:slug>/raters/<int:number>/remove/", quality.remove, name="rater-remove"),
    path("<slug:slug>/raters/<int:number>/restore/", quality.restore, name="rater-restore"),
    path("<slug:slug>/raters/<int:number>/conflict/", quality.conflict, name="rater-conflict"),
    path("<slug:slug>/ratings/", quality.ratings, name="campaign-ratings"),
    path("<slug:slug>/ratings/export/", quality.export, name="campaign-export"),
    path("<slug:slug>/ratings/publish/", quality.publish, name="campaign-publish"),
    path("<slug:slug>/ratings/unpublish/", quality.unpublish, name="campaign-unpublish"),
]
