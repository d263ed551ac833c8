"""An archive as `ant artifacts` makes it, of a release's jars under a version that was never released."""

import tarfile
from pathlib import Path
from zipfile import ZipFile

VERSION = "4.0.2-SNAPSHOT"
TOP = f"apache-cassandra-{VERSION}"
_TOLD = "org/apache/cassandra/config/version.properties"


def pack(jars: Path, folder: Path) -> Path:
    """Write the archive into the folder, and return it. `jars`: of a release on Maven Central."""
    own = folder / "own.jar"
    [released] = jars.glob("cassandra-all-*.jar")
    with ZipFile(released) as old, ZipFile(own, "w") as new:
        for entry in old.infolist():
            content = f"CassandraVersion={VERSION}\n".encode() if entry.filename == _TOLD else old.read(entry)
            new.writestr(entry, content)
    archive = folder / f"{TOP}-bin.tar.gz"
    with tarfile.open(archive, "w:gz", compresslevel=1) as tar:
        tar.add(own, f"{TOP}/lib/{TOP}.jar")
        for jar in sorted({*jars.glob("*.jar")} - {released}):
            tar.add(jar.resolve(), f"{TOP}/lib/{jar.name}")
    return archive
