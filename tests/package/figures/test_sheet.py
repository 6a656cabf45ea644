"""A sheet places labels and cells, and draws wide outlines last; other tests draw figures."""

from drawings import attributes, elements, size

from lookup_matmul.figures.sheet import CELL_HEIGHT, CELL_WIDTH, FILLS, STROKES, Sheet, id_colors


def test_a_row_has_its_label_on_the_left_and_texts_in_the_middle_of_cells():
    """The sheet ends 8 points below the lowest shape."""
    sheet = Sheet(200)
    sheet.row(3, "row 0", ["1", "2"])
    drawing = sheet.to_drawing("A row.")
    left_edges = [x for cell in elements(drawing.svg, "rect") for x in attributes(cell, "x")]
    label, *middles = [x for text in elements(drawing.svg, "text") for x in attributes(text, "x")]
    assert label < left_edges[0]
    assert middles == [x + CELL_WIDTH / 2 for x in left_edges]
    assert size(drawing)[1] == 4 * CELL_HEIGHT + 8


def test_wide_outlines_cover_narrow_ones_and_colors_repeat():
    """The order in which shapes were drawn does not matter; there are eight colors of ids."""
    sheet = Sheet(100)
    sheet.cell(0, 0, 50, stroke_width=2)
    sheet.cell(50, 0, 50)
    svg = sheet.to_drawing("Two cells.").svg
    assert [cell.get("x") for cell in elements(svg, "rect")] == ["50", "0"]
    assert id_colors(11) == id_colors(3) == (FILLS[3], STROKES[3])
