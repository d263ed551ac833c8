"""Compare versions of JDKs as people write them."""

import re


def same_precision(running: str, requested: str) -> str:
    """Return a running JVM's version with as many parts as the requested one: 11.0.13+8 becomes 11.0.13 if that was
    asked for.

    Up to JDK 8 a JVM reports 1.8.0_252-b09 where people write 8.0.252.
    """
    numbers = re.split(r"[._]", re.split(r"[+-]", running)[0])
    modern = numbers[1:] if numbers[0] == "1" else numbers
    return ".".join(modern[: len(requested.split("."))])
