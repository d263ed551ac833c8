"""The tar in which a bundle's files go to a host."""

import os
from io import BytesIO
from pathlib import Path

from plimsoll.adapters.hosts.onhost.receiver import receive, settle
from plimsoll.adapters.providers.ssh.bundles import make_bundle, write_archive


def test_a_file_that_an_installer_has_linked_to_its_cache_arrives_under_each_of_its_names(tmp_path: Path) -> None:
    source, stream, place = tmp_path / "main.py", BytesIO(), tmp_path / "place"
    source.write_text("print(1)")
    os.link(source, tmp_path / "cached.py")
    bundle = make_bundle("program", {"package/main.py": source, "main.py": source})

    write_archive(bundle, bundle.files, stream)
    stream.seek(0)
    receive(place, stream)

    assert settle(place, dict(bundle.checksums)) == []
    assert [(place / path).read_text() for path in bundle.files] == ["print(1)", "print(1)"]
