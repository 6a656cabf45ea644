"""Keeps a failed build failed until its cause is mended, and one build from spoiling another."""

from pathlib import Path

from filelock import FileLock, Timeout
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment


def begin(app: Sphinx, _config: Config) -> None:
    """Wait for another build of this clone."""
    build = Path(app.outdir).parent
    build.mkdir(parents=True, exist_ok=True)
    lock = FileLock(build / "build.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"Another build is writing to {build}; waiting for it to end.", flush=True)
        lock.acquire()
    app.lookup_lock = lock  # type: ignore[attr-defined]  # held until the build has finished


def unfinished(
    app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], _removed: set[str]
) -> set[str]:
    """Have every page read again unless the last build of each kind ended well.

    Sphinx keeps a page that it has read and does not repeat its warnings, so that a second
    build would succeed. Reading is cheap: what ran without an error comes from the cache.
    """
    again = set(env.found_docs) if any(_marker(app).parent.glob("unfinished-*")) else set()
    _marker(app).touch()
    return again


def end(app: Sphinx, exception: Exception | None) -> None:
    """Note that the build ended well, if it did, and let the next one in."""
    if exception is None and app._warncount == 0:
        _marker(app).unlink(missing_ok=True)
    app.lookup_lock.release()  # type: ignore[attr-defined]


def _marker(app: Sphinx) -> Path:
    return Path(app.outdir).parent / f"unfinished-{app.builder.name}"


def setup(app: Sphinx) -> None:
    """Connect to the beginning and the end, before and after everything else."""
    app.connect("config-inited", begin, priority=0)  # before Sphinx loads what it has read
    app.connect("env-get-outdated", unfinished)
    app.connect("build-finished", end, priority=999)
