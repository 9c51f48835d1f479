#!/usr/bin/env python
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dialeval_site.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    # A setting that is wrong or missing: one line says which
    except ImproperlyConfigured as problem:
        sys.exit(f"dialeval: {problem}")


if __name__ == "__main__":
    main()
