"""Write a tutorial page that builds at once, and enter it in the table of contents.

The page is the annotated example of AUTHORING.md under another title.
"""

import argparse
import re
import unicodedata
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GUIDE = ROOT / "AUTHORING.md"
MAX_WORDS = 10  # of a file name


def read_example(guide: str) -> str:
    """Return the example page without the comments that explain it."""
    (example,) = re.findall(r"^````markdown\n(.*?)^````$", guide, re.DOTALL | re.MULTILINE)
    return re.sub(r"^% .*\n", "", example, flags=re.MULTILINE)


def file_name(title: str) -> str:
    """Return the name of the file for a title: its first words, in Latin letters."""
    plain = unicodedata.normalize("NFKD", re.sub("['’]", "", title)).encode("ascii", "ignore")
    words = re.findall(r"[a-z0-9]+", plain.decode().lower())
    if not words:
        raise SystemExit(f"The title is {title!r}, expected words; say what the page shows.")
    return "-".join(words[:MAX_WORDS])


def add_entry(index: str, caption: str, entry: str) -> str:
    """Return the index with an entry added to the table of contents under a caption."""
    contents = re.search(rf"(:caption: {re.escape(caption)}\n\n.*?)(\n```)", index, re.DOTALL)
    if not contents:
        captions = ", ".join(re.findall(r"^:caption: (.*)$", index, re.MULTILINE))
        raise SystemExit(f"docs/index.md has no contents under {caption!r}, only under {captions}.")
    return f"{index[: contents.end(1)]}\n{entry}{index[contents.end(1) :]}"


def main() -> None:
    """Read the title, write the page, and print the next steps."""
    parser = argparse.ArgumentParser(prog="nox -s new-page --", description=__doc__)
    parser.add_argument("title", help="a sentence with a verb that states what the page shows")
    parser.add_argument("--under", default="Use", help="a caption in the table of contents")
    parser.add_argument("--short", help="the title in the sidebar, a few words")
    options = parser.parse_args()
    title = " ".join(options.title.split())
    name = file_name(title)
    path = DOCS / "tutorials" / f"{name}.md"
    index = DOCS / "index.md"
    if path.exists():
        raise SystemExit(f"{path.relative_to(ROOT)} exists already; choose another title.")
    short = options.short or " ".join(title.split()[:4])
    contents = add_entry(index.read_text("utf-8"), options.under, f"{short} <tutorials/{name}>")
    example = read_example(GUIDE.read_text("utf-8"))
    page = re.sub(r"^# .*$", lambda _: f"# {title}", example, count=1, flags=re.MULTILINE)
    path.write_text(page, "utf-8")
    index.write_text(contents, "utf-8")
    print(f"Wrote {path.relative_to(ROOT)} and entered it in docs/index.md as {short!r};")
    print("--short sets another title. To undo this, delete the file and that line.")
    print(f"nox -s docs -- tutorials/{name} builds it alone; nox -s live shows it as you write.")


if __name__ == "__main__":
    main()
