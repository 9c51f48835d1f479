"""One module for each group of sub-commands. Each adds its parsers; a parser's ``run`` does the
work."""
