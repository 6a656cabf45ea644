"""What several tests of the package share: devices at hand, a stand-in for a GPU, one thread."""

from collections.abc import Iterator

import pytest
import torch
from cuda_stand_in import Gpu, stand_in

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.fixture(params=DEVICES)
def device(request: pytest.FixtureRequest) -> str:
    """Run the test on every device of this machine."""
    return str(request.param)


@pytest.fixture
def gpu() -> Iterator[Gpu]:
    """Give a stand-in for a GPU, with two clocks."""
    with stand_in() as gpu:
        yield gpu


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """Compute with one thread: on tables of a few rows, several mostly wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
