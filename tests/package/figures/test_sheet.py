"""A sheet writes well-formed SVG: texts are escaped, colors are the page's, and all is on it."""

from drawings import assert_inside, assert_sound, box, elements, heights, texts

from lookup_matmul.figures.palette import COLORS, FILLS, INK, STROKES, colors_of
from lookup_matmul.figures.sheet import CELL_HEIGHT, CELL_WIDTH, Sheet


def drawn():
    """Draw one of each on a sheet."""
    sheet = Sheet(200)
    sheet.text(100, 0.5, 'a < b & "c"')
    sheet.row(1, "row 0", ["1.5", "2.5"], colors_of(2))
    sheet.row(2, "row 1", ["0", "1"], colors_of(3), only=1)
    sheet.line((4, 3.2), (150, 3.2))
    sheet.arrow((150, 1.5), (150, 2.5), colors_of(2)[1], bend=9.0)
    sheet.cell(42, 4, 49, fill=FILLS[0], fill_opacity=0.5, stroke_dasharray="1 2")
    sheet.dot(50, 4.5)
    return sheet.finish('The story of <a> & "b".')


def test_a_drawing_is_sound_and_everything_is_on_it():
    """Also an arrow that was to bend further than the sheet is wide."""
    assert_sound(drawn())
    assert_inside(drawn())
    assert drawn()._repr_html_() == drawn().svg


def test_a_label_stands_before_its_row_and_a_text_in_the_middle_of_its_cell():
    """And the sheet ends just below, so that every caption is as near."""
    sheet = Sheet(200)
    sheet.row(3, "row 0", ["1", "2"])
    drawing = sheet.finish("A row.")
    left = [float(cell.get("x", "")) for cell in elements(drawing.svg, "rect")]
    label, *middles = [float(text.get("x", "")) for text in elements(drawing.svg, "text")]
    assert label < left[0]
    assert middles == [x + CELL_WIDTH / 2 for x in left]
    assert box(drawing)[1] == 4 * CELL_HEIGHT + 8


def test_an_arrow_points_to_its_end_and_a_wider_outline_lies_over_a_narrower_one():
    """Whatever was drawn first."""
    sheet = Sheet(100)
    sheet.cell(0, 0, 50, stroke_width=2)
    sheet.cell(50, 0, 50)
    sheet.arrow((50, 0), (50, 2))
    drawing = sheet.finish("Down.").svg
    assert [cell.get("x") for cell in elements(drawing, "rect")] == ["50", "0"]
    ((begin, tip),) = map(heights, elements(drawing, "path"))
    assert begin < tip


def test_texts_and_the_story_are_escaped():
    """A reader sees the very signs, in the picture and in its label."""
    assert texts(drawn().svg)[0] == 'a < b & "c"'
    assert elements(drawn().svg, "svg")[0].get("aria-label") == 'The story of <a> & "b".'


def test_an_id_has_one_color_everywhere():
    """They repeat after eight, and no two colors are written alike."""
    assert colors_of(10) == colors_of(2) == (FILLS[2], STROKES[2])
    assert len(set(COLORS.values())) == len(COLORS) == 22
    assert f"var(--figure-ink, {INK})" in drawn().svg
