"""``cut`` has the chunks of torch."""

import pytest
import torch

from lookup_matmul.sharded import cut


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_cuts_are_those_of_torch(parts):
    """The parts are torch's chunks, followed by empty ones."""
    for size in range(9):
        rows = torch.arange(size)
        slices = [rows[part] for part in cut(size, parts)]
        assert len(slices) == parts
        assert torch.cat(slices).tolist() == rows.tolist()
        chunks = [chunk.tolist() for chunk in rows.chunk(parts)] if size else []
        assert [part.tolist() for part in slices if len(part)] == chunks


@pytest.mark.parametrize(("size", "parts"), [(3, 0), (3, -1), (-1, 2)])
def test_impossible_cuts_are_refused(size, parts):
    """The error names both arguments."""
    message = f"size is {size} and parts is {parts}, expected size >= 0 and parts >= 1"
    with pytest.raises(ValueError, match=message):
        cut(size, parts)
