"""What must be settled before anything else of the command line is imported: importing this settles it."""

import os

# Pydantic looks through all installed packages for plugins, of which we use none: 60 ms of every command.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
