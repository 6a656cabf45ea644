"""The form of a recording: which members it has, and of which kind."""

from typing import Any

from lookup_matmul.timings.cases import BACKWARD, BAGS, DTYPES, FORWARD
from lookup_matmul.timings.text import LONGEST, PLAIN

VERSION = 1


def _object(members: dict[str, Any]) -> dict[str, Any]:
    """Ask for all members and no others."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


# Pages show it, and a stranger may have written it.
LIMITS = {"minLength": 1, "maxLength": LONGEST, "pattern": PLAIN}
TEXT = {"type": "string", **LIMITS}
OPTIONAL_TEXT = {"type": ["string", "null"], **LIMITS}
COUNT, NATURAL = ({"type": "integer", "minimum": least} for least in (1, 0))
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
MEASURED: dict[str, dict[str, Any]] = {
    "median_s": POSITIVE,
    "low_s": POSITIVE,
    "high_s": POSITIVE,
    "rounds": {"type": "integer", "minimum": 3},
    "calls": COUNT,
    "peak_bytes": NATURAL,
    "launch_s": {"type": ["number", "null"], "exclusiveMinimum": 0},
    "max_error": {"type": "number", "minimum": 0},
    "stored_error": {"type": "number", "minimum": 0},
    "repeats_bitwise": {"type": "boolean"},
    "reason": OPTIONAL_TEXT,
}
ASKED = {
    "form": {"enum": sorted({*FORWARD, *BACKWARD, *BAGS})},
    "direction": {"enum": ["forward", "backward"]},
    "vocab_size": COUNT,
    "dim": COUNT,
    "ids": COUNT,
    "bags": NATURAL,
    "draw": {"enum": ["uniform", "zipf", "equal"]},
    "dtype": {"enum": sorted(DTYPES)},
    "cache": {"enum": ["hot", "cold"]},
    "distinct": COUNT,
    "predicted_s": {"type": "number", "minimum": 0},
}
SCHEMA = _object(
    {
        "version": {"const": VERSION},
        "complete": {"type": "boolean"},
        "provenance": _object(
            {
                "kind": {"enum": ["cpu", "cuda"]},
                "device": TEXT,
                "device_memory_bytes": COUNT,
                "driver": {"type": ["string", "null"], "pattern": r"^[0-9]+([.][0-9]+)+$"},
                "cuda": OPTIONAL_TEXT,
                "torch": TEXT,
                "triton": OPTIONAL_TEXT,
                "cpu": TEXT,
                "threads": COUNT,
                "date": {"type": "string", "pattern": r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
                "command": TEXT,
                "commit": {"type": "string", "pattern": "^[0-9a-f]{40}(-changed)?$"},
                "quick": {"type": "boolean"},
            }
        ),
        "ceilings": _object(
            {
                "copy_bytes_per_s": POSITIVE,
                "operations_per_s": {
                    "type": "object",
                    "properties": dict.fromkeys(DTYPES, POSITIVE),
                    "required": ["float32"],
                    "additionalProperties": False,
                },
            }
        ),
        "behaviour": _object(
            {
                "nan_in_another_row": _object(dict.fromkeys(FORWARD, TEXT)),
                "id_out_of_range": _object(dict.fromkeys(FORWARD, TEXT)),
            }
        ),
        "cases": {
            "type": "array",
            "items": {  # not oneOf, which could not say which member is wrong
                "if": {"required": ["skipped"]},
                "then": _object(ASKED | {"skipped": TEXT}),
                "else": _object(ASKED | MEASURED),
            },
        },
        "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    }
)
