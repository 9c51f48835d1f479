"""Invitations of older databases get their maker, whom the audit log names: a link works while that account may act."""

from django.conf import settings
from django.db import migrations


def note_makers(apps, schema_editor):
    Invitation = apps.get_model("campaigns", "Invitation")
    AuditEntry = apps.get_model("annotations", "AuditEntry")
    accounts = set(apps.get_model(settings.AUTH_USER_MODEL).objects.values_list("pk", flat=True))
    slugs = dict(Invitation.objects.values_list("pk", "campaign__slug"))
    made = AuditEntry.objects.filter(action="invitation.made", actor_id__isnull=False).order_by("pk")
    for slug, actor, details in made.values_list("campaign", "actor_id", "details").iterator():
        number = details.get("number")
        if actor in accounts and slugs.get(number) == slug:
            Invitation.objects.filter(pk=number, created_by=None).update(created_by=actor)
    if schema_editor.connection.vendor == "postgresql":
        # A restored backup is migrated in one transaction: no check may wait while later steps alter the table.
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        schema_editor.execute("SET CONSTRAINTS ALL DEFERRED")


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0004_members_can_be_removed"),
        ("annotations", "0006_demo_account"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [migrations.RunPython(note_makers, migrations.RunPython.noop, elidable=True)]
