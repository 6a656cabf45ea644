"""List the cited threads that changed since they were read: ``sources.py [--update]``.

``docs/threads.json`` has the day on which each issue and pull request of ``docs/references.bib``
was read, and its state then; ``--update`` writes the present states. The variable ``GITHUB_TOKEN``
raises the number of requests that GitHub answers in an hour from 60.
"""

import json
import os
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

DOCS = Path(__file__).parents[1]
LIST = DOCS / "threads.json"
ENTRY = re.compile(r"^@\w+\{(\w+),.*?^\}", re.MULTILINE | re.DOTALL)
THREAD = re.compile(r"github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)")


def find_threads(bibliography: str) -> dict[str, str]:
    """Return the thread, such as ``pytorch/pytorch#1``, of each key of a bibliography with one."""
    entries = ((match[1], THREAD.search(match[0])) for match in ENTRY.finditer(bibliography))
    return {key: f"{thread[1]}#{thread[2]}" for key, thread in entries if thread}


def fetch_state(thread: str) -> str:
    """Return ``open``, or ``closed`` and the day, as GitHub answers."""
    address = f"https://api.github.com/repos/{thread.replace('#', '/issues/')}"
    token = os.environ.get("GITHUB_TOKEN")
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with urlopen(Request(address, headers=headers), timeout=30) as response:
        answer = json.load(response)
    return f"closed {answer['closed_at'][:10]}" if answer["closed_at"] else "open"


def compare(
    threads: dict[str, str], kept: dict[str, dict[str, str]], fetch: Callable[[str], str]
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return the present list, and a line for each thread that is closed and was not when read."""
    present, lines = {}, []
    for key, thread in sorted(threads.items()):
        was = kept.get(key, {"read": "never", "state": "unknown"})
        present[key] = was
        try:
            state = fetch(thread)
        except (URLError, TimeoutError) as error:
            lines.append(f"not answered: {key}, {thread}: {error}")
            continue
        if state != "open" and state != was["state"] and state[7:] >= was["read"]:
            lines.append(f"closed since: {key}, {thread}, read {was['read']}, {state}")
        present[key] = {"read": was["read"], "state": state}
    return present, lines


if __name__ == "__main__":
    threads = find_threads((DOCS / "references.bib").read_text("utf-8"))
    present, lines = compare(threads, json.loads(LIST.read_text("utf-8")), fetch_state)
    print(*lines, f"{len(threads)} threads, {datetime.now(UTC):%Y-%m-%d}", sep="\n")
    if "--update" in sys.argv:
        LIST.write_text(json.dumps(present, indent=1) + "\n", "utf-8")
