"""``cut`` divides rows as ``torch.chunk`` does."""

import pytest
import torch

from lookup_matmul.sharded import cut


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_cuts_are_those_of_torch(parts):
    """Parts follow each other without a gap, and are torch's chunks, then empty ones."""
    for size in range(9):
        rows = torch.arange(size)
        parts_of_rows = [rows[part] for part in cut(size, parts)]
        assert len(parts_of_rows) == parts
        assert torch.cat(parts_of_rows).tolist() == rows.tolist()
        chunks = [chunk.tolist() for chunk in rows.chunk(parts)] if size else []
        assert [part.tolist() for part in parts_of_rows if len(part)] == chunks


@pytest.mark.parametrize(("size", "parts"), [(3, 0), (3, -1), (-1, 2)])
def test_sizes_without_a_cut_are_refused(size, parts):
    """The message has both numbers."""
    with pytest.raises(ValueError, match=f"size is {size} and parts is {parts}, expected"):
        cut(size, parts)
