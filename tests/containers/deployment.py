"""docker-compose.yaml brought up for a test: its own project, secrets, store and hosts; all of it gone at the end."""

import secrets
import socket
import subprocess
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import Any

from tests.support.ssh.sshd import KeyPair, make_key
from tests.support.stores.s3 import S3Service, running_s3

CHECKOUT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
SUBNET = "172.29.77"
LOAD, NODES = f"{SUBNET}.10", tuple(f"{SUBNET}.{n}" for n in (11, 12, 13))
STORE = "s3://results/runs"
_BUILT_WITHIN_S, _UP_WITHIN_S = 1800, 900


@dataclass(frozen=True)
class Deployment:
    """Where things are, and how `docker compose` is called for them."""

    folder: Path
    project: str
    port: int
    service: S3Service
    user_key: KeyPair
    host_key: KeyPair

    @property
    def url(self) -> str:
        """Return where the api-server answers on this machine."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def campaigns(self) -> Path:
        """Return the team's folder of definitions."""
        return self.folder / "campaigns"

    def compose(self, *arguments: str, timeout_s: float) -> str:
        """Run `docker compose`; what it printed. An AssertionError with its last lines where it failed."""
        files = ["--file", str(CHECKOUT / "docker-compose.yaml"), "--file", str(HERE / "hosts.yaml")]
        command = [compose_program(), *files, "--env-file", str(self.folder / "env"), "--project-name", self.project]
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=timeout_s, check=False)
        assert done.returncode == 0, f"{' '.join(arguments)}:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout

    def write_variables(self) -> None:
        """Write what a team writes into `.env`, and what the hosts take beside."""
        account = f'{{"conn_type": "aws", "login": "test", "password": "test", "extra": {_extra(self.service)}}}'
        settings: Mapping[str, object] = {
            **{name: secrets.token_hex(32) for name in ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "API_SECRET_KEY")},
            "JWT_SECRET": secrets.token_hex(64),
            "FERNET_KEY": urlsafe_b64encode(secrets.token_bytes(32)).decode(),
            "PLIMSOLL_STORE": STORE,
            "AIRFLOW_CONN_AWS_DEFAULT": f"'{account}'",
            "PLIMSOLL_PORT": self.port,
            "CAMPAIGNS_FOLDER": self.campaigns,
            "TESTS": HERE,
            "KEYS": self.folder / "keys",
            "SUBNET": SUBNET,
        }
        (self.folder / "env").write_text("".join(f"{name}={value}\n" for name, value in settings.items()))


@contextmanager
def running_deployment(folder: Path) -> Iterator[Deployment]:
    """Build images, bring services up, and in the end remove all but images, which later builds use."""
    keys = folder / "keys"
    user, host = make_key(keys, "user"), make_key(keys, "host")
    with running_s3(_engines_address()) as service:
        service.store()
        made = Deployment(folder, f"plimsoll-test-{secrets.token_hex(4)}", _free_port(), service, user, host)
        made.campaigns.mkdir(mode=0o755)
        made.write_variables()
        try:
            made.compose("build", "init", "load", timeout_s=_BUILT_WITHIN_S)
            made.compose("up", "--detach", "--wait", "--no-build", timeout_s=_UP_WITHIN_S)
            yield made
        finally:
            made.compose("--profile", "tools", "down", "--volumes", "--remove-orphans", timeout_s=300)


def compose_program() -> str:
    """Return the Compose that comes as a wheel."""
    spec = find_spec("compose")
    assert spec is not None, "Compose comes as a wheel for x86_64 alone"
    assert spec.origin is not None
    return str(Path(spec.origin).with_name("docker-compose"))


def _extra(service: S3Service) -> str:
    return f'{{"region_name": "us-east-1", "endpoint_url": "{service.endpoint}"}}'


def _engines_address() -> str:
    """Return this machine's address on the engine's own bridge, which containers of every network reach.

    An engine that chose the network itself does not name the address: it is the first one.
    """
    what = "{{with index .IPAM.Config 0}}{{or .Gateway .Subnet}}{{end}}"
    command = ["docker", "network", "inspect", "bridge", "--format", what]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"is a Docker engine running (DOCKER_HOST)?\n{done.stderr}"
    named = done.stdout.strip()
    return str(next(ip_network(named).hosts())) if "/" in named else named


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: Any = taken.getsockname()[1]
        return int(port)
