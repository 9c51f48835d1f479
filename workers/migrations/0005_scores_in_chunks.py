"""A page reads one score of a run: the database keeps the run's scores in chunks of 100 beside the
whole list, which it would read and parse. On SQLite the large columns move to the end of the table,
since a column behind them is found by reading them.

A later migration that rebuilds the table of runs on SQLite drops its triggers with it: it must run
``add_triggers`` again. ``tests/workers/test_score_chunks.py`` would show it.
"""

import django.db.models.deletion
from django.db import migrations, models

# What pages read comes first
LARGE = ("remarks", "details", "undefined", "dialogue_scores", "turn_scores")

# json_group_array and group_concat promise no order before SQLite 3.44: an object needs none.
# 17 digits are those of a float; SQLite would write 15.
ADD_SQLITE = """INSERT INTO workers_scorechunk (run_id, level, number, scores)
    SELECT NEW.id, '{level}', key / 100, json_group_object(
        CAST(key % 100 AS TEXT),
        CASE type WHEN 'null' THEN json('null') ELSE json(printf('%!.17g', value)) END
    ) FROM json_each(NEW.{level}_scores) GROUP BY key / 100;"""
BOTH_SQLITE = "\n".join(ADD_SQLITE.format(level=level) for level in ("turn", "dialogue"))
SQLITE = (
    f"CREATE TRIGGER scores_of_new_run AFTER INSERT ON workers_metricrun BEGIN {BOTH_SQLITE} END",
    f"""CREATE TRIGGER scores_of_run AFTER UPDATE OF turn_scores, dialogue_scores
    ON workers_metricrun BEGIN
    DELETE FROM workers_scorechunk WHERE run_id = NEW.id; {BOTH_SQLITE} END""",
    """CREATE TRIGGER no_scores_without_run BEFORE DELETE ON workers_metricrun
    BEGIN DELETE FROM workers_scorechunk WHERE run_id = OLD.id; END""",
)
ADD_POSTGRESQL = """INSERT INTO workers_scorechunk (run_id, level, number, scores)
    SELECT NEW.id, '{level}', (place - 1) / 100, jsonb_object_agg((place - 1) % 100, score)
    FROM jsonb_array_elements(NEW.{level}_scores) WITH ORDINALITY AS one (score, place)
    GROUP BY (place - 1) / 100;"""
BOTH_POSTGRESQL = "\n".join(ADD_POSTGRESQL.format(level=level) for level in ("turn", "dialogue"))
POSTGRESQL = (
    f"""CREATE FUNCTION scores_of_run() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    DELETE FROM workers_scorechunk WHERE run_id = NEW.id; {BOTH_POSTGRESQL}
    RETURN NULL; END$$""",
    """CREATE FUNCTION no_scores_without_run() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN
    DELETE FROM workers_scorechunk WHERE run_id = OLD.id; RETURN OLD; END$$""",
    """CREATE TRIGGER scores_of_run AFTER INSERT OR UPDATE OF turn_scores, dialogue_scores
    ON workers_metricrun FOR EACH ROW EXECUTE FUNCTION scores_of_run()""",
    """CREATE TRIGGER no_scores_without_run BEFORE DELETE ON workers_metricrun
    FOR EACH ROW EXECUTE FUNCTION no_scores_without_run()""",
)
SQLITE_UNDONE = (
    "DROP TRIGGER IF EXISTS scores_of_new_run",
    "DROP TRIGGER IF EXISTS scores_of_run",
    "DROP TRIGGER IF EXISTS no_scores_without_run",
)
POSTGRESQL_UNDONE = (
    "DROP TRIGGER IF EXISTS scores_of_run ON workers_metricrun",
    "DROP TRIGGER IF EXISTS no_scores_without_run ON workers_metricrun",
    "DROP FUNCTION IF EXISTS scores_of_run()",
    "DROP FUNCTION IF EXISTS no_scores_without_run()",
)


def move_large_columns(apps, schema_editor):
    """Django writes a table's columns in the order of the model's fields."""
    if schema_editor.connection.vendor == "sqlite":
        schema_editor._remake_table(apps.get_model("workers", "MetricRun"))


def add_triggers(apps, schema_editor):
    on_sqlite = schema_editor.connection.vendor == "sqlite"
    for statement in SQLITE if on_sqlite else POSTGRESQL:
        schema_editor.execute(statement, params=None)


def remove_triggers(apps, schema_editor):
    on_sqlite = schema_editor.connection.vendor == "sqlite"
    for statement in SQLITE_UNDONE if on_sqlite else POSTGRESQL_UNDONE:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("workers", "0004_queue_seen")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                *(migrations.RemoveField("metricrun", name) for name in LARGE),
                migrations.AddField("metricrun", "remarks", models.JSONField(
                    blank=True, default=dict,
                    help_text="By turn index: what to know about its score.",
                )),
                migrations.AddField("metricrun", "details", models.JSONField(
                    blank=True, default=dict, help_text="More than a score, as its metric says it.",
                )),
                migrations.AddField(
                    "metricrun", "undefined", models.JSONField(blank=True, default=dict)
                ),
                migrations.AddField("metricrun", "dialogue_scores", models.JSONField(
                    blank=True, default=list,
                    help_text="Of metrics that score whole dialogues, in the version's order.",
                )),
                migrations.AddField(
                    "metricrun", "turn_scores", models.JSONField(blank=True, default=list)
                ),
            ],
        ),
        migrations.RunPython(move_large_columns, migrations.RunPython.noop),
        migrations.CreateModel(
            name="ScoreChunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False,
                                           verbose_name="ID")),
                ("level", models.CharField(max_length=8)),
                ("number", models.PositiveIntegerField()),
                ("scores", models.JSONField()),
                ("run", models.ForeignKey(db_index=False,
                                          on_delete=django.db.models.deletion.DO_NOTHING,
                                          related_name="chunks", to="workers.metricrun")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=["run", "level", "number"], name="score_chunk_once"
                    )
                ],
            },
        ),
        migrations.RunPython(add_triggers, remove_triggers),
    ]
