"""Versions of JDKs as people write them."""

import re


def same_precision(running: str, asked: str) -> str:
    """A running JVM's version in as many parts as were asked for: 11.0.13+8 asked for as 11.0.13 is 11.0.13.

    Up to JDK 8 a JVM calls itself 1.8.0_252-b09 where people say 8.0.252.
    """
    numbers = re.split(r"[._]", re.split(r"[+-]", running)[0])
    modern = numbers[1:] if numbers[0] == "1" else numbers
    return ".".join(modern[: len(asked.split("."))])
