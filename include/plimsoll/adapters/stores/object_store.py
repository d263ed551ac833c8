"""The result store on any fsspec file system: a local folder, S3, or in memory."""

import errno
import hashlib
import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from itertools import accumulate, filterfalse, islice
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

import fsspec
from fsspec import AbstractFileSystem

from plimsoll.adapters.stores.local_files import (
    create_whole,
    is_own_unfinished,
    is_unfinished,
    is_utf_8,
    put_whole,
    remove,
)
from plimsoll.domain.text.errors import NotFound, StoreError
from plimsoll.ports.store import BLOCK_BYTES, ListedFile, StoredFile, UnfinishedFile


class ObjectStore:
    """An implementation of the ResultStore port over fsspec. Local files are written to a temporary name and renamed.

    The root may be a symbolic link. Links below it that lead out of the store are not followed: listings omit them, and
    all other methods raise StoreError. Listings omit names that are not UTF-8 too: no key is, so nobody stored them.
    """

    def __init__(self, root: str) -> None:
        """Open the store at the root. Raises StoreError for an address that no installed library can reach."""
        self.root = root if "://" in root else str(Path(root).absolute())
        self._fs: Any
        self._prefix: str
        try:
            self._fs, self._prefix = fsspec.core.url_to_fs(self.root)
        except ImportError as error:
            mend = f"install what it asks for beside Plimsoll ({error}), or set PLIMSOLL_STORE to a folder or to s3://…"
            what = "can't be reached: a library for it is not installed"
            raise StoreError(what, where=self.root, mend=mend) from error
        except (AttributeError, OSError, TypeError, ValueError) as error:  # those that wrap another say it so variously
            mend = "set PLIMSOLL_STORE to a folder, to s3://bucket/prefix, or to another address that fsspec knows"
            raise StoreError(f"is no address of a store ({error})", where=self.root, mend=mend) from error
        self._local = urlsplit(self.root).scheme in ("", "file")
        self._above = len(self._prefix.rstrip("/")) + 1  # how much of a path is above its key
        # fsspec's own way looks first and writes then: two at once would both believe that they have made the file.
        # What one library has of another, by an address with `::`, may take that way too.
        is_of_fsspec = getattr(self._fs.pipe_file, "__func__", None) is AbstractFileSystem.pipe_file
        if "::" in self.root or (is_of_fsspec and not self._local):
            what = "can't be a store: its library does not make a file for one of several who try at once"
            raise StoreError(what, where=self.root, mend="set PLIMSOLL_STORE to a folder or to s3://bucket/prefix")

    def url(self, key: str = "") -> str:
        return f"{self.root.rstrip('/')}/{key}".rstrip("/")

    def exists(self, key: str) -> bool:
        with self._explained(key):
            return bool(self._fs.isfile(self._path(key)))

    def read(self, key: str) -> bytes:
        with self._explained(key):
            content: bytes = self._fs.cat_file(self._path(key))
            return content

    def blocks(self, key: str) -> Iterator[bytes]:
        with self._explained(key), self._fs.open(self._path(key), "rb") as file:
            while block := file.read(BLOCK_BYTES):
                yield block

    def write(self, key: str, data: bytes) -> None:
        self._put(key, lambda path: self._fs.pipe_file(path, data))

    def create(self, key: str, data: bytes) -> bool:
        with self._explained(key):
            path = self._path(key)
            if self._local:
                return create_whole(Path(path), data)
            try:
                self._fs.pipe_file(path, data, mode="create")
            except FileExistsError:
                return False
            return True

    def upload(self, key: str, path: Path) -> StoredFile:
        with path.open("rb") as source:
            checksum = hashlib.file_digest(source, "sha256").hexdigest()
        self._put(key, lambda target: self._fs.put_file(str(path), target))
        return StoredFile(path.stat().st_size, checksum)

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield keys below a prefix, sorted. Unfinished local writes are left out."""
        return (path[self._above :] for path in self._files(prefix))

    def stamped(self, prefix: str, name: str) -> Iterator[tuple[str, str]]:
        files, end = self._files(prefix), f"/{name}"
        with self._explained(prefix):
            # A list: a generator would look at the files later, outside of `_explained`
            stamps = [_stamp(path, facts) if path.endswith(end) else "" for path, facts in files.items()]
        return ((path[self._above :], stamp) for path, stamp in zip(files, stamps, strict=True))

    def listed(self, prefix: str, *, deep: bool = True) -> Iterator[ListedFile]:
        paths = self._files(prefix) if deep else filterfalse(is_unfinished, self._entries(prefix, "file"))
        for path in paths:
            with suppress(NotFound), self._explained(prefix):  # deleted meanwhile
                yield ListedFile(path[self._above :], self._fs.size(path), self._changed_at(path))

    def unfinished(self) -> Iterator[UnfinishedFile]:
        entries = [*self._entries("", "file"), *self._entries("", "directory")]
        for entry in entries:  # one campaign after another, as the store may have very many files
            with self._explained(""):
                paths = self._local_files(entry) if self._local else self._fs.find(entry)
            for path in sorted(filter(is_own_unfinished, paths)):
                with suppress(NotFound), self._explained(""):  # finished meanwhile
                    yield UnfinishedFile(path[self._above :], self._changed_at(path))

    def drop(self, file: UnfinishedFile) -> None:
        self.delete(file.name)

    def _changed_at(self, path: str) -> datetime:
        modified: datetime = self._fs.modified(path)
        return modified if modified.tzinfo else modified.replace(tzinfo=UTC)

    def folders(self, prefix: str) -> tuple[str, ...]:
        return tuple(sorted(PurePosixPath(path).name for path in self._entries(prefix, "directory")))

    def _entries(self, prefix: str, kind: str) -> list[str]:
        """Return the paths of the files, or of the folders, that are directly below a prefix."""
        with self._explained(prefix):
            try:
                entries = self._fs.ls(self._path(prefix), detail=True)
            except FileNotFoundError:
                return []
        paths = sorted(entry["name"] for entry in entries if entry["type"] == kind)
        return [path for path in paths if is_utf_8(PurePosixPath(path).name) and not self._leads_out(path)]

    def delete(self, prefix: str) -> None:
        """Remove everything below a prefix. What another removes at the same time is no error."""
        with self._explained(prefix):
            path = self._path(prefix)
            if self._local:
                remove(Path(path))
            else:
                self._delete_remote(path)

    def check(self) -> None:
        """Write, read and delete a small file. A missing root is created, but none of its parent folders."""
        root = Path(self._prefix)
        if self._local and not root.exists() and not root.parent.is_dir():
            mend = f"make the folder {root.parent}, or set PLIMSOLL_STORE to a place that exists"
            raise StoreError("the result store can't be made: there is no folder for it", where=self.root, mend=mend)
        key = f".plimsoll-check-{uuid.uuid4().hex}"
        self.write(key, b"check")
        self.read(key)
        self.delete(key)

    def _put(self, key: str, write: Callable[[str], None]) -> None:
        with self._explained(key):
            path = self._path(key)
            if self._local:
                put_whole(Path(path), write)
            else:
                write(path)

    def _delete_remote(self, path: str) -> None:
        for _ in range(5):
            # Where another was quicker with a file, fsspec may have left the others.
            with suppress(FileNotFoundError):
                if self._fs.exists(path):
                    self._fs.rm(path, recursive=True)
                return
        mend = "wait until nobody else deletes there, then do it again"
        raise StoreError("files vanish there while they are deleted", where=path, mend=mend)

    def _path(self, key: str) -> str:
        if ".." in PurePosixPath(key).parts or key.startswith("/"):
            raise StoreError(f"{key!r} is not a key of the store", where=self.root)
        path = f"{self._prefix.rstrip('/')}/{key}".rstrip("/")
        if self._leads_out(path):
            mend = "replace the link by what it leads to; the store's own folder may be a link"
            what = "is reached by a symbolic link that leads out of the store"
            raise StoreError(what, where=self.url(key), mend=mend)
        return path

    def _files(self, prefix: str) -> Mapping[str, Any]:
        """Return the finished files at and below a prefix, sorted, with what a file system elsewhere tells of each."""
        with self._explained(prefix):
            path = self._path(prefix)
            files = dict.fromkeys(self._local_files(path)) if self._local else self._fs.find(path, detail=True)
        return {path: files[path] for path in sorted(files) if not is_unfinished(path)}

    def _local_files(self, path: str) -> list[str]:
        """Return all files at and below a path. fsspec's walk looks at each, and `os.walk` at each folder twice."""
        if Path(path).is_file():
            return [path]
        files, folders = [], [path]
        while folders:
            # What was deleted meanwhile has no files.
            with suppress(FileNotFoundError), os.scandir(folders.pop()) as entries:
                for entry in filter(lambda entry: is_utf_8(entry.name), entries):
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif not entry.is_dir() and not (entry.is_symlink() and self._leads_out(entry.path)):
                        files.append(entry.path)
        return files

    def _leads_out(self, path: str) -> bool:
        """Tell whether a link between the root and the path leads out of the store."""
        if not self._local:
            return False
        root = self._prefix.rstrip("/")
        below = accumulate(path[len(root) :].strip("/").split("/"), "{}/{}".format, initial=root)
        if any(map(os.path.islink, islice(below, 1, None))):
            return not Path(path).resolve().is_relative_to(Path(root).resolve())
        return False

    @contextmanager
    def _explained(self, key: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise NotFound("the store holds no such file", where=self.url(key)) from error
        except OSError as error:
            raise StoreError(f"can't be used: {error}", where=self.url(key), mend=_mend(error)) from error


def _stamp(path: str, facts: Any) -> str:
    """Return a text that distinguishes this file from earlier and later files of its name; empty if it is gone."""
    if facts:
        return str(sorted(facts.items()))
    with suppress(FileNotFoundError):
        # A file that replaces another has an inode of its own, even where clocks are too coarse to tell them apart.
        status = Path(path).stat()
        return f"{status.st_ino}-{status.st_mtime_ns}-{status.st_size}"
    return ""


def _mend(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return "give the user who runs Plimsoll the right to write there, or set PLIMSOLL_STORE to another place"
    if error.errno == errno.ENOSPC:
        return "free disk space there, then run the cell again"
    return "check that PLIMSOLL_STORE names a folder or bucket that exists and can be reached"
