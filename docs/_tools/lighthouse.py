"""Grade every page of the built site with Lighthouse, as a phone on a slow network meets it.

Needs Node and Chromium. Names of pages, such as ``index``, choose some.
"""

import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SITE = Path(__file__).parent.parent.parent / "build" / "html"
LIGHTHOUSE = "lighthouse@12.8.2"
RUNS = 3  # the performance differs from run to run, and its median is taken
CHROME = "--headless=new --no-sandbox --disable-gpu --disable-background-networking"
LEAST = {"performance": 95, "accessibility": 100, "best-practices": 100, "seo": 100}
MOST = {"LCP s": 2.0, "CLS": 0.0, "kB": 150.0, "errors": 0}
COLUMNS = [*LEAST, *MOST]


class Host(SimpleHTTPRequestHandler):
    """Sends what hosts of static sites send: text compressed, to be kept for ten minutes."""

    def do_GET(self) -> None:
        """Send a file of the site."""
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        kind, content = self.guess_type(path), path.read_bytes()
        self.send_response(200)
        if kind.startswith(("text/", "application/j")) or path.suffix in (".js", ".svg"):
            content = gzip.compress(content, 6)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "max-age=600")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


def grade(url: str) -> dict[str, float]:
    """Grade a page, its performance several times, of which the median is given."""
    whole = _run(url)
    runs = [whole, *(_run(url, "--only-categories=performance") for _ in range(RUNS - 1))]
    return whole | {name: statistics.median(run[name] for run in runs) for name in runs[-1]}


def _run(url: str, *options: str) -> dict[str, float]:
    npx, chromium = shutil.which("npx"), shutil.which("chromium") or shutil.which("google-chrome")
    if not npx or not chromium:
        raise SystemExit("Lighthouse needs npx, which comes with Node, and chromium on the path.")
    said = ["--output=json", "--quiet", f"--chrome-flags={CHROME}"]
    command = [npx, "--yes", LIGHTHOUSE, url, *said, *options]
    done = subprocess.run(
        command, env=os.environ | {"CHROME_PATH": chromium}, capture_output=True, text=True
    )
    if done.returncode:
        raise SystemExit(f"Lighthouse failed on {url}:\n{done.stderr}")
    report: dict[str, Any] = json.loads(done.stdout)
    audits = report["audits"]
    found = {name: round(100 * graded["score"]) for name, graded in report["categories"].items()}
    if errors := audits.get("errors-in-console"):  # in the first run only
        found["errors"] = len(errors["details"]["items"])
    return found | {
        "LCP s": audits["largest-contentful-paint"]["numericValue"] / 1000,
        "CLS": audits["cumulative-layout-shift"]["numericValue"],
        "kB": audits["total-byte-weight"]["numericValue"] / 1000,
    }


def missed(graded: dict[str, float]) -> list[str]:
    """Name the columns in which a page stays behind; a shift below 0.001 is none."""
    low = [name for name, least in LEAST.items() if graded[name] < least]
    return low + [name for name, most in MOST.items() if round(graded[name], 3) > most]


def main(names: list[str]) -> None:
    """Print a line for each page, and end with an error if one misses its aim."""
    pages = [path.relative_to(SITE).as_posix() for path in sorted(SITE.rglob("*.html"))]
    if not pages:
        raise SystemExit(f"{SITE} has no page: run `nox -s docs` first.")
    chosen = [page for page in pages if not names or page.removesuffix(".html") in names]
    behind = {}
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Host, directory=SITE)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"{'page':45}", *(f"{name:>14}" for name in COLUMNS))
        for page in chosen:
            graded = grade(f"http://127.0.0.1:{server.server_port}/{page}")
            print(f"{page:45}", *(f"{graded[name]:14.4g}" for name in COLUMNS), flush=True)
            if columns := missed(graded):
                behind[page] = columns
        server.shutdown()
    for page, columns in behind.items():
        print(f"{page} misses: {', '.join(columns)}")
    sys.exit(bool(behind) or not chosen)


if __name__ == "__main__":
    main(sys.argv[1:])
