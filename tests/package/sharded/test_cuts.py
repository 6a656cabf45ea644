"""A table is cut as torch cuts it."""

import pytest
import torch

from lookup_matmul.sharded import cut


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
def test_cuts_are_those_of_torch(parts):
    """Parts follow each other without a gap, and are torch's chunks, then empty ones."""
    for size in range(9):
        whole = torch.arange(size)
        got = [whole[part] for part in cut(size, parts)]
        assert len(got) == parts
        assert torch.cat(got).tolist() == whole.tolist()
        chunks = [chunk.tolist() for chunk in whole.chunk(parts)] if size else []
        assert [part.tolist() for part in got if len(part)] == chunks
