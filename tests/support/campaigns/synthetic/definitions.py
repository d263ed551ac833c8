"""The definitions of synthetic campaigns."""

from plimsoll.domain.definition.definition import Definition


def azul_definition(**changes: object) -> Definition:
    """Return the published campaign's shape: five variants, eleven loads, five repeats, 900 intervals, 720 of them
    judged.
    """
    collectors = {"prime": "C4", "g1": "G1", "cms": "CMS", "shenandoah": "Shenandoah", "zgc": "ZGC"}
    content: dict[str, object] = {
        "name": "azul-2022",
        "title": "Apache Cassandra 4.0.1 on five JVM configurations",
        "description": "A synthetic campaign in the published shape.\nNothing in it was measured.",
        "system": {"version": "4.0.1"},
        "variants": [_variant(name, collector, "40G") for name, collector in collectors.items()],
        "control": "g1",
        "loads": {"from": "20000/s", "to": "120000/s", "step": "10000/s"},
        "repeats": 5,
        "timing": {"duration": "150m", "warmup": "30m"},
        "service_levels": [{"percentile": 99.9, "interval": "10s", "below": "100ms"}],
    }
    return Definition.model_validate(content | changes)


def demo_definition(**changes: object) -> Definition:
    """Return a definition with two variants, two loads, one repeat, three warm-up intervals and six judged ones."""
    content: dict[str, object] = {
        "name": "demo",
        "title": "G1 and Shenandoah on one machine",
        "system": {"version": "4.0.1"},
        "variants": [_variant("g1", "G1", "512M"), _variant("shenandoah", "Shenandoah", "512M")],
        "control": "g1",
        "loads": ["200/s", "1500/s"],
        "repeats": 1,
        "timing": {"duration": "90s", "warmup": "30s"},
    }
    return Definition.model_validate(content | changes)


def _variant(name: str, collector: str, heap: str) -> dict[str, object]:
    jdk = "prime-11.0.13" if collector == "C4" else "openjdk-11.0.13"
    title = "Azul Prime 11.0.13 (C4)" if collector == "C4" else f"OpenJDK 11.0.13 {collector}"
    return {"id": name, "title": title, "jvm": {"jdk": jdk, "collector": collector, "heap": heap}}
