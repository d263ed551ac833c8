"""Settings that must be made before any other import of the command line. Importing this module makes them."""

import os

# Pydantic looks through all installed packages for plugins, of which we use none: 60 ms of every command.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# NumPy's linear algebra, of which we use none, starts a thread for each processor: 20 ms of a command with NumPy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
