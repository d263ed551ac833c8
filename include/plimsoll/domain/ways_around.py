"""What people ask of a definition that it can't express, with the way around. Pure."""

import re
from collections.abc import Sequence

_EACH = "write a definition for each, with the same ids, run them, and lay their campaigns side by side:"
_CLIENTS = (
    "clients are no axis, loads are: `load_generator: {threads, concurrency}` with `loop: closed` makes so many "
    f"clients. For several numbers of them {_EACH} `plimsoll compare A B --force`"
)
_WAYS: Sequence[tuple[str, str]] = (
    (
        r"(variants|workloads|stages)\.\*\.nodes",
        f"all cells have `system.nodes` nodes. For several numbers of nodes {_EACH} `plimsoll compare A B --force`",
    ),
    (
        r"(variants|stages)\.\*\.(instance_?types?|node_?types?|hosts?|provider|machine|cpus?|vcpus?|memory|region|disk)",
        f"all variants run on the hosts of `provider`. For several kinds of hosts {_EACH} `plimsoll compare A B`",
    ),
    (
        r"variants\.\*\.(actions?|stages?)|stages\.\*\.variants?",
        "an action is done to all variants of its stage. For some variants only, write a definition of these with the "
        "stage and one of the others without it, run both, and lay them side by side: `plimsoll compare A B`",
    ),
    (
        r"((variants|stages|workloads?)\.(\*\.)?)?(clients?|threads|concurrency|connections|in_?flight|users)"
        r"|load_generator\.(clients?|connections|users)|load_generator\.(threads|concurrency)|loads\.(clients|threads)",
        _CLIENTS,
    ),
    (
        r"variants\.\*\.(loads?|load_generator|timing|repeats|service_levels?|workloads?|loop|strategy|consistency"
        r"|replication_factor)",
        f"variants differ in product, version, archive, JVM and settings alone. For what else differs {_EACH} "
        "`plimsoll compare A B`",
    ),
)


def way_around(path: Sequence[int | str]) -> str:
    """Return the way around what a key at that path asks for; empty for keys without one."""
    key = ".".join("*" if isinstance(part, int) else part for part in path)
    return next((way for pattern, way in _WAYS if re.fullmatch(pattern, key)), "")
