"""What a full, read-only or failing disk does to a run, as an error that names the path, the disk and what is free."""

import errno
import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from warehouse.errors import ChipledgerError

FULL = (errno.ENOSPC, errno.EDQUOT)
CAUSES = {
    **dict.fromkeys(FULL, ("the disk is full", "Make room there, then run again: nothing that was published is lost")),
    **dict.fromkeys(
        (errno.EACCES, errno.EPERM),
        ("it may not be read or written", "Give the user of this process the right to, or name another --data-dir"),
    ),
    errno.EFBIG: (
        "the file would be larger than this process may write",
        "Raise the limit (`ulimit -f`, LimitFSIZE of systemd), then run again: nothing that was published is lost",
    ),
    errno.EROFS: ("the disk is read-only", "Mount it for writing, or name another --data-dir"),
    errno.EIO: ("the disk fails", "Repair the disk; `chipledger data restore` brings a backup back, on another one"),
}
"""Message and hint by error number; any other number is no fault of a disk, or one that nobody foresaw."""
WORDS = {os.strerror(number): number for number in CAUSES}
QUOTED = re.compile(r'"(/[^"]+)"')


class DiskFault(ChipledgerError):
    """A file could not be read or written for a reason that lies in its disk or its rights."""


@contextmanager
def faults(folder: Path) -> Iterator[None]:
    """Turn what a disk does to the work inside into DiskFault; `folder` is where that work writes."""
    try:
        yield
    except (OSError, duckdb.Error) as error:
        found = _found(error)
        if found is None:
            raise
        number, path = found
        raise _fault(number, path or folder) from error


def refusal(error: Exception) -> ChipledgerError | None:
    """Return the error of a disk, or of a path that the system refuses for another reason; None where it is neither."""
    if found := _found(error):
        return _fault(*found)
    reason = (getattr(error, "strerror", None) or str(error)).lower()
    hint = "Check the path: each part of it, what is there, and its rights"
    return ChipledgerError(reason, source=str(path), hint=hint) if (path := _path(error)) else None


def _path(error: BaseException) -> Path | None:
    names = (getattr(error, name, None) for name in ("filename2", "filename"))
    return next((Path(name) for name in names if isinstance(name, str)), None)


def _fault(number: int, path: Path | None) -> DiskFault:
    message, hint = CAUSES[number]
    if path is None:  # the system does not say which file it was
        return DiskFault(message, hint=hint)
    return DiskFault(message, source=str(path), field="disk", value=_disk(path), hint=hint)


@contextmanager
def lock_file(path: Path) -> Iterator[int]:
    """Open the file of a lock, made where there is none, and yield its descriptor; what it holds stays.

    Raises ChipledgerError where the path is a link, has another name too, or is no file: what is written to it might be
    another's.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    hint = "Remove what is there, if nobody needs it; the lock is made anew"
    try:
        handle = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EISDIR, errno.ENXIO):
            kind = "a link" if path.is_symlink() else "no file"
            raise ChipledgerError(f"the lock is {kind}", source=str(path), hint=hint) from error
        raise
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
            kind = "another file's, too" if stat.S_ISREG(found.st_mode) else "no file"
            raise ChipledgerError(f"the lock is {kind}", source=str(path), hint=hint)
        yield handle
    finally:
        os.close(handle)


def try_lock(handle: int) -> bool:
    """Take the lock of an open file, which lasts until that is closed; return False where another process has it.

    Raises DiskFault where its disk has no locks, as some network folders.
    """
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        hint = "Put it on a disk of this machine, or mount it with locks: without them two runs would write at once"
        raise DiskFault(f"the disk has no locks: {error.strerror}", source="flock", hint=hint) from error
    return True


def flush(path: Path) -> None:
    """Let the disk have what was written to a file, or which files a folder has."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """Yield a path beside a file that takes its place in the end, flushed to disk."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with faults(target.parent):
            yield part
            flush(part)
            part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def is_fault(error: BaseException) -> bool:
    """Tell whether a fault of a disk stands behind an error."""
    return _found(error) is not None


def _found(error: BaseException | None) -> tuple[int, Path | None] | None:
    """Return error number and path of the first fault of a disk behind an error; None where there is none.

    What is done about a fault fails on the same disk again, so that the fault itself stands behind what is raised.
    """
    found = None
    while error is not None:
        if isinstance(error, OSError) and error.errno in CAUSES:
            found = error.errno, _path(error)
        elif isinstance(error, duckdb.Error):
            number = next((number for words, number in WORDS.items() if words in str(error)), None)
            if number is not None:
                quoted = QUOTED.search(str(error))
                found = number, Path(quoted[1]) if quoted else None
        error = error.__cause__ or error.__context__
    return found


def _disk(path: Path) -> str:
    """Return where the disk of a path is mounted, and what is free there."""
    place = path.absolute()
    try:
        while not place.exists():
            place = place.parent
        free = shutil.disk_usage(place).free
        while not place.is_mount():
            place = place.parent
    except OSError:
        return str(place)
    return f"{place}, {free / 1e6:,.1f} MB free"
