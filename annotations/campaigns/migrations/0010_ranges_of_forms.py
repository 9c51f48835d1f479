from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("campaigns", "0009_adjudication"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="item",
            name="checked_item_has_a_range",
        ),
        migrations.AddConstraint(
            model_name="item",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("role", "regular"),
                    models.Q(("highest__gte", models.F("lowest")), ("lowest__gte", 0)),
                    _connector="OR",
                ),
                name="checked_item_has_a_range",
            ),
        ),
    ]
