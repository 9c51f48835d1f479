"""What Prometheus reads: requests are counted as they are answered, work and ratings are read from
the database when they are asked for. ``docs/operators.md`` has every series."""
