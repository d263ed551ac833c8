"""Places where files are kept: result stores, definition files, files to import."""
