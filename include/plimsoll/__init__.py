"""Plimsoll: how much load a database carries while it keeps its service level."""

__version__: str


def __getattr__(name: str) -> str:
    """Return the installed version, looked up when it is asked for: what can do so takes 40 ms to import."""
    if name != "__version__":
        raise AttributeError(name)
    from importlib.metadata import version

    return version("plimsoll")
