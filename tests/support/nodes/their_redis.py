"""A Redis of somebody else, with a password that it never sees and TLS alone."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.certificates import Authority
from tests.support.processes import until
from tests.support.suite.requirements import leave_out

from plimsoll_airflow.local.home import reserved

HOST, PASSWORD = "127.0.0.1", "not-to-be-seen-anywhere"


@dataclass(frozen=True)
class TheirRedis:
    """A server that runs. `folder` has its files."""

    folder: Path
    port: int
    authority: Authority

    def asked(self, *words: str) -> str:
        """Return what it answers to whoever has the password."""
        reached = ["-h", HOST, "-p", str(self.port), "--tls", "--cacert", str(self.folder / "authority.pem")]
        argv, environment = ["redis-cli", *reached, *words], {"REDISCLI_AUTH": PASSWORD}
        told = subprocess.run(argv, env=environment, capture_output=True, text=True, check=False, timeout=60)
        return told.stdout.strip()


@contextmanager
def their_redis(folder: Path) -> Iterator[TheirRedis]:
    """Provide one, in that folder. It must be empty again when the block ends."""
    if missing := [name for name in ("redis-server", "redis-cli") if shutil.which(name) is None]:
        leave_out(f"this machine has no {', '.join(missing)}")
    with reserved(None) as port:  # until it has ended, or another program may be given it
        yield from _running(TheirRedis(folder, port, Authority("their authority")))


def _running(redis: TheirRedis) -> Iterator[TheirRedis]:
    folder = redis.folder
    for name, text in zip(("node.crt", "node.key"), redis.authority.sign("their node", [HOST]), strict=True):
        (folder / name).write_text(text)
    (folder / "authority.pem").write_text(redis.authority.pem)
    certificates = {"cert-file": "node.crt", "key-file": "node.key", "ca-cert-file": "authority.pem"}
    settings = [f"tls-{name} {folder / file}" for name, file in certificates.items()]
    settings += ["port 0", f"tls-port {redis.port}", f"bind {HOST}", "tls-auth-clients no", 'save ""', f"dir {folder}"]
    (folder / "redis.conf").write_text("\n".join([*settings, f"requirepass {PASSWORD}"]))
    argv = ["redis-server", str(folder / "redis.conf")]
    with (folder / "log").open("w") as log, subprocess.Popen(argv, stdout=log, stderr=log) as server:
        try:
            until(lambda: redis.asked("ping") == "PONG", "their Redis")
            yield redis
            assert redis.asked("dbsize") == "0"
        finally:
            server.terminate()
