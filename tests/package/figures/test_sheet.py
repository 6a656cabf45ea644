"""A sheet writes valid SVG: escaped texts, colors of the page, and all shapes inside."""

from drawings import arrow_heights, assert_valid, attributes, elements, size, texts

from lookup_matmul.figures.sheet import CELL_HEIGHT, CELL_WIDTH, FILLS, STROKES, Sheet, id_colors


def test_shapes_are_inside_the_sheet_and_texts_escaped():
    """An arrow that would bend over the edge bends less; a parser returns the characters."""
    sheet = Sheet(200)
    sheet.text(100, 0.5, 'a < b & "c"')
    sheet.row(2, "row 1", ["0", "1"], id_colors(3), only=1)
    sheet.line((4, 3.2), (150, 3.2))
    sheet.arrow((150, 1.5), (150, 2.5), id_colors(2)[1], bend=9.0)
    sheet.cell(42, 4, 49, fill=FILLS[0], fill_opacity=0.5, stroke_dasharray="1 2")
    sheet.dot(50, 4.5)
    drawing = sheet.to_drawing('The alt of <a> & "b".')
    assert_valid(drawing)
    assert drawing._repr_html_() == drawing.svg
    assert texts(drawing.svg)[0] == 'a < b & "c"'
    assert elements(drawing.svg, "svg")[0].get("aria-label") == 'The alt of <a> & "b".'
    assert id_colors(11) == id_colors(3) == (FILLS[3], STROKES[3])
    assert f"var(--figure-fill-3, {FILLS[3]})" in drawing.svg


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


def test_wide_outlines_cover_narrow_ones_and_arrows_point_to_their_end():
    """The order in which shapes were drawn does not matter."""
    sheet = Sheet(100)
    sheet.cell(0, 0, 50, stroke_width=2)
    sheet.cell(50, 0, 50)
    sheet.arrow((50, 0), (50, 2))
    svg = sheet.to_drawing("Down.").svg
    assert [cell.get("x") for cell in elements(svg, "rect")] == ["50", "0"]
    ((start, tip),) = map(arrow_heights, elements(svg, "path"))
    assert start < tip
