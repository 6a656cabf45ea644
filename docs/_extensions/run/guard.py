"""Repeat the warnings of a failed build until they are fixed; let one build run at a time."""

import shutil
from pathlib import Path

from filelock import FileLock, Timeout
from jupyter_cache import get_cache
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from _extensions.paths import is_source_language


def lock_build(app: Sphinx, config: Config) -> None:
    """Wait for another build of these pages, then repair the cache if a build was killed."""
    build_folder = Path(app.doctreedir).parent
    build_folder.mkdir(parents=True, exist_ok=True)
    site_lock = FileLock(build_folder / "build.lock")
    reading_lock = site_lock
    if not is_source_language(config):  # it is read while the English site is built
        reading_lock = FileLock(f"{app.doctreedir}.lock")
    app.lookup_locks = (site_lock, reading_lock)  # type: ignore[attr-defined]
    try:
        reading_lock.acquire(timeout=0)
    except Timeout:
        print(f"Another build is writing to {build_folder}; waiting for it to end.", flush=True)
        reading_lock.acquire()
    if _failed_builds(app):
        cache = get_cache(app.config.nb_execution_cache_path)
        try:  # to read the cache of executed pages
            for record in cache.list_cache_records():
                cache.get_cache_bundle(record.pk)
        except Exception:  # a damaged database or notebook raises many types
            shutil.rmtree(app.config.nb_execution_cache_path, ignore_errors=True)
        finally:
            cache.db.dispose()  # closes its connections


def lock_site(app: Sphinx, *_args: object) -> None:
    """Wait for the build of the English site, into whose folder a translation is written."""
    site_lock, _ = app.lookup_locks  # type: ignore[attr-defined]
    if not site_lock.is_locked:
        site_lock.acquire()


def reread_after_failure(app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> set[str]:
    """Return every page unless the last build succeeded, since Sphinx does not repeat warnings."""
    docnames = set(env.found_docs) if _failed_builds(app) else set()
    _failure_marker(app).touch()  # until release_build() removes it
    return docnames


def purge_outdated(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Purge all outdated pages before Sphinx reads the first, so that labels can move."""
    for docname in docnames:
        app.emit("env-purge-doc", env, docname)
        env.clear_doc(docname)


def release_build(app: Sphinx, exception: Exception | None) -> None:
    """Remove the marker of a failed build if this one succeeded, and let the next one start."""
    if exception is None and app._warncount == 0:
        _failure_marker(app).unlink(missing_ok=True)
    for lock in app.lookup_locks:  # type: ignore[attr-defined]
        lock.release(force=True)


def _failure_marker(app: Sphinx) -> Path:
    """Return the file that exists while a build runs and after it failed or was killed."""
    return Path(app.doctreedir).parent / f"unfinished-{app.builder.name}-{app.config.language}"


def _failed_builds(app: Sphinx) -> list[Path]:
    """Return the markers of all builders of this language, since they share doctrees."""
    return list(Path(app.doctreedir).parent.glob(f"unfinished-*-{app.config.language}"))
