"""Observe a page's Python processes: log what they read of the project, refuse the network.

Programs that a cell starts are refused, too, since nothing observes them, and so are modules that
the page's notebook does not install.

Python imports this module when it starts, since ``kernel.py`` puts its folder on ``PYTHONPATH``;
processes that a page starts inherit that. Only the standard library can be imported here.
"""

import os
import sys
from contextlib import suppress
from hashlib import sha256
from importlib.machinery import PathFinder
from importlib.util import source_from_cache
from pathlib import Path
from types import FrameType
from typing import Any, ClassVar

FOLDERS_VARIABLE = "LOOKUP_OBSERVED_FOLDERS"  # whose files are logged
LOG_VARIABLE = "LOOKUP_READ_LOG"  # the file with a line for each: digest, blank, path
HIDDEN_VARIABLE = "LOOKUP_HIDDEN_MODULES"  # names of modules, separated by blanks
LISTING_EVENTS = ("os.listdir", "os.scandir")
STARTING_EVENTS = ("os.system", "os.exec", "os.posix_spawn", "os.forkpty", "subprocess.Popen")
# Of the standard library and of IPython; a thread of IPython's runs what follows ``%%bash``.
STARTING_MODULES = {"asyncio", "os", "pty", "subprocess", "threading"}
STARTING_MODULES |= {"IPython", "ipykernel", "pexpect", "ptyprocess"}
LOCAL_HOSTS = ("", "localhost", "::", "::1", "0.0.0.0")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes or of a folder's names, or "missing"."""
    try:
        if path.is_dir():
            names = sorted({entry.name for entry in path.iterdir()} - {"__pycache__"})
            return sha256("\n".join(names).encode("utf-8", "surrogateescape")).hexdigest()
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "missing"


class ReadLogger:
    """An audit hook that logs each file and folder of some folders when it is first read.

    A logged path begins with the name of its folder.
    """

    def __init__(self, folders: list[Path], log: Path) -> None:
        self.names = {
            path: folder.name for folder in folders for path in (folder, folder.resolve())
        }
        self.log = log
        self.logged = set[Path]()
        log.touch()  # an empty log shows that a process was observed

    def __call__(self, event: str, args: tuple[Any, ...]) -> None:
        """Log the file or folder of an event, and for bytecode its source."""
        if event != "open" and (event not in LISTING_EVENTS or _is_import()):
            return
        if not isinstance(args[0], (str, bytes)):  # a file descriptor
            return
        # The path need not exist, and a link counts as what it is called.
        path = Path(os.path.normpath(Path(os.fsdecode(args[0])).absolute()))
        if path.suffix == ".pyc":
            with suppress(ValueError):
                path = Path(source_from_cache(path))
        folder = next((folder for folder in self.names if path.is_relative_to(folder)), None)
        if folder and path not in self.logged and path.parent.name != "__pycache__":
            self.logged.add(path)
            with self.log.open("a", encoding="utf-8", errors="surrogateescape") as file:
                file.write(f"{digest(path)} {self.names[folder] / path.relative_to(folder)}\n")


def _is_import() -> bool:
    """Return whether the import system caused an event; it lists folders to find modules."""
    # The frames are this function's, the hook's, and that of the caller of the audited function.
    return sys._getframe(2).f_code.co_filename == "<frozen importlib._bootstrap_external>"


def refuse_network(event: str, args: tuple[Any, ...]) -> None:
    """Raise RuntimeError for an event that reaches beyond this machine."""
    if event == "socket.connect":
        host = args[1][0] if isinstance(args[1], tuple) else ""  # a path is on this machine
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = args[0] or ""
    else:
        return
    host = os.fsdecode(host) if isinstance(host, (str, bytes)) else str(host)
    if host not in LOCAL_HOSTS and not host.startswith("127."):
        raise RuntimeError(
            f"a page runs without a network and cannot reach {host}; "
            "keep what it needs in the package"
        )


def refuse_programs(event: str, args: tuple[Any, ...]) -> None:
    """Raise RuntimeError if code of a cell starts a program; torch may start a compiler.

    Python observes itself. On Windows, its path is in the second argument.
    """
    if event not in STARTING_EVENTS or any(sys.executable in str(arg) for arg in args[:2]):
        return
    frame: FrameType | None = sys._getframe(1)
    while frame and frame.f_globals["__name__"].partition(".")[0] in STARTING_MODULES:
        frame = frame.f_back
    if frame is None or frame.f_globals["__name__"] == "__main__":
        program = os.fsdecode(next(filter(None, args), "a shell"))
        raise RuntimeError(f"a page cannot start {program}, which nothing observes; use Python")


class VisibleModules(PathFinder):
    """Finds installed modules except the hidden ones, as if these were not installed."""

    hidden: ClassVar[set[str]] = set()

    @classmethod
    def find_spec(cls, fullname: str, *args: Any, **options: Any) -> Any:
        """Return where a module is, or None for a hidden one and its submodules."""
        is_hidden = fullname.partition(".")[0] in cls.hidden
        return None if is_hidden else super().find_spec(fullname, *args, **options)


def observe() -> None:
    """Observe this process from now on."""
    folders = [Path(name) for name in os.environ[FOLDERS_VARIABLE].split(os.pathsep)]
    sys.addaudithook(ReadLogger(folders, Path(os.environ[LOG_VARIABLE])))
    sys.addaudithook(refuse_network)
    sys.addaudithook(refuse_programs)
    VisibleModules.hidden = {*os.environ.get(HIDDEN_VARIABLE, "").split()}
    sys.meta_path[:] = [VisibleModules if f is PathFinder else f for f in sys.meta_path]
    for name in [name for name in sys.modules if name.partition(".")[0] in VisibleModules.hidden]:
        del sys.modules[name]  # which the process that forked this one had imported


if __name__ == "sitecustomize" and LOG_VARIABLE in os.environ:
    observe()
