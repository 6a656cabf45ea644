"""What the code of a page has to keep to, read with Python's own parser, as page_rules.py does."""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from _extensions.claims.cells import kinds_of, name_of, parsed
from _extensions.run.pages import Page
from page_rules import Found, inner

COMPARING = {"allclose", "equal", "isclose", "array_equal", "is_close"}
DRAWING = {"rand", "randn", "randint", "randperm", "normal", "multinomial", "bernoulli"}
SEEDING = {"manual_seed", "seed", "default_rng", "Generator"}
NETWORK = {"urllib", "requests", "http", "socket", "ftplib", "httpx", "aiohttp"}
WRITING = {"write_text", "write_bytes", "to_csv", "savefig"}
SHELL = {"system", "run_line_magic", "getoutput"}
HIDDEN = {"check", "setup", "hide-cell", "hide-input", "remove-input", "remove-cell"}
PLACES = ("/home/", "/Users/", "/root/", "/tmp/", "C:\\")
LONGEST = 15


class Cell(NamedTuple):
    """A cell of code on a page, and the line of its first word."""

    line: int
    tags: list[str]
    figure: Any
    code: str


def cells_of(page: Page) -> list[Cell]:
    """Return the cells of code, their options left out."""
    lines, found = page.text.splitlines(), []
    for cell, before in zip(page.cells, page.lines, strict=True):
        if cell.cell_type == "code" and cell.source:
            line = lines.index(cell.source.splitlines()[0], before) + 1
            figure = inner(cell.metadata, "mystnb", "figure")
            found.append(Cell(line, cell.metadata.get("tags", []), figure, cell.source))
    return found


def threads(page: Page) -> Found:
    """Find measuring without saying with how many threads."""
    told = any(calls(cell.code, {"set_num_threads"}) for cell in cells_of(page))
    if page.head.get("measures") and page.notebook and not told:
        yield 1, "it measures and leaves torch's threads to the machine; set_num_threads(1) first"


def long(page: Page) -> Found:
    """Find open code that is too long to follow."""
    for cell in cells_of(page):
        count = sum(bool(line.strip()) for line in cell.code.splitlines())
        if count > LONGEST and not cell.figure and not HIDDEN & set(cell.tags):
            says = f"{count} lines of open code, of which readers follow {LONGEST}"
            yield cell.line, f"{says}; move part into the package or a setup cell"


def caption(page: Page) -> Found:
    """Find a figure of the package without a caption."""
    for cell in cells_of(page):
        shown = [node.value for node in parsed(cell.code).body[-1:] if isinstance(node, ast.Expr)]
        drawn = (name_of(call) for call in shown if isinstance(call, ast.Call))
        if any(name.startswith("draw_") for name in drawn) and not inner(cell.figure, "caption"):
            says = "this figure has no caption, which is read alone"
            yield cell.line, f"{says}; add `mystnb: figure: caption:` and a name"


def unseeded(page: Page) -> Found:
    """Find random numbers that differ in each build."""
    seeded = False
    for cell in cells_of(page):
        seeded = seeded or calls(cell.code, SEEDING)
        for line, node in _nodes(cell):
            if isinstance(node, ast.Call) and _draws_unseeded(node) and not seeded:
                says = f"{name_of(node)} draws other numbers in each build"
                yield line, f"{says}; call torch.manual_seed(...) before it, or give it a generator"


def vacuous(page: Page) -> Found:
    """Find comparisons that no assertion reads, here or in two cells below."""
    cells = cells_of(page)
    for index, cell in enumerate(cells):
        proofs = (near.code for near in cells[index : index + 3] if kinds_of(near.code))
        asserted = set().union(*(_names_in(parsed(code)) for code in proofs))
        shown = parsed(cell.code).body[-1:]  # what a reader sees of it, if it has a value
        for line, node in _nodes(cell):
            if isinstance(node, ast.Expr):
                if isinstance(node.value, ast.Compare) and node not in shown:
                    yield line, "this comparison is dropped; assert what has to hold"
                names = asserted if node in shown or _prints(node) else set[str]()
                if name := _unread(node, names):
                    says = f"the result of {name} is not read by the build"
                    yield line, f"{says}; assert what has to hold"


def network(page: Page) -> Found:
    """Find what needs a network."""
    for line, node in _all_nodes(page):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or ""]
        if any(name.split(".")[0] in NETWORK and name != "urllib.parse" for name in modules):
            yield line, "a page runs without a network; keep what it needs in the package"


def writes(page: Page) -> Found:
    """Find what leaves a file behind."""
    for cell in cells_of(page):
        temporary = "TemporaryDirectory" in cell.code or "BytesIO" in cell.code
        for line, node in _nodes(cell):
            if isinstance(node, ast.Call) and not temporary:
                mode = [a.value for a in node.args[1:2] if isinstance(a, ast.Constant)]
                opens = name_of(node) == "open" and set(str(*mode)) & set("wax")
                if opens or name_of(node) in WRITING:
                    yield line, "a page leaves no file behind; write into a TemporaryDirectory"


def installs(page: Page) -> Found:
    """Find what installs something."""
    for line, node in _all_nodes(page):
        if isinstance(node, ast.Call) and name_of(node) in SHELL:
            said = [a.value for a in node.args if isinstance(a, ast.Constant)]
            if "pip" in str(said):
                yield line, "a page installs nothing; add the dependency to pyproject.toml"


def path(page: Page) -> Found:
    """Find places on one machine."""
    for line, node in _all_nodes(page):
        if isinstance(node, ast.Constant) and str(node.value).startswith(PLACES):
            says = f"{str(node.value)[:30]!r} is a place on one machine"
            yield line, f"{says}; use a relative path"


def calls(code: str, names: set[str]) -> bool:
    """Tell whether a cell calls one of these functions."""
    return any(isinstance(n, ast.Call) and name_of(n) in names for n in ast.walk(parsed(code)))


def _nodes(cell: Cell) -> Iterator[tuple[int, ast.AST]]:
    for node in ast.walk(parsed(cell.code)):
        yield cell.line + getattr(node, "lineno", 1) - 1, node


def _all_nodes(page: Page) -> Iterator[tuple[int, ast.AST]]:
    for cell in cells_of(page):
        yield from _nodes(cell)


def _names_in(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _prints(node: ast.Expr) -> bool:
    return isinstance(node.value, ast.Call) and name_of(node.value) == "print"


def _unread(node: ast.Expr, asserted: set[str]) -> str:
    """Name the comparison that is called or printed, unless all that it compares is asserted."""
    call = node.value
    if _prints(node) and isinstance(call, ast.Call) and call.args:
        call = call.args[-1]
    if not isinstance(call, ast.Call) or name_of(call) not in COMPARING:
        return ""
    compared = set().union(*(_names_in(each) for each in call.args))
    return "" if asserted and compared <= asserted else name_of(call)


def _draws_unseeded(call: ast.Call) -> bool:
    keywords = {keyword.arg for keyword in call.keywords}
    owner = getattr(call.func, "value", None)
    initializes = getattr(owner, "attr", getattr(owner, "id", "")) == "init"
    return name_of(call) in DRAWING and "generator" not in keywords and not initializes
