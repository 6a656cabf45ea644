"""Build the site in English, then in the languages of ``conf.py`` with the same executed pages.

``python docs/_tools/build_site.py [OPTION ...]`` passes the options on to Sphinx.
"""

import runpy
import subprocess
import sys

SPHINX = "sphinx-build --quiet -n -W --keep-going -t multilingual -b html docs"


def main(*options: str) -> int:
    """Build each language until one fails, and return Sphinx's exit code."""
    languages: dict[str, str] = runpy.run_path("docs/conf.py")["languages"]
    builds = [["build/html", "-d", "build/doctrees"]]
    for name, folder in languages.items():
        doctrees = f"build/doctrees-{folder}"
        builds.append([f"build/html/{folder}", "-d", doctrees, "-D", f"language={name}"])
    codes = (subprocess.run([*SPHINX.split(), *build, *options]).returncode for build in builds)
    return next(filter(None, codes), 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
