"""Programs that are looked for before they run: the same on either kind of host."""

from plimsoll.adapters.hosts.processes import missing
from plimsoll.ports.host import Host


def test_only_programs_that_a_host_lacks_are_named(host: Host) -> None:
    own = f"{host.root}/made-later"
    sought = ["sh", "/bin/sh", "plimsoll-nonesuch", "/opt/none such/gen; id", "sh", "", own, "./gen"]
    assert missing(host, sought) == ["plimsoll-nonesuch", "/opt/none such/gen; id"]
    assert missing(host, ["", own]) == ()
