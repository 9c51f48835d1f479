"""Help on the site: the documents as pages, their search, where each page's paragraph is, the tour
of who logs in first."""
