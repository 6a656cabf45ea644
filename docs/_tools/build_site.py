"""Build the site in all languages, or one page: ``build_site.py [PAGE] [OPTION ...]``.

The options are passed on to Sphinx. A single page, such as ``tutorials/NAME``, is built into
``build/one/html``; its links to other pages, terms of the glossary and citations are not resolved.
"""

import runpy
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen

SPHINX = ["sphinx-build", "--quiet", "-n", "-W", "--keep-going", "-b", "html", "docs"]
SUPPRESSED = "mystnb.exec,ref,toc,myst.xref_missing,bibtex"
EXECUTED = "The outputs of all pages are current.\n"  # as execute.py prints it


def build_site(*options: str) -> int:
    """Build the English site, and the others from the same executed pages; return an exit code."""
    command = [*SPHINX, "-t", "multilingual", *options]
    translations: list[Popen[str]] = []
    english_options = ["build/html", "-d", "build/doctrees"]
    with Popen([*command, *english_options], stdout=PIPE, text=True) as english:
        for line in english.stdout or ():
            print(line, end="", flush=True)
            if line == EXECUTED:  # pages of other languages are read while these are written
                translations = start_translations(command)
    outputs = [process.communicate()[0] for process in translations]
    if english.returncode:  # which translations would repeat
        return english.returncode
    print(*outputs, sep="", end="")
    return next(filter(None, (process.returncode for process in translations)), 0)


def start_translations(command: list[str]) -> list[Popen[str]]:
    """Start the build of each language of ``conf.py`` beside English."""
    languages: dict[str, str] = runpy.run_path("docs/conf.py")["languages"]
    builds = (
        [f"build/html/{folder}", "-d", f"build/doctrees-{folder}", "-D", f"language={name}"]
        for name, folder in languages.items()
    )
    return [Popen([*command, *build], stdout=PIPE, stderr=STDOUT, text=True) for build in builds]


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
