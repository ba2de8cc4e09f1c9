"""Writing a page or feed: each appears whole or not at all, and stays as it is where nothing in it changed.

Pages are meant to be served: everybody may read them, and the folders made for them, whatever the umask.
"""

import os
from pathlib import Path

MODE, FOLDER_MODE = 0o644, 0o755


def put(target: Path, text: str, *, mode: int = MODE) -> None:
    """Write next to the target, flush, and rename into place, unless the target has the same bytes.

    A folder that is there keeps its mode, as does a file that stays as it is.
    """
    _make_folder(target.parent)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    for left in target.parent.glob(f".{target.name}.*.part"):
        if not _is_alive(left.name.split(".")[-2]):
            left.unlink(missing_ok=True)
    body = text.encode()
    if target.is_file() and target.read_bytes() == body:
        return
    try:
        with part.open("wb") as file:
            os.fchmod(file.fileno(), mode)
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        error.filename = str(target)  # which the system does not say of a full disk
        raise
    finally:
        part.unlink(missing_ok=True)


def _make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are not there."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(exist_ok=True)
        folder.chmod(FOLDER_MODE)


def _is_alive(process: str) -> bool:
    """Return whether a process of this number may still be writing."""
    try:
        os.kill(int(process), 0)
    except ValueError:
        return True  # not a name of ours
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
