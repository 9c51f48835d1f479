"""The database itself refuses to change or delete an entry of the audit log, whoever asks.

A later migration that rebuilds the table on SQLite (most changes of a table do) drops its triggers with it: it must
run these operations again. ``tests/annotations/test_audit.py`` would show it.
"""

from django.db import migrations

REFUSAL = "the audit log is append-only"

SQLITE = (
    """CREATE TRIGGER audit_entry_stays BEFORE UPDATE ON annotations_auditentry
    BEGIN SELECT RAISE(ABORT, '%s'); END""",
    """CREATE TRIGGER audit_entry_is_kept BEFORE DELETE ON annotations_auditentry
    BEGIN SELECT RAISE(ABORT, '%s'); END""",
    # INSERT OR REPLACE deletes without asking the trigger above.
    """CREATE TRIGGER audit_entry_is_new BEFORE INSERT ON annotations_auditentry
    WHEN EXISTS (SELECT 1 FROM annotations_auditentry WHERE id = NEW.id)
    BEGIN SELECT RAISE(ABORT, '%s'); END""",
)
POSTGRESQL = (
    """CREATE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION '%s' USING ERRCODE = 'integrity_constraint_violation'; END$$""",
    """CREATE TRIGGER audit_entry_stays BEFORE UPDATE ON annotations_auditentry
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()""",
    """CREATE TRIGGER audit_entry_is_kept BEFORE DELETE ON annotations_auditentry
    FOR EACH ROW EXECUTE FUNCTION audit_is_append_only()""",
)
SQLITE_UNDONE = (
    "DROP TRIGGER IF EXISTS audit_entry_stays",
    "DROP TRIGGER IF EXISTS audit_entry_is_kept",
    "DROP TRIGGER IF EXISTS audit_entry_is_new",
)
POSTGRESQL_UNDONE = (
    "DROP TRIGGER IF EXISTS audit_entry_stays ON annotations_auditentry",
    "DROP TRIGGER IF EXISTS audit_entry_is_kept ON annotations_auditentry",
    "DROP FUNCTION IF EXISTS audit_is_append_only()",
)


def refuse_changes(apps, schema_editor):
    on_sqlite = schema_editor.connection.vendor == "sqlite"
    for statement in SQLITE if on_sqlite else POSTGRESQL:
        schema_editor.execute(statement.replace("%s", REFUSAL))


def allow_changes(apps, schema_editor):
    on_sqlite = schema_editor.connection.vendor == "sqlite"
    for statement in SQLITE_UNDONE if on_sqlite else POSTGRESQL_UNDONE:
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [
        ("annotations", "0003_submissions_and_audit"),
    ]

    operations = [
        migrations.RunPython(refuse_changes, allow_changes),
    ]
