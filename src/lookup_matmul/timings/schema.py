"""The form of a recording: which members it has, of which kind, and which text they may hold."""

import re
from typing import Any

from lookup_matmul.timings.cases import DTYPES

# Pages show text that a stranger may have written: no markup, no controls, no hidden marks.
REFUSED = r"<>{}|`\x00-\x1f\x7f-\x9f\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ud800-\udfff"  # noqa: E501
PLAIN, RELEASE = f"[^{REFUSED}]{{1,300}}", r"[0-9]+(\.[0-9]+)+[A-Za-z0-9.+_-]{0,40}"
COUNT, NATURAL, SECONDS = range(1, 2**62), range(2**62), (1e-12, 1e5)
PRICE, RATE = 3 * [(0, 1e3)], 3 * [(1e3, 1e18)]

# A text's pattern, a whole number's range, a number's ends, a type; (None, x) for x or null;
# [x] for a list, [x, x, x] for ascending numbers; ``...`` stands for members of any plain name.
ORIGIN = dict.fromkeys(("device", "cpu", "command"), PLAIN) | {
    **dict.fromkeys(("driver", "cuda", "triton"), (None, RELEASE)),
    **{"kind": "cpu|cuda", "torch": RELEASE, "date": "20[0-9]{2}-[0-9]{2}-[0-9]{2}"},
    **{"commit": "[0-9a-f]{40}(-changed)?", "quick": bool},
    **{"device_memory_bytes": COUNT, "threads": range(1, 4096)},
}
CEILINGS = {
    "fixed_s": {"hot": {...: PRICE}, "cold": {...: PRICE}},
    "row_s": {"hot": {...: PRICE}, "cold": {...: PRICE}},
    "bandwidth": [{"working_set": COUNT, "bytes_per_s": RATE}],
    "first_touch": [{"allocated": COUNT, "s_per_byte": PRICE}],
    "rate": {...: {"random": RATE, "zeros": RATE}},
}
ASKED = dict.fromkeys(("vocab_size", "dim", "ids", "distinct"), COUNT) | {
    **{"form": PLAIN, "direction": "forward|backward|step", "draw": "uniform|zipf|equal"},
    **{"dtype": "|".join(DTYPES), "cache": "hot|cold", "bags": NATURAL, "predicted_s": SECONDS},
}
KINDS = "does not fit|takes too long|not in torch|wrong result|impossible time"
SKIPPED = ASKED | {"skipped": {"kind": KINDS, "says": PLAIN}}
MEASURED = ASKED | {
    **dict.fromkeys(("median_s", "low_s", "high_s"), SECONDS),
    **dict.fromkeys(("max_error", "relative_error", "error_bound"), (0, 1e300)),
    **{"launch_s": (None, SECONDS), "clock_hz": (None, (1e6, 1e11)), "repeats_bitwise": bool},
    **{"rounds": range(3, 10**6), "calls": COUNT, "peak_bytes": NATURAL},
}
FORM = {
    **{"version": range(2, 3), "complete": bool, "checksum": "[0-9a-f]{64}"},
    **{"provenance": ORIGIN, "ceilings": [CEILINGS], "behaviour": {...: {...: PLAIN}}},
    "cases": [{...: object}],
}


def check_form(place: str, value: Any, form: Any) -> None:
    """Compare a value with what the tables above ask for."""
    right, expected = True, ""
    if isinstance(form, dict):
        expect(isinstance(value, dict), place, value, "an object")
        for name in [*(form.keys() - {...}), *value]:
            check_form(f"the name of a member of {place}", name, PLAIN)
            if name not in value:
                raise ValueError(f"{place}.{name} is missing")
            expect(name in form or ... in form, f"{place}.{name}", value[name], "no such member")
            check_form(f"{place}.{name}", value[name], form.get(name, form.get(...)))
    elif isinstance(form, list):
        expect(isinstance(value, list), place, value, "a list")
        for k, element in enumerate(value):
            check_form(f"{place}[{k}]", element, form[0])
        right = len(form) == 1 or (len(value) == len(form) and value == sorted(value))
        expected = f"{len(form)} numbers, low, median and high"
    elif isinstance(form, str):
        right = isinstance(value, str) and bool(re.fullmatch(form, value))
        expected = "1 to 300 characters without < > { } | ` and controls" * (form == PLAIN) or form
    elif isinstance(form, range):
        right = type(value) is int and value in form
        expected = f"a whole number from {form.start} to {form.stop - 1}"
    elif isinstance(form, tuple) and form[0] is not None:
        right = type(value) in (int, float) and form[0] <= value <= form[1]
        expected = f"a number from {form[0]:g} to {form[1]:g}"
    elif isinstance(form, tuple):
        check_form(place, 0 if value is None else value, (0, 0) if value is None else form[1])
    else:
        right, expected = isinstance(value, form), "true or false"
    expect(right, place, value, expected)


def expect_all(place: str, found: dict[str, Any], checks: list[tuple[str, bool, str]]) -> None:
    """Raise for the first of (member, whether it is right, what was expected) that is not."""
    for name, right, expected in checks:
        expect(right, f"{place}.{name}", found[name], expected)


def expect(right: bool, place: str, value: object, expected: str) -> None:
    """Raise with the field, what is there and what was expected, unless it is right."""
    if not right:
        raise ValueError(f"{place} is {value!a:.60}, expected {expected}")


def plain(text: str) -> str:
    """Write the first line of a message as a recording may hold it, with marks that look alike."""
    line = next(iter(text.strip().splitlines()), "no word")
    return re.sub(f"[{REFUSED}]", "?", line.translate(str.maketrans("<>{}|`", "‹›()/'")))[:200]
