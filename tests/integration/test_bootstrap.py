"""What making a toolkit imports, in a process of its own."""

import subprocess
import sys

_MAKE = """
import sys
from plimsoll.bootstrap import full_toolkit
from plimsoll.settings import Settings
toolkit = full_toolkit(Settings())
late = {"paramiko", "boto3", "plimsoll.adapters.providers.ec2", "plimsoll.adapters.providers.local"}
print(*sorted(late & set(sys.modules)))
print(toolkit.providers["ssh"].name, "paramiko" in sys.modules, "plimsoll.adapters.providers.ec2" in sys.modules)
print(*(adapter.name for adapter in toolkit.providers.values()))
"""


def test_a_provider_is_imported_when_it_is_first_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", _MAKE], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.splitlines() == ["", "ssh True False", "local ssh ec2 command external"]
