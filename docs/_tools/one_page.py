"""Build one page into build/one/html: ``python docs/_tools/one_page.py tutorials/NAME``.

Links to other pages, terms of the glossary and citations are not resolved.
"""

import subprocess
import sys
from pathlib import Path

SUPPRESSED = "mystnb.exec,ref,toc,myst.xref_missing,bibtex"


def main(page: str, *options: str) -> int:
    """Build the page and return Sphinx's exit code."""
    if not Path("docs", f"{page}.md").exists():
        sys.exit(f"docs/{page}.md does not exist; name a page such as `tutorials/what-it-costs`")
    settings = {"root_doc": page, "include_patterns": f"{page}.md", "suppress_warnings": SUPPRESSED}
    flags = ["--quiet", "-n", "-W", "--keep-going", "-d", "build/one/doctrees", "-b", "html"]
    overrides = [f"-D{name}={value}" for name, value in settings.items()]
    command = ["sphinx-build", *flags, *overrides, *options, "docs", "build/one/html"]
    code = subprocess.run(command, check=False).returncode
    print("Links to other pages, terms and citations were not checked.")
    return code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
