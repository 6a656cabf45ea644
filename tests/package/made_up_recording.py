"""A recording such as a GPU would make, without any measurement."""

from lookup_matmul.costs import Case, kernels, predicted_s, sample_ids
from lookup_matmul.costs.contenders import forms_of
from lookup_matmul.costs.predict import key_of

COMMIT = "0123456789" * 4
CASES = [
    Case("lookup", "forward", 4096, 64, 1024, "uniform", "float32", "hot"),
    Case("lookup", "forward", 4096, 64, 1024, "uniform", "float32", "cold"),
    Case("multiplication alone", "forward", 4096, 64, 1024, "uniform", "float32", "hot"),
    Case("embedding bag", "forward", 1000, 64, 1024, "zipf", "float32", "hot", 64),
]


def every_form(case: Case, bags: int) -> list[Case]:
    """Change a case into one of each form: forward, with so many bags, and backward."""
    return [
        case._replace(form=form, direction=direction, bags=count)
        for direction, count in [("forward", 0), ("forward", bags), ("backward", 0)]
        for form in forms_of(direction, count)
    ]


def around(value: float) -> list[float]:
    """Make up quartiles of a ceiling that was measured with little noise."""
    return [0.9 * value, value, 1.1 * value]


def ceilings(factor: float = 1.0, cases: list[Case] = CASES) -> dict:
    """Make up what a machine allows that does all so many times faster."""
    prices = {key_of(case): around(2e-6 / factor) for case in cases}
    return {
        "fixed_s": {"hot": prices, "cold": {name: around(2e-5 / factor) for name in prices}},
        "row_s": {cache: {name: [0.0, 0.0, 1e-9] for name in prices} for cache in ("hot", "cold")},
        "bandwidth": [
            {"working_set": 2**15, "bytes_per_s": around(1e11 * factor)},
            {"working_set": 2**28, "bytes_per_s": around(2e10 * factor)},
        ],
        "first_touch": [{"allocated": 2**25, "s_per_byte": around(1e-10)}],
        "rate": {"float32": {"random": around(1e11 * factor)}},
    }


def measured(case: Case, first: dict, slower: float = 1.2) -> dict:
    """Make up a case that took a little longer than predicted."""
    distinct = sample_ids(case.draw, case.ids, case.vocab_size).unique().numel()
    predicted = predicted_s(case, distinct, first)
    low, median, high = (slower * predicted * quartile for quartile in (0.95, 1.0, 1.1))
    return {
        **case._asdict(), "distinct": distinct, "predicted_s": predicted,
        "median_s": median, "low_s": low, "high_s": high, "rounds": 9, "calls": 100,
        "launch_s": 4e-6, "clock_hz": 1.98e9,
        "peak_bytes": sum(kernel.allocated_bytes for kernel in kernels(case, distinct)),
        "repeats_bitwise": True, "max_error": 0.0, "relative_error": 0.0, "error_bound": 0.0,
    }  # fmt: skip


def left_out(case: Case, first: dict) -> dict:
    """Make up a case that was not measured."""
    whole = measured(case, first)
    asked = {name: whole[name] for name in (*Case._fields, "distinct", "predicted_s")}
    return asked | {"skipped": {"kind": "does not fit", "says": "needs 9.0 GB, 1.0 GB are free"}}


ORIGIN = {
    "kind": "cuda", "device": "A device", "device_memory_bytes": 10**9, "driver": "580.95.05",
    "cuda": "13.0", "torch": "2.13.0+cu130", "triton": None, "cpu": "A processor", "threads": 2,
    "date": "2026-01-31", "command": "python -m lookup_matmul.costs", "commit": COMMIT,
    "quick": False,
}  # fmt: skip
FIRST = ceilings()
SOUND = {
    "version": 2,
    "complete": True,
    "provenance": ORIGIN,
    "ceilings": [FIRST, ceilings(0.9), ceilings(0.8)],
    "cases": [
        *(measured(case, FIRST) for case in CASES),
        left_out(CASES[0]._replace(vocab_size=2**20), FIRST),
    ],
}
