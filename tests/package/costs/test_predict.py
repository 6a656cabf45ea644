"""Ceilings find what a machine was made to do, and a prediction is what a hand makes of them."""

import json
import math

import pytest
from made_up_recording import every_form

from lookup_matmul.costs import Case, Spread, kernels, measure_ceilings, predict, predicted_s

LOOKUP = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")
FORMS = every_form(LOOKUP, 1)


def triple(value):
    """Quartiles of which only the middle one is to be used."""
    return [value / 2, value, value * 3]


def machine(**changed):
    """Give the ceilings of a machine with round numbers."""
    fixed = {
        cache: {predict.key_of(case): triple(0.0) for case in FORMS} for cache in ("hot", "cold")
    }
    return {
        "fixed_s": fixed,
        "row_s": {"hot": {}, "cold": {}},
        "bandwidth": [{"working_set": 2**10, "bytes_per_s": triple(1e30)}],
        "first_touch": [],
        "rate": {"float32": {"random": triple(1e30)}},
    } | changed


def curve(*points):
    """Give bandwidths by working set."""
    return [{"working_set": size, "bytes_per_s": triple(rate)} for size, rate in points]


def test_the_fixed_cost_is_that_of_the_form_and_the_cache():
    """Forward is not backward, a bag's product is not another, and hot is not cold."""
    prices = {
        cache: {predict.key_of(case): triple(k + offset) for k, case in enumerate(FORMS)}
        for cache, offset in [("hot", 1), ("cold", 100)]
    }
    for k, case in enumerate(FORMS):
        if case.form != "compiled one-hot":
            assert predicted_s(case, 2, machine(fixed_s=prices)) == pytest.approx(k + 1)
            cold = predicted_s(case._replace(cache="cold"), 2, machine(fixed_s=prices))
            assert cold == pytest.approx(k + 100)
    compiled, product = (
        predicted_s(LOOKUP._replace(form=form), 2, machine(fixed_s=prices))
        for form in ("compiled one-hot", "multiplication alone")
    )
    assert compiled == pytest.approx(product)


def test_each_row_has_its_price():
    """Where ids are handled one by one, and in no other form."""
    row = {"hot": {"forward lookup": triple(2.0)}, "cold": {}}
    assert predicted_s(LOOKUP, 2, machine(row_s=row)) == pytest.approx(6)
    product = LOOKUP._replace(form="multiplication alone")
    assert predicted_s(product, 2, machine(row_s=row)) < 1e-20


def test_bytes_take_the_bandwidth_of_the_level_they_live_in():
    """124 bytes: between two points by the logarithm, beyond the ends the nearest, cold the last."""
    (kernel,) = kernels(LOOKUP, 2)
    assert kernel.bytes == kernel.working_set == 124
    levels = curve((31, 31.0), (496, 93.0))  # 124 is half way in the logarithm
    assert predicted_s(LOOKUP, 2, machine(bandwidth=levels)) == pytest.approx(124 / 62)
    assert predicted_s(LOOKUP, 2, machine(bandwidth=curve((200, 31.0), (496, 93.0)))) == 124 / 31
    assert predicted_s(LOOKUP, 2, machine(bandwidth=curve((20, 31.0), (100, 93.0)))) == 124 / 93
    exact = curve((31, 31.0), (124, 62.0), (496, 93.0))
    assert predicted_s(LOOKUP, 2, machine(bandwidth=exact)) == 2
    cold = LOOKUP._replace(cache="cold")
    assert predicted_s(cold, 2, machine(bandwidth=levels)) == pytest.approx(124 / 93)


def test_kernels_follow_each_other_and_each_waits_for_its_slowest():
    """Zeros and ones move bytes, the product computes: the sum of maxima, not a maximum of sums."""
    case = LOOKUP._replace(form="one-hot built and multiplied")
    rate = {"float32": {"random": triple(60.0)}}
    slow = machine(bandwidth=curve((1, 124.0)), rate=rate)
    zeros, ones, product = kernels(case, 2)
    assert (zeros.bytes, ones.bytes, product.bytes, product.operations) == (48, 24, 188, 120)
    moved = 48 / 124 + 24 / 124
    assert predicted_s(case, 2, slow) == pytest.approx(moved + max(188 / 124, 120 / 60))
    half = case._replace(dtype="bfloat16")  # of half the bytes, at the rate of float32
    assert predicted_s(half, 2, slow) == pytest.approx(24 / 124 + 24 / 124 + 120 / 60)
    rate["bfloat16"] = {"random": triple(240.0)}  # or at its own
    assert predicted_s(half, 2, slow) == pytest.approx(24 / 124 + 24 / 124 + 94 / 124)


