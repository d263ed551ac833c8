"""Wait until nodes have no compactions left. This runs on the nodes' own machines, which alone can ask them.

It is for nodes whose clients can't ask them for their compactions themselves.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from plimsoll.adapters.hosts.jobs import console_path
from plimsoll.adapters.products.nodes.machines import by_machine, with_names
from plimsoll.domain.leftover_work import LeftoverWork
from plimsoll.ports.host import Host, Job

PATIENCE = timedelta(minutes=10)
_START = timedelta(minutes=2)
_TAIL = 65_536


Command = Callable[[Sequence[Host]], Sequence[str]]
"""The command that waits, at most for `PATIENCE`, for these nodes of one machine, and prints how that ended as JSON:
`{"settled": …, "left": {node: number}, "waited_s": …, "error": …}`."""


def leftover_work(nodes: Sequence[Host], job_id: str, command: Command) -> LeftoverWork | None:
    """Return the result of waiting; None while a machine still waits. The first call starts the job on each machine."""
    found = [_of_machine(hosts, job_id, command) for hosts in by_machine(nodes).values()]
    told = [one for one in found if one is not None]
    if len(told) < len(found):
        return None
    return LeftoverWork(
        settled=all(one.settled for one in told),
        left={node: count for one in told for node, count in one.left.items()},
        waited_s=max(one.waited_s for one in told),
        problem="; ".join(one.problem for one in told if one.problem),
    )


def _of_machine(nodes: Sequence[Host], job_id: str, command: Command) -> LeftoverWork | None:
    host = nodes[0]
    status = host.status(job_id)
    if status.state == "missing":
        host.start(Job(id=job_id, argv=command(nodes), expires=PATIENCE + _START))
    if status.state != "exited":
        return None
    return read_answer(host.read_tail(console_path(host.root, job_id), max_bytes=_TAIL), nodes)


def read_answer(text: str, nodes: Sequence[Host]) -> LeftoverWork:
    """Return the command's answer, which is JSON on the last line of its output. Pure."""
    try:
        answer: Mapping[str, Any] = json.loads(text.strip().rpartition("\n")[2])
        left = dict(zip((node.info.name for node in nodes), answer["left"].values(), strict=False))
        return LeftoverWork(
            settled=answer["settled"],
            left=left,
            waited_s=answer["waited_s"],
            problem=with_names(answer["error"] or "", nodes),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        where = nodes[0].info.name
        return LeftoverWork(settled=False, problem=f"{where}: no answer to whether compactions are left")
