"""Rules for the code of a page; while it runs, ``disturb`` finds more assertions that cannot fail.

See text.py and ``docs/_extensions/run/observer/disturb``.
"""

import ast
import builtins
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from _extensions.claims.checks import find_kind, find_kinds, get_name, has_only_glue
from _extensions.page_record import Page, parse_cell, walk_cell
from _extensions.rules.text import Findings, is_exempt
from _extensions.run.requirements import DRAWINGS, is_drawing

RANDOM = {"rand", "randn", "randint", "randperm", "normal", "multinomial", "bernoulli"}
SEEDING = {"manual_seed", "seed", "default_rng", "Generator"}
FOLDED_TAGS = {"check", "setup", "remove-input", "remove-cell"}
MAX_LINES = 15
PYTHON = {"python", "py", "ipython3"}
COMPARISONS = {"allclose", "equal", "isclose", "array_equal", "is_close"}
PURE = {*dir(builtins), "math", "np"}  # their functions of constants are constants


class Cell(NamedTuple):
    """A code cell of a page without its options, and the line of its first statement."""

    line: int
    tags: list[str]
    figure: dict[str, Any]
    code: str

    @property
    def is_open(self) -> bool:
        """Whether readers see the code without opening anything."""
        return not (FOLDED_TAGS & {*self.tags} or self.figure or has_only_glue(self.code))

    def nodes(self, kind: type[ast.AST] = ast.AST) -> Iterator[tuple[int, Any]]:
        """Yield the nodes of the syntax tree of a kind, each with its line on the page."""
        for node in walk_cell(self.code):
            if isinstance(node, kind):
                yield self.line + getattr(node, "lineno", 1) - 1, node

    def calls_any(self, names: set[str]) -> bool:
        """Return whether the cell calls one of these functions."""
        return any(get_name(call) in names for _, call in self.nodes(ast.Call))


def read_cells(page: Page) -> list[Cell]:
    """Return the code cells of a page."""
    cells = []
    for index, cell in enumerate(page.cells):
        if cell.cell_type == "code" and cell.source:
            figure = cell.metadata.get("mystnb", {}).get("figure")
            tags = cell.metadata.get("tags")
            cells.append(Cell(page.first_line(index), tags or [], figure or {}, cell.source))
    return cells


def threads(page: Page) -> Findings:
    """Find a page that measures times without fixing the number of threads."""
    is_fixed = any(cell.calls_any({"set_num_threads"}) for cell in read_cells(page))
    if page.head.get("measures") and page.notebook and not is_fixed:
        message = "the page measures times with a number of threads that depends on the machine"
        yield 1, f"{message}; call torch.set_num_threads(1) first"


def long_cell(page: Page) -> Findings:
    """Find open code that is too long to follow."""
    for cell in read_cells(page):
        count = sum(bool(line.strip()) for line in cell.code.splitlines())
        if count > MAX_LINES and cell.is_open:
            message = f"the cell has {count} lines of open code, expected at most {MAX_LINES}"
            yield cell.line, f"{message}; move part of it into the package or a setup cell"


def folded_name(page: Page) -> Findings:
    """Find open code that reads a name of a folded cell, which a reader who pastes it lacks."""
    for line, name in _find_lacking(page, lambda cell: cell.is_open):
        message = f"{name} is defined in a folded cell, which readers do not paste"
        yield line, f"{message}; define it in an open cell"


def drawing_alone(page: Page) -> Findings:
    """Find code that needs a drawing's cell, or is in it; a notebook has the picture instead."""
    for line, name in _find_lacking(page, lambda cell: not is_drawing(cell.code)):
        message = f"{name} is defined in a cell that imports {DRAWINGS}, which no notebook runs"
        yield line, f"{message}; define it in another cell"
    for cell in read_cells(page):
        if is_drawing(cell.code) and (find_kinds(cell.code) or "setup" in cell.tags):
            message = f"this cell imports {DRAWINGS}, and no notebook runs it"
            yield cell.line, f"{message}; import in the cell that draws, and check in another"


def caption(page: Page) -> Findings:
    """Find a figure of the package without a caption."""
    for cell in read_cells(page):
        match parse_cell(cell.code).body[-1:]:
            case [ast.Expr(value=ast.Call() as call)] if get_name(call).startswith("draw_"):
                if not cell.figure.get("caption"):
                    message = "this figure has no caption"
                    yield cell.line, f"{message}; add `mystnb: figure: caption:` and a name"