def test_new_memory_is_paid_for_when_it_is_touched():
    """Each tensor by its own size."""
    touch = [
        {"allocated": 50, "s_per_byte": triple(0.0)},
        {"allocated": 60, "s_per_byte": triple(0.5)},
    ]
    assert predicted_s(LOOKUP, 2, machine(first_touch=touch)) == pytest.approx(30)
    case = LOOKUP._replace(form="one-hot built and multiplied")  # of 48 and of 60 bytes
    assert predicted_s(case, 2, machine(first_touch=touch)) == pytest.approx(30)


@pytest.fixture
def clockwork(monkeypatch):
    """Let a machine with known numbers answer instead of the clock."""
    asked = []

    def answer(contenders, *, rounds, block_s, prepare=None, device="cpu"):
        assert block_s > 0
        tables = [
            call.args[1] for name, call in contenders.items() if name == ("forward lookup", 1024)
        ]
        asked.append((prepare is not None, device, [table.nbytes for table in tables]))
        times = {}
        for name, call in contenders.items():
            if isinstance(name, tuple):  # a form and a number of ids
                seconds = (50e-6 if prepare else 2e-6) + (name[1] > 2) * 1024 * 7e-9
            elif isinstance(name, int):  # bytes that a copy reads and writes
                seconds = 1e-6 + name / 8e9
            elif name in ("new", "old"):
                size = call.args[0] * 4 if name == "new" else call.__self__.nbytes
                seconds = size / 4e9 * (3 if name == "new" and size > 2**25 else 1)
            else:  # a product
                seconds = 2 * len(call.args[0]) ** 3 / 1e11
            times[name] = Spread(seconds, seconds * 0.9, seconds * 1.2, rounds, 1)
        return times

    monkeypatch.setattr(predict, "time_side_by_side", answer)
    return asked


@pytest.mark.parametrize("quick", [True, False])
def test_the_numbers_of_a_known_machine_are_found_again(clockwork, quick):
    """The price of a call is taken off before bytes and rows are divided by time.

    Rows that are taken one by one lie in 64 KiB if they are hot, and anywhere in 4 MiB if cold.
    """
    found = measure_ceilings("cpu", quick=quick)
    assert found["fixed_s"]["hot"]["forward lookup"] == pytest.approx([1.8e-6, 2e-6, 2.4e-6])
    assert found["fixed_s"]["cold"]["bags embedding bag"][1] == pytest.approx(50e-6)
    assert found["row_s"]["hot"]["forward lookup"][1] == pytest.approx(7e-9)
    assert found["row_s"]["cold"]["forward lookup"][1] == pytest.approx(7e-9)
    for point in found["bandwidth"]:
        # A call of 8 bytes, which stands for the price, has 1 ns for them.
        assert point["bytes_per_s"][1] == pytest.approx(8e9, rel=1e-3)
    sizes = [point["working_set"] for point in found["bandwidth"]]
    assert sizes == sorted(set(sizes))
    assert sizes[0] == 2**15
    assert sizes[-1] == (2**27 if quick else 2**29)
    assert found["first_touch"]
    for point in found["first_touch"]:
        expected = 2 / 4e9 if point["allocated"] > 2**25 else 0
        assert point["s_per_byte"][1] == pytest.approx(expected)
    assert found["rate"]["float32"]["random"][1] == pytest.approx(1e11)
    looked_up = [(cold, *sizes) for cold, _, sizes in clockwork if sizes]
    assert looked_up == [(False, 2**16), (True, 2**22)]
    assert [cold for cold, *_ in clockwork].count(True) == 1
    assert {device for _, device, _ in clockwork} == {"cpu"}
    assert set(found["rate"]) == {"float32"}
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    for case in FORMS:  # and none lacks what its prediction needs
        assert 0 < predicted_s(case, 2, found) < math.inf
        if case.direction == "forward":
            assert 0 < predicted_s(case._replace(cache="cold"), 2, found) < math.inf
