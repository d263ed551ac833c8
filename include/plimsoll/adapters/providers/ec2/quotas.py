"""The vCPU quotas of on-demand instances, by instance family, as Service Quotas names them. Pure.

The names say which families each counts: EC2 User Guide, "On-Demand Instance quotas".
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Quota:
    """One quota; `code` is its code in Service Quotas."""

    code: str
    name: str


_STANDARD = Quota("L-1216C47A", "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances")
_G = Quota("L-DB2E81BA", "Running On-Demand G and VT instances")
# By the letters that a type's name begins with. Longer names than one letter are families of their own: inf1 is no i1.
_QUOTAS = {
    **dict.fromkeys(("a", "c", "d", "h", "i", "im", "is", "m", "r", "t", "z"), _STANDARD),
    "dl": Quota("L-6E869C2A", "Running On-Demand DL instances"),
    "f": Quota("L-74FC7D96", "Running On-Demand F instances"),
    "g": _G,
    "gr": _G,
    "hpc": Quota("L-F7808C92", "Running On-Demand HPC instances"),
    "inf": Quota("L-1945791B", "Running On-Demand Inf instances"),
    "p": Quota("L-417A185B", "Running On-Demand P instances"),
    "trn": Quota("L-2C3B7624", "Running On-Demand Trn instances"),
    "u": Quota("L-43DA4232", "Running On-Demand High Memory instances"),
    "vt": _G,
    "x": Quota("L-7295265B", "Running On-Demand X instances"),
}
_FAMILY = re.compile(r"[a-z]+")


def quota_of(instance_type: str) -> Quota | None:
    """Return the quota that limits instances of that type; None for an unknown family."""
    found = _FAMILY.match(instance_type)
    return _QUOTAS.get(found[0]) if found else None
