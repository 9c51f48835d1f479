"""The engine that settings name for PostgreSQL."""
