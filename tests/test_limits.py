"""A time beyond a ceiling needs a reason, far beyond it cannot be, and each form has its own cost."""

import pytest

from lookup_matmul.timings import Case, Sizes, bag_cost, case_cost, over_limit

LOOKUP = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
PRODUCT = LOOKUP._replace(form="multiplication alone")
CEILINGS = {"copy_bytes_per_s": 1e9, "operations_per_s": {"float32": 1e9}}


@pytest.mark.parametrize(
    ("case", "factor", "said", "possible"),
    [
        (LOOKUP, 0.99, "", True),
        (LOOKUP, 1.01, "stays in a cache", True),
        (LOOKUP, 49, "stays in a cache", True),
        (LOOKUP, 51, "stays in a cache", False),
        (LOOKUP._replace(cache="cold"), 1.01, "what is written may stay in a cache", True),
        (PRODUCT, 0.5, "", True),
    ],
)
def test_bytes_against_the_copy(case, factor, said, possible):
    """Compulsory bytes over the time, as a multiple of the copy's rate."""
    seconds = case_cost(case, 2).compulsory_bytes / (factor * 1e9)
    found = over_limit(case, {"distinct": 2, "median_s": seconds}, CEILINGS)
    assert found == (found[0], possible)
    assert found[0].endswith(said)
    assert bool(found[0]) == bool(said)


@pytest.mark.parametrize(
    ("factor", "said", "possible"),
    [(0.99, False, True), (1.01, True, True), (9.9, True, True), (10.1, True, False)],
)
def test_operations_against_the_product(factor, said, possible):
    """120 operations, where bytes are no limit; a dtype without a ceiling has none."""
    result = {"distinct": 2, "median_s": 120 / (factor * 1e9)}
    ceilings = CEILINGS | {"copy_bytes_per_s": 1e15}
    found = over_limit(PRODUCT, result, ceilings)
    assert (found[0].endswith("shape and zeros can be kinder"), found[1]) == (said, possible)
    assert over_limit(PRODUCT._replace(dtype="float16"), result, ceilings) == ("", True)


def test_each_form_has_its_cost():
    """By hand: a table of 80 bytes, three ids, rows of 20 bytes, an encoding of 48."""
    bytes_of = {
        "lookup": 24 + 40 + 60,
        "index_select": 24 + 40 + 60,
        "one-hot built and multiplied": (48 + 24 + 12) + (48 + 80 + 60),
        "multiplication alone": 48 + 80 + 60,
        "compiled one-hot": 24 + 80 + 60,
        "sparse product": 3 * 4 + (3 + 3 + 1) * 4 + 40 + 60,
    }
    for form, expected in bytes_of.items():
        assert case_cost(LOOKUP._replace(form=form), 2).compulsory_bytes == expected
    bags = LOOKUP._replace(form="embedding bag", ids=6, bags=2)
    sizes = Sizes(4, 5, 6, 3, bags=2)
    assert case_cost(bags, 3) == bag_cost(sizes)
    without = bags._replace(form="embedding bag, without weights")
    assert case_cost(without, 3) == bag_cost(sizes, weighted=False)
    assert case_cost(bags._replace(form="sparse product"), 3) == bag_cost(sizes, index_bytes=4)
    dense = case_cost(bags._replace(form="multiplication alone"), 3)
    assert dense.operations == 2 * 2 * 4 * 5
    assert case_cost(LOOKUP._replace(form="lookup, sparse gradient", direction="backward"), 2) == (
        0, 0, 0, 0, 0
    )  # fmt: skip
