"""A sheet writes valid SVG: escaped texts, colors of the page, and all shapes inside."""

from drawings import arrow_heights, assert_valid, attributes, elements, size, texts

from lookup_matmul.figures.sheet import (
    CELL_HEIGHT,
    CELL_WIDTH,
    COLORS,
    FILLS,
    INK,
    STROKES,
    Sheet,
    id_colors,
)


def draw_everything():
    """Draw one shape of each kind."""
    sheet = Sheet(200)
    sheet.text(100, 0.5, 'a < b & "c"')
    sheet.row(1, "row 0", ["1.5", "2.5"], id_colors(2))
    sheet.row(2, "row 1", ["0", "1"], id_colors(3), only=1)
    sheet.line((4, 3.2), (150, 3.2))
    sheet.arrow((150, 1.5), (150, 2.5), id_colors(2)[1], bend=9.0)
    sheet.cell(42, 4, 49, fill=FILLS[0], fill_opacity=0.5, stroke_dasharray="1 2")
    sheet.dot(50, 4.5)
    return sheet.to_drawing('The alt of <a> & "b".')


def test_every_shape_is_inside_the_sheet():
    """An arrow that would bend over the edge bends less."""
    drawing = draw_everything()
    assert_valid(drawing)
    assert drawing._repr_html_() == drawing.svg


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


def test_texts_and_alt_are_escaped():
    """A parser returns the original characters."""
    svg = draw_everything().svg
    assert texts(svg)[0] == 'a < b & "c"'
    assert elements(svg, "svg")[0].get("aria-label") == 'The alt of <a> & "b".'


def test_ids_have_distinct_colors_that_repeat_after_eight():
    """Each color is the default of a CSS property."""
    assert id_colors(10) == id_colors(2) == (FILLS[2], STROKES[2])
    assert len(set(COLORS.values())) == len(COLORS) == 22
    assert f"var(--figure-ink, {INK})" in draw_everything().svg
