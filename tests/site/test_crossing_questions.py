"""Questions to other frameworks, asked of torch, whose answers are known."""

import numpy as np
import pytest
import torch
from _tools.crossing_questions import (
    ONE_LONG_ROW,
    TABLE,
    SumOfRows,
    Tied,
    ask,
    attempt,
    describe_spread,
    make_bags,
    median_error,
    size_of,
    time_beside,
)
from torch.nn import functional


def look_up(ids, weight):
    """Return the rows by torch's lookup."""
    return functional.embedding(torch.tensor(ids), torch.tensor(weight))


def multiply(ids, weight):
    """Return the product with torch's one-hot rows."""
    return functional.one_hot(torch.tensor(ids), len(weight)).float() @ torch.tensor(weight)


def test_torch_answers_as_the_pages_say():
    """Both forms refuse ids outside, the product spreads a NaN, and ids are int32 or int64."""
    answers = ask(look_up, multiply)
    for form in ("lookup", "product"):
        outside = [a for q, a in answers[form].items() if q.startswith("id ")]
        assert len(outside) == 3
        assert all(answer.startswith("raises ") for answer in outside)
    assert answers["lookup beside a row of NaN"] == "equal in every bit"
    assert answers["product beside a row of NaN"].endswith("NaN in 1 of 2 numbers")
    rows = answers["row 1 by dtype of the id"]
    taken = [name for name, row in rows.items() if row == [TABLE[1].tolist()]]
    assert taken == ["int32", "int64"]


def test_another_row_is_noticed():
    """A lookup that clamps has other answers than one that raises."""
    clamped = ask(lambda ids, weight: weight[np.clip(ids, 0, 4)], multiply)["lookup"]
    assert [clamped[f"id {i}"] for i in (-1, -6, 5)] == ["row 0", "row 0", "row 4"]


def test_errors_become_text_without_a_place_in_a_file():
    """Numbers come back as lists, and an error as its first line."""
    assert attempt(lambda: torch.ones(2)) == [1.0, 1.0]

    def fail():
        raise ValueError("no such id (at /a/file.cc:1)\nmore")

    assert attempt(fail) == "ValueError: no such id"


@pytest.mark.parametrize(("draw", "uniform"), [(torch.rand, True), (torch.randn, False)])
def test_uniform_numbers_are_told_from_normal_ones(draw, uniform):
    """Uniform numbers end at 1.7 standard deviations, normal ones do not."""
    numbers = draw(500, 64) - (0.5 if uniform else 0.0)
    assert describe_spread(numbers)["uniform"] == uniform


def test_median_error_is_relative():
    """Rows that are 1% too long have an error of 1%."""
    assert median_error(ONE_LONG_ROW) == 0
    assert median_error(1.01 * ONE_LONG_ROW) == pytest.approx(0.01, abs=1e-4)


def test_recipe_is_a_bag():
    """The lookup with a sum that is timed equals torch's bag up to rounding."""
    table, ids = make_bags()
    expected = functional.embedding_bag(ids, table, mode="sum")
    torch.testing.assert_close(SumOfRows(table)(ids), expected)


def test_tied_model_has_one_table():
    """Its size is counted once."""
    model = Tied()
    assert model.head.weight is model.embedding.weight
    assert [*dict(model.named_parameters())] == ["embedding.weight"]
    assert size_of(2 * model.head.weight.nbytes) == 2.0


def test_times_are_named_and_ordered():
    """Each call has three quartiles, in the order in which they rise."""
    threads = torch.get_num_threads()
    times = time_beside(torch.ones(9).sum, {"other": torch.ones(9).mean})
    torch.set_num_threads(threads)
    low, middle, high = times["other"]
    assert list(times) == ["other"]
    assert 0 < low <= middle <= high
