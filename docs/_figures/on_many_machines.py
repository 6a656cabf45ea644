"""Three ways to distribute two tables over two machines."""

from itertools import product

from lookup_matmul.figures.sheet import QUIET, Drawing, Sheet, id_colors

LABEL_WIDTH = 76
CELL_WIDTH = 24
GAP = 14


def draw_cuts(rows: int, columns: int) -> Drawing:
    """Draw two tables on two machines: whole, cut by rows, and cut by columns."""
    sheet = Sheet(LABEL_WIDTH + 2 * columns * CELL_WIDTH + 20, 19)
    table_x = [LABEL_WIDTH + table * (columns * CELL_WIDTH + GAP) for table in range(2)]
    for name, x in zip("AB", table_x, strict=True):
        sheet.text(x + columns * CELL_WIDTH / 2, 0.5, f"table {name}", QUIET)
    for k, cut in enumerate(("whole tables", "by rows", "by columns")):
        top = 1.1 + k * (rows + 0.7)
        sheet.text(LABEL_WIDTH - 8, top + rows / 2, cut, anchor="end")
        for table, i, j in product(range(2), range(rows), range(columns)):
            machine = (table, 2 * i // rows, 2 * j // columns)[k]
            fill, color = id_colors(machine)
            x = table_x[table] + j * CELL_WIDTH
            sheet.cell(x, top + i, CELL_WIDTH, str(machine), color, fill=fill)
    return sheet.to_drawing(
        f"Two tables of {rows} rows and {columns} columns on machines 0 and 1. "
        "Whole tables: machine 0 holds table A and machine 1 table B. "
        f"By rows: machine 0 holds the first {rows // 2} rows of both tables, machine 1 the rest. "
        f"By columns: machine 0 holds the first {columns // 2} columns of both, machine 1 the rest."
    )
