from django.urls import include, path

from annotations.audit import views as audit_views
from annotations.corpora import import_views, upload_views, views

urlpatterns = [
    path("corpora/new/", import_views.corpus_new, name="corpus-new"),
    path("corpora/new/<int:pk>/", import_views.corpus_import, name="corpus-import"),
    path(
        "corpora/new/<int:pk>/cancel/",
        import_views.corpus_import_cancel,
        name="corpus-import-cancel",
    ),
    path("corpora/new/upload/", upload_views.upload_begin, name="corpus-upload"),
    path("corpora/new/upload/<slug:id>/", upload_views.upload_part, name="corpus-upload-part"),
    path("corpora/<slug:slug>/seen-by/", views.corpus_seen_by, name="corpus-seen-by"),
    path("corpora/<slug:slug>/settings/", views.corpus_settings, name="corpus-settings"),
    path("corpora/<slug:slug>/delete/", views.corpus_delete, name="corpus-delete"),
    path("corpora/<slug:slug>/", views.corpus, name="corpus"),
    path("corpora/<slug:slug>/dialogues/", views.dialogues, name="dialogues"),
    path("audit/", audit_views.audit, name="audit"),
    path("", include("annotations.campaigns.urls")),
]
