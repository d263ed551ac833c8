"""Numbers with their nouns in the singular or plural."""


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun: `1 cell`, `2 cells`, `1,100 cells`.

    `nouns` is the plural where it is not the noun with an s.
    """
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"
