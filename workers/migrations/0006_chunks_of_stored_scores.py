"""Runs of before get their chunks, one run in each statement: the trigger makes them."""

from django.db import migrations


def fill(apps, schema_editor):
    runs = apps.get_model("workers", "MetricRun").objects.using(schema_editor.connection.alias)
    for key in runs.order_by("pk").values_list("pk", flat=True):
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(
                "UPDATE workers_metricrun SET turn_scores = turn_scores WHERE id = %s", [key]
            )


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("workers", "0005_scores_in_chunks")]

    operations = [migrations.RunPython(fill, migrations.RunPython.noop)]
