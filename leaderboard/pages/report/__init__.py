"""A corpus's results as one HTML file that needs nothing else: ``contents`` gathers them,
``method`` and ``references`` say how they were made, ``page`` writes them down."""
