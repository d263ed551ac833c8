"""A cluster's folder, `<work>/<campaign>/<name>/`, with its `cluster.json` and a folder for each host."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from plimsoll.adapters.providers.local.files import write_whole
from plimsoll.domain.cluster import Cluster, ClusterId

_RECORD = "cluster.json"


def folder_of(work: Path, cluster_id: ClusterId) -> Path:
    """Return the folder of that cluster."""
    return work / str(cluster_id)


def ids(work: Path) -> Iterator[ClusterId]:
    """Yield every cluster that has a folder, whole or not."""
    for path in sorted(work.glob("*/*/*")):
        with suppress(ValueError):
            yield ClusterId.parse(path.relative_to(work).as_posix())


def read(work: Path, cluster_id: ClusterId) -> Cluster | None:
    """Return the cluster as its folder describes it, whether its hosts' folders are there or not; None where
    none does.
    """
    try:
        return Cluster.model_validate_json((folder_of(work, cluster_id) / _RECORD).read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None


def lost(work: Path, cluster: Cluster) -> tuple[str, ...]:
    """Return names of hosts that are lost, because their folder is missing."""
    folder = folder_of(work, cluster.id)
    return tuple(info.name for info in cluster.hosts if not (folder / info.name).is_dir())


def make_hosts(work: Path, cluster: Cluster) -> None:
    """Make a folder for each host that has none. OSError where something else lies in its place."""
    for info in cluster.hosts:
        (folder_of(work, cluster.id) / info.name).mkdir(exist_ok=True)


def write(work: Path, cluster: Cluster) -> None:
    """Describe the cluster: from now on it is whole."""
    write_whole(folder_of(work, cluster.id) / _RECORD, cluster.model_dump_json(indent=1))


def remove(work: Path, cluster_id: ClusterId) -> str:
    """Remove the folder. Returns the reason if that fails, else an empty text.

    A folder that another process removes meanwhile is no failure. The description is removed last, so that a cluster
    whose removal was interrupted is still found.
    """
    folder = folder_of(work, cluster_id)
    try:
        for path in list(folder.iterdir()):
            if path.name != _RECORD:
                _remove(path)
        _remove(folder)
    except FileNotFoundError:
        return ""
    except OSError as error:
        return str(error)
    return ""


def prune(work: Path, cluster_id: ClusterId) -> None:
    """Remove the folders above where they hold nothing any more."""
    for folder in (folder_of(work, cluster_id).parent, folder_of(work, cluster_id).parent.parent):
        with suppress(OSError):
            folder.rmdir()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
