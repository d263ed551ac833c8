"""A shorter check of hosts, for tests that only ask whether it works."""

from plimsoll.adapters.hosts.onhost.canary import Effort

QUICK = Effort(cpu_s=0.1, disk_s=1.0, file_bytes=4 << 20, network_s=0.1)
