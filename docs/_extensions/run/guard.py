"""Keeps a failed build failed until its cause is mended, and one build from spoiling another."""

import shutil
from pathlib import Path

from filelock import FileLock, Timeout
from jupyter_cache import get_cache
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment


def lock_build(app: Sphinx, _config: Config) -> None:
    """Wait for another build of this clone; then repair what a killed one left."""
    build = Path(app.doctreedir).parent
    build.mkdir(parents=True, exist_ok=True)
    lock = FileLock(build / "build.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"Another build is writing to {build}; waiting for it to end.", flush=True)
        lock.acquire()
    app.lookup_lock = lock  # type: ignore[attr-defined]  # held until the build has finished
    if _markers(app):
        _repair(Path(app.config.nb_execution_cache_path))


def reread_after_failure(
    app: Sphinx, env: BuildEnvironment, _added: set[str], _changed: set[str], _removed: set[str]
) -> set[str]:
    """Have every page read again unless the last build ended well.

    Sphinx keeps a page that it has read and does not repeat its warnings, so that a second
    build would succeed. Reading is cheap: what ran without an error comes from the cache.
    """
    again = set(env.found_docs) if _markers(app) else set()
    _marker(app).touch()
    return again


def purge_outdated(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Forget all pages that are to be read before the first of them is.

    Sphinx forgets each only when its turn comes, and then finds a label that has moved from one
    page to another on both.
    """
    for docname in docnames:
        app.emit("env-purge-doc", env, docname)
        env.clear_doc(docname)


def release_build(app: Sphinx, exception: Exception | None) -> None:
    """Note that the build ended well, if it did, and let the next one in."""
    if exception is None and app._warncount == 0:
        _marker(app).unlink(missing_ok=True)
    app.lookup_lock.release()  # type: ignore[attr-defined]


def _marker(app: Sphinx) -> Path:
    return Path(app.doctreedir).parent / f"unfinished-{app.builder.name}-{app.config.language}"


def _markers(app: Sphinx) -> list[Path]:
    """Return the markers of every kind of build, since they share what they have read."""
    return list(Path(app.doctreedir).parent.glob("unfinished-*"))


def _repair(cache: Path) -> None:
    """Drop the cache of executed pages if a build was killed while it wrote there."""
    try:
        kept = get_cache(cache)
        for record in kept.list_cache_records():
            kept.get_cache_bundle(record.pk)
    except Exception:  # a damaged database, or notebook, in any way
        shutil.rmtree(cache, ignore_errors=True)
