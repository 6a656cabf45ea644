"""Build one page into build/one/html: ``python docs/_tools/one_page.py tutorials/NAME``.

Links to other pages, terms of the glossary and citations lead away from it, and are not looked up.
"""

import subprocess
import sys
from pathlib import Path

QUIET = "mystnb.exec,ref,toc,myst.xref_missing,bibtex"


def main(page: str, *options: str) -> int:
    """Build it and return Sphinx's exit code."""
    if not Path("docs", f"{page}.md").exists():
        sys.exit(f"docs/{page}.md is not there; name a page as in `tutorials/what-it-costs`")
    alone = [f"-Droot_doc={page}", f"-Dinclude_patterns={page}.md", f"-Dsuppress_warnings={QUIET}"]
    fatal = ["--quiet", "-n", "-W", "--keep-going", "-d", "build/one/doctrees"]
    call = ["sphinx-build", *fatal, *alone, *options, "-b", "html", "docs", "build/one/html"]
    code = subprocess.run(call, check=False).returncode
    print("Links, terms and citations lead away from this page; they were not checked.")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
