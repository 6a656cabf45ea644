"""The forms that are timed compute the same, on the rows that were asked for."""

import pytest
import torch

from lookup_matmul import check_bags
from lookup_matmul.timings import bag_contenders, check_bag_contenders, zipf_bags


def test_rows_are_as_asked():
    """As many rows and entries, within the table, distinct and ascending."""
    bags = zipf_bags(20, 7, 50)
    check_bags(bags, 50)
    rows = bags.ids.reshape(20, 7)
    assert (rows.diff() > 0).all()
    assert (bags.weights >= 0).all()
    assert (bags.weights < 1).all()


def test_frequencies_follow_the_law():
    """With one entry in a row the most frequent column has its share, 1 over a harmonic number."""
    vocab_size, rows = 50, 20_000
    counts = torch.bincount(zipf_bags(rows, 1, vocab_size).ids, minlength=vocab_size)
    share = counts.sort(descending=True).values.double() / rows
    expected = 1 / torch.arange(1, vocab_size + 1).double()
    expected /= expected.sum()
    deviation = (expected * (1 - expected) / rows).sqrt()
    assert (abs(share - expected)[:5] < 5 * deviation[:5]).all()
    assert zipf_bags(9, 5, 40, seed=3).ids.tolist() == zipf_bags(9, 5, 40, seed=3).ids.tolist()
    assert zipf_bags(9, 5, 40, seed=3).ids.tolist() != zipf_bags(9, 5, 40, seed=4).ids.tolist()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_all_forms_pass_the_check(dtype):
    """Each gives the rows of the float64 sum, within its rounding."""
    bags = zipf_bags(20, 7, 50)
    bags = bags._replace(weights=bags.weights.to(dtype))
    weight = torch.randn(50, 8, dtype=dtype, generator=torch.Generator().manual_seed(0))
    contenders = bag_contenders(bags, weight)
    assert len(contenders) == 5
    check_bag_contenders(contenders, bags, weight)


def test_a_form_that_drops_the_values_is_refused():
    """A sum without weights is not what is to be timed."""
    bags, weight = zipf_bags(20, 7, 50), torch.randn(50, 8)
    contenders = bag_contenders(bags, weight) | {
        "unweighted": lambda: weight[bags.ids.view(20, 7)].sum(1)
    }
    with pytest.raises(AssertionError, match="the contender 'unweighted' is not to be timed"):
        check_bag_contenders(contenders, bags, weight)
