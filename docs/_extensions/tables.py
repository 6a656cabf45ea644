"""Tables of texts in a page."""

from docutils import nodes


def build_table(header: list[str], rows: list[list[str]], *classes: str) -> nodes.Element:
    """Return a table of texts; a text that contains ``": "``, as errors do, becomes a literal."""
    group = nodes.tgroup("", *(nodes.colspec(colwidth=1) for _ in header), cols=len(header))
    group += [nodes.thead("", _row(header)), nodes.tbody("", *map(_row, rows))]
    return nodes.table("", group, classes=list(classes))


def _row(texts: list[str]) -> nodes.row:
    cells = (nodes.literal("", t) if ": " in t else nodes.Text(t) for t in texts)
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))