def unseeded(page: Page) -> Findings:
    """Find random numbers that differ in each build."""
    is_seeded = False
    for cell in read_cells(page):
        is_seeded_here = is_seeded or cell.calls_any(SEEDING)
        is_seeded = is_seeded if is_drawing(cell.code) else is_seeded_here
        for line, call in cell.nodes(ast.Call):
            has_generator = any(keyword.arg == "generator" for keyword in call.keywords)
            if get_name(call) in RANDOM and not is_seeded_here and not has_generator:
                message = f"{get_name(call)} draws other numbers in each build"
                yield line, f"{message}; call torch.manual_seed(...) first, or pass a generator"


def varying_text(page: Page) -> Findings:
    """Find texts that differ by version, or in each process, so that what learns them differs."""
    for cell in read_cells(page):
        for line, node in cell.nodes():
            match node:
                case (
                    ast.Attribute(attr="__doc__" as name)
                    | ast.Name(id=("hash" | "help") as name)
                    | ast.alias(name="pydoc" as name)
                    | ast.ImportFrom(module=("pydoc" | "pydoc_data.topics") as name)
                ):
                    message = f"{name} differs by version of Python or of a library, or each time"
                    yield line, f"{message}; read a text that is recorded in the package"


def never_run(page: Page) -> Findings:
    """Find code that is never run, except in sections that repeat or ask."""
    for line in page.prose:
        is_python = line.element == "fence" and line.text.partition(" ")[0] in PYTHON
        if is_python and not is_exempt(line):
            yield line.number, "this code is never run, so it may be wrong; make it a {code-cell}"
    for cell in read_cells(page):
        if "skip-execution" in cell.tags and "recorded" not in cell.tags:
            message = "this cell is never run, so it may be wrong"
            yield cell.line, f"{message}; remove the tag skip-execution"


def unasserted(page: Page) -> Findings:
    """Find comparisons whose result no assertion of this cell or of the next two reads."""
    cells = read_cells(page)
    for index, cell in enumerate(cells):
        checks = [near.code for near in cells[index : index + 3] if find_kinds(near.code)]
        for line, statement in cell.nodes(ast.Expr):
            value = statement.value
            is_shown = statement in parse_cell(cell.code).body[-1:]
            if get_name(value) == "print" and value.args:
                value = value.args[-1]
                is_shown = True
            if isinstance(value, ast.Compare) and not is_shown:
                yield line, "the result of this comparison is dropped; assert what has to hold"
            if get_name(value) in COMPARISONS:
                operands = set().union(*map(_names_in, value.args))
                asserted_names = set().union(*map(_names_in, map(parse_cell, checks)))
                if not (is_shown and operands <= asserted_names):
                    message = f"no assertion reads the result of {get_name(value)}"
                    yield line, f"{message}; assert what has to hold"


def cannot_fail(page: Page) -> Findings:
    """Find assertions whose failure can be caught, or that test constants only."""
    for cell in read_cells(page):
        guards = [node for _, node in cell.nodes() if _can_catch(node)]
        guarded = {node for guard in guards for part in guard.body for node in ast.walk(part)}
        for line, node in cell.nodes():
            if not find_kind(node):
                continue
            operands = node.args[:2] if isinstance(node, ast.Call) else [node.test]
            test: Any = operands[0] if operands else node
            is_choice = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)
            alternatives = test.values if is_choice else []
            if node in guarded:
                yield (
                    line,
                    "the code around it can catch the failure of this assertion; move it",
                )
            elif all(map(_is_constant, operands or [test])) or any(map(_is_constant, alternatives)):
                yield line, "a constant decides this assertion; assert what the page computed"


def _find_lacking(page: Page, is_run: Callable[[Cell], bool]) -> Iterator[tuple[int, str]]:
    """Yield line and name where cells that run read what only other cells define."""
    missing, defined = set[str](), set[str]()
    for cell in read_cells(page):
        bound = {*_bound_names(cell)}
        if not is_run(cell):
            missing |= bound
            continue
        for line, node in cell.nodes(ast.Name):
            if node.id in missing - defined - bound:
                yield line, node.id
        defined |= bound


def _can_catch(node: ast.AST) -> bool:
    items = node.items if isinstance(node, ast.With) else []
    names = [get_name(item.context_expr) for item in items]
    return isinstance(node, ast.Try) or "suppress" in names


def _is_constant(expression: ast.AST) -> bool:
    """Return whether an expression reads only constants, sizes of dtypes and pure functions."""
    nodes = list(ast.walk(expression))
    sizes = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr == "itemsize"]
    of_sizes = {node for size in sizes for node in ast.walk(size)}
    names = [node for node in nodes if isinstance(node, ast.Name) and node not in of_sizes]
    local = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return {name.id for name in names} <= PURE | local


def _bound_names(cell: Cell) -> Iterator[str]:
    """Yield the names that a cell binds: variables, functions, classes, arguments, imports."""
    for _, node in cell.nodes():
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                yield name
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.alias(name=name, asname=alias):
                yield alias or name.partition(".")[0]


def _names_in(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
