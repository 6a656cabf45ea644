"""Times with their units, and text escaped for Markdown."""

import re

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


def in_unit(seconds: float) -> str:
    """Return a time, in seconds, as text with three digits and a unit.

    Examples
    --------
    >>> in_unit(0.000205), in_unit(0.0123), in_unit(0.9996), in_unit(0)
    ('205 µs', '12.3 ms', '1.00 s', '0 s')
    """
    if seconds == 0:
        return "0 s"
    rounded = float(f"{seconds:.3g}")  # first, or 0.9996 s would be 1000 ms
    unit = next((unit for unit, size in UNITS.items() if rounded >= size), "ns")
    value = float(f"{rounded / UNITS[unit]:.3g}")
    return f"{value:#.3g}".rstrip(".") + f" {unit}" if value < 1000 else f"{value:.0f} {unit}"


def escaped(text: str) -> str:
    r"""Return text on one line, escaped such that Markdown shows it unchanged.

    Examples
    --------
    >>> print(escaped("NVIDIA H200 ![](https://example.org) <script> 0|1"))
    NVIDIA H200 \!\[\](https://example.org) \<script\> 0\|1
    """
    return re.sub(r"[\\`*_{}\[\]<>|~$!&^]", r"\\\g<0>", " ".join(text.split()))
