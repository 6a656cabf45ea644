"""The form of a recording: which members it has, and of which kind."""

from typing import Any

from lookup_matmul.timings.cases import BACKWARD, DTYPES, FORWARD

VERSION = 1


def _object(members: dict[str, Any]) -> dict[str, Any]:
    """Ask for all members and no others."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


TEXT = {"type": "string", "minLength": 1}
OPTIONAL_TEXT = {"type": ["string", "null"], "minLength": 1}
COUNT, NATURAL = ({"type": "integer", "minimum": least} for least in (1, 0))
POSITIVE = {"type": "number", "exclusiveMinimum": 0}
MEASURED: dict[str, dict[str, Any]] = {
    "median_s": POSITIVE,
    "low_s": POSITIVE,
    "high_s": POSITIVE,
    "rounds": {"type": "integer", "minimum": 3},
    "calls": COUNT,
    "peak_bytes": NATURAL,
    "max_error": {"type": "number", "minimum": 0},
    "reason": OPTIONAL_TEXT,
}
ASKED = {
    "form": {"enum": sorted({*FORWARD, *BACKWARD})},
    "direction": {"enum": ["forward", "backward"]},
    "vocab_size": COUNT,
    "dim": COUNT,
    "ids": COUNT,
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
                "driver": OPTIONAL_TEXT,
                "cuda": OPTIONAL_TEXT,
                "torch": TEXT,
                "cpu": TEXT,
                "threads": COUNT,
                "date": {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"},
                "command": TEXT,
                "commit": TEXT,
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
        "cases": {
            "type": "array",
            "items": {"oneOf": [_object(ASKED | MEASURED), _object(ASKED | {"skipped": TEXT})]},
        },
        "checksum": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    }
)
