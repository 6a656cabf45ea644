"""The drawing of a CSR matrix shows its arrays under both of their names."""

import re

import numpy as np
import pytest
from drawings import assert_colours_can_be_replaced, assert_told, texts
from scipy import sparse

from lookup_matmul.figures import draw_csr

ROWS = sparse.csr_array(np.array([[0, 2, 0, 3], [0, 0, 0, 0], [1, 4, 0, 5]], dtype=np.float32))
DRAWING = draw_csr(ROWS)


def test_arrays_stand_in_the_picture_as_they_are():
    """The columns and the values in their order, the offsets once for each row and the end."""
    drawn = texts(DRAWING.svg)
    after = drawn[drawn.index("bag: per_sample_weights") + 1 : drawn.index("CSR: indptr")]
    assert after == ["1", "2", "3", "3", "0", "1", "1", "4", "3", "5"]
    assert drawn[drawn.index("bag: offsets") + 1 :] == ["0", "2, 2", "row 1: empty", "5"]
    assert [text for text in drawn if text.startswith("CSR")] == [
        "CSR: indices",
        "CSR: data",
        "CSR: indptr",
    ]


def test_a_column_has_its_colour_in_the_matrix_and_in_the_arrays():
    """An entry is outlined in its column's colour once in the matrix and twice in the arrays."""
    for column, entries in enumerate((1, 2, 0, 2)):
        outlined = re.findall(
            rf"stroke: var\(--figure-stroke-{column}, #[0-9a-f]{{6}}\); stroke-width: 1.6",
            DRAWING.svg,
        )
        assert len(outlined) == 3 * entries


def test_words_tell_the_same_story():
    """Each entry, the empty row, and each array under both names."""
    assert "Row 1 is empty." in DRAWING.alt
    assert "Row 0 has the value 2 in column 1 and the value 3 in column 3." in DRAWING.alt
    assert "0, 2, 2, 5, are CSR's indptr and the bag's offsets." in DRAWING.alt
    assert_told(DRAWING)


def test_every_colour_can_be_replaced_by_the_page():
    """No colour is fixed: each is a property with a fallback."""
    assert_colours_can_be_replaced(DRAWING)


@pytest.mark.parametrize("shape", [(7, 2), (2, 8), (3, 3), (2, 2)])
def test_what_nobody_could_read_is_refused(shape):
    """Too many rows, columns or entries, and a matrix without an entry."""
    rows = np.ones(shape) if shape == (3, 3) else np.zeros(shape)
    if shape != (2, 2):
        rows[0, 0] = 1
    with pytest.raises(ValueError, match="draw a slice"):
        draw_csr(sparse.csr_array(rows))
