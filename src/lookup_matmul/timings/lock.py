"""One writer at a time for each recording."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Refuse to go on if somebody else on this machine is recording into the file.

    The lock is a file in the folder for temporary ones, which the system gives free with the
    process, however that ends. Windows has no such lock, and there nothing is refused.
    """
    name = sha256(str(path.resolve()).encode(errors="surrogateescape")).hexdigest()[:16]
    with Path(tempfile.gettempdir(), f"lookup-matmul-{name}.lock").open("a") as file:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ValueError(
                    f"{path}: somebody else is recording into this file, expected one at a time; "
                    "wait for the end of that, or choose another folder with --out."
                ) from None
        yield
