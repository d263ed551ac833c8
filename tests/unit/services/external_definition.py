"""A definition for a database of somebody else."""

from plimsoll.domain.definition.definition import Definition


def external() -> Definition:
    """Define one load of a cluster that somebody else runs."""
    options = {"contact_points": ["db"], "data_centre": "dc1", "keyspace": "bench"}
    return Definition.model_validate(
        {
            "name": "theirs",
            "title": "A database of somebody else",
            "system": {"database": "external", "nodes": 3},
            "variants": [{"id": "theirs"}],
            "loads": ["100/s"],
            "workload": {"name": "KeyValue"},
            "timing": {"duration": "5m", "warmup": "1m"},
            "stop_when": [{"errors": "50%", "within": "20s"}],
            "provider": {"name": "external", "options": options},
        }
    )
