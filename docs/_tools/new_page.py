"""Write a tutorial page that builds at once and enter it in the table of contents.

The page is the annotated example of AUTHORING.md under another title.
"""

import argparse
import re
import unicodedata
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS, GUIDE = ROOT / "docs", ROOT / "AUTHORING.md"


def example(guide: str) -> str:
    """Return the example of a page, without the comments that explain it."""
    found = re.search(r"^````markdown\n(.*?)^````$", guide, re.DOTALL | re.MULTILINE)
    if not found:
        raise SystemExit(f"{GUIDE} holds no example in a ````markdown block; put it back.")
    return re.sub(r"^% .*\n", "", found[1], flags=re.MULTILINE)


def named(title: str) -> str:
    """Return the name of the file for a title."""
    whole = re.sub("['’]", "", title)  # of "it's", no part is a word
    plain = unicodedata.normalize("NFKD", whole).encode("ascii", "ignore").decode()
    name = "-".join(re.findall(r"[a-z0-9]+", plain.lower())[:10])
    if not name:
        raise SystemExit(f"The title is {title!r}, expected words; say what the page finds.")
    return name


def entered(index: str, under: str, entry: str) -> str:
    """Return the index with a page at the end of the contents under a caption."""
    contents = re.search(rf"(:caption: {re.escape(under)}\n\n.*?)(\n```)", index, re.DOTALL)
    if not contents:
        captions = ", ".join(re.findall(r"^:caption: (.*)$", index, re.MULTILINE))
        raise SystemExit(f"docs/index.md has no contents under {under!r}; there are: {captions}.")
    return f"{index[: contents.end(1)]}\n{entry}{index[contents.end(1) :]}"


def main() -> None:
    """Read the title, write the page, and say what comes next."""
    parser = argparse.ArgumentParser(prog="nox -s new-page --", description=__doc__)
    parser.add_argument("title", help="a sentence with a verb that says what the page finds")
    parser.add_argument("--under", default="Use", help="where in the table of contents")
    parser.add_argument("--short", help="the title in the sidebar, a few words")
    options = parser.parse_args()
    title = " ".join(options.title.split())
    name = named(title)
    path, index = DOCS / "tutorials" / f"{name}.md", DOCS / "index.md"
    if path.exists():
        raise SystemExit(f"{path.relative_to(ROOT)} is there already; choose another title.")
    short = options.short or " ".join(title.split()[:4])
    contents = entered(index.read_text("utf-8"), options.under, f"{short} <tutorials/{name}>")
    page = re.sub(
        r"^# .*$", lambda _: f"# {title}", example(GUIDE.read_text("utf-8")), count=1, flags=re.M
    )
    path.write_text(page, "utf-8")
    index.write_text(contents, "utf-8")
    print(f"Wrote {path.relative_to(ROOT)} and entered it in docs/index.md as {short!r};")
    print("--short names it otherwise. To take it back, delete the file and that line.")
    print(f"nox -s docs -- tutorials/{name} builds it alone; nox -s live shows it as you write.")


if __name__ == "__main__":
    main()
