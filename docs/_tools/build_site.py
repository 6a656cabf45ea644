"""Build the site in all languages, or one page: ``build_site.py [PAGE] [OPTION ...]``.

The options are passed on to Sphinx. A single page, such as ``tutorials/NAME``, is built into
``build/one/html``; its links to other pages, terms of the glossary and citations are not resolved.
"""

import runpy
import subprocess
import sys
from pathlib import Path

SPHINX = ["sphinx-build", "--quiet", "-n", "-W", "--keep-going", "-b", "html", "docs"]
SUPPRESSED = "mystnb.exec,ref,toc,myst.xref_missing,bibtex"


def build_site(*options: str) -> int:
    """Build each language until one fails, with the same executed pages; return the exit code."""
    languages: dict[str, str] = runpy.run_path("docs/conf.py")["languages"]
    builds = [["build/html", "-d", "build/doctrees"]]
    for name, folder in languages.items():
        doctrees = f"build/doctrees-{folder}"
        builds.append([f"build/html/{folder}", "-d", doctrees, "-D", f"language={name}"])
    command = [*SPHINX, "-t", "multilingual"]
    codes = (subprocess.run([*command, *build, *options]).returncode for build in builds)
    return next(filter(None, codes), 0)


def build_page(page: str, *options: str) -> int:
    """Build one page and return Sphinx's exit code."""
    if not Path("docs", f"{page}.md").exists():
        sys.exit(f"docs/{page}.md does not exist; name a page such as `tutorials/what-it-costs`")
    settings = {"root_doc": page, "include_patterns": f"{page}.md", "suppress_warnings": SUPPRESSED}
    overrides = [f"-D{name}={value}" for name, value in settings.items()]
    command = [*SPHINX, "build/one/html", "-d", "build/one/doctrees", *overrides, *options]
    code = subprocess.run(command).returncode
    print("Links to other pages, terms and citations were not checked.")
    return code


if __name__ == "__main__":
    is_page = sys.argv[1:] and not sys.argv[1].startswith("-")
    sys.exit((build_page if is_page else build_site)(*sys.argv[1:]))
