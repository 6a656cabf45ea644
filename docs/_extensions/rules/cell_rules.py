"""What the code of a cell has to keep to, read with Python's own parser."""

import ast
from collections.abc import Iterator

from claims.cells import name_of, parsed

COMPARING = {"allclose", "equal", "isclose", "array_equal", "is_close"}
DRAWING = {"rand", "randn", "randint", "randperm", "normal", "multinomial", "bernoulli"}
SEEDING = {"manual_seed", "seed", "default_rng", "Generator"}
NETWORK = {"urllib", "requests", "http", "socket", "ftplib", "httpx", "aiohttp"}
WRITING = {"write_text", "write_bytes", "to_csv", "savefig"}

Found = tuple[int, str, str]


def in_cell(code: str, *, seeded: bool, asserted: set[str]) -> Iterator[Found]:
    """Give the line in the cell, the rule and what is wrong, for everything that is.

    A page may have seeded a generator before, and may assert something of the names that this
    cell only shows in it or in the next ones.
    """
    tree = parsed(code)
    temporary = "TemporaryDirectory" in code or "BytesIO" in code
    seeded = seeded or is_seeded(code)
    shown = tree.body[-1:]  # what a reader sees of it, if it has a value
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1) - 1
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Compare) and node not in shown:
            yield line, "vacuous", "this comparison is dropped; assert what has to hold"
        names = asserted if node in shown or _prints(node) else set[str]()
        for rule, says in (*_vacuous(node, names), *_outside(node, temporary)):
            yield line, rule, says
        if isinstance(node, ast.Call) and _draws_unseeded(node) and not seeded:
            says = (
                f"{name_of(node)} draws other numbers in each build; call torch.manual_seed(...) "
                "before it, or give it a generator"
            )
            yield line, "unseeded", says


def is_seeded(code: str) -> bool:
    """Tell whether a cell seeds a generator."""
    return calls(code, SEEDING)


def calls(code: str, names: set[str]) -> bool:
    """Tell whether a cell calls one of these functions."""
    return any(isinstance(n, ast.Call) and name_of(n) in names for n in ast.walk(parsed(code)))


def _prints(node: ast.AST) -> bool:
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and name_of(call) == "print"


def names_in(node: ast.AST) -> set[str]:
    """Give the names of variables and functions in a piece of code."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def _vacuous(node: ast.AST, asserted: set[str]) -> Iterator[tuple[str, str]]:
    """Find comparisons that nothing depends on, and assertions that cannot fail."""
    says = None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        inner = call.args[-1] if _prints(node) and call.args else call
        if isinstance(inner, ast.Call) and name_of(inner) in COMPARING:
            compared = set().union(*(names_in(each) for each in inner.args))
            if not compared <= asserted or not asserted:
                says = f"the result of {name_of(inner)} is not read by the build"
    if isinstance(node, ast.Assert):
        if isinstance(node.test, ast.Constant) and node.test.value:
            says = "this assertion is always true"
        elif isinstance(node.test, ast.Tuple):
            says = "a tuple is always true, so this assertion cannot fail"
        elif isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.Or):
            ends = [v for v in node.test.values if isinstance(v, ast.Constant) and v.value]
            says = "`or True` makes this assertion always true" if ends else None
    if says:
        yield "vacuous", f"{says}; assert what has to hold"


def _outside(node: ast.AST, temporary: bool) -> Iterator[tuple[str, str]]:
    """Find what reaches beyond the page: network, files, installations, a machine's paths."""
    modules = []
    if isinstance(node, ast.Import):
        modules = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        modules = [node.module or ""]
    if any(name.split(".")[0] in NETWORK and name != "urllib.parse" for name in modules):
        yield "network", "a page runs without a network; keep what it needs in the package"
    if isinstance(node, ast.Call):
        said = [a.value for a in node.args if isinstance(a, ast.Constant)]
        mode = next((str(m) for m in said[1:2]), "")
        writes = name_of(node) in WRITING or (name_of(node) == "open" and set(mode) & set("wax"))
        if writes and not temporary:
            yield "writes", "a page leaves no file behind; write into a TemporaryDirectory"
        if name_of(node) in ("system", "run_line_magic", "getoutput") and "pip" in str(said):
            yield "installs", "a page installs nothing; add the dependency to pyproject.toml"
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        start = node.value[:7]
        if start.startswith(("/home/", "/Users/", "/root/", "/tmp/", "C:\\")):
            yield "path", f"{node.value[:30]!r} is a place on one machine; use a relative path"


def _draws_unseeded(call: ast.Call) -> bool:
    keywords = {keyword.arg for keyword in call.keywords}
    return name_of(call) in DRAWING and "generator" not in keywords and _owner(call) != "init"


def _owner(call: ast.Call) -> str:
    called = call.func
    if not isinstance(called, ast.Attribute):
        return ""
    return getattr(called.value, "attr", getattr(called.value, "id", ""))
