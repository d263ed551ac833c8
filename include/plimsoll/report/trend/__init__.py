"""The trend over the campaigns of a definition: as a document, as words and tables, as a page."""
