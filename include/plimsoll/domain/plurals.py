"""Counts with their nouns."""


def plural(count: int, noun: str, nouns: str = "") -> str:
    """`1 cell`, `2 cells`, `1,100 cells`; `nouns` where the plural takes more than an s (`2 hosts of AWS`)."""
    return f"{count:,} {noun if count == 1 else nouns or f'{noun}s'}"
