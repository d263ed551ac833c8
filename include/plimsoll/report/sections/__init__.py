"""The sections of a campaign's page: a module and a template of the same name for each, listed in `registry`."""
