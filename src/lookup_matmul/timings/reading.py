"""What pages ask of recordings: which there are, and one curve or one number of them."""

from pathlib import Path
from typing import Any

from lookup_matmul.timings.cases import Case
from lookup_matmul.timings.contenders import case_cost
from lookup_matmul.timings.recording import Recording, read_recording


def read_recordings(folder: Path, kind: str) -> dict[str, Recording]:
    """Read all recordings of a kind of device.

    Parameters
    ----------
    folder : pathlib.Path
        Where they lie, as JSON files; it may be missing.
    kind : str
        ``"cpu"`` or ``"cuda"``.

    Returns
    -------
    dict
        Recordings by the names of their files, sorted; empty if there is none.

    Raises
    ------
    ValueError
        If any file in the folder is not sound, whatever its kind.

    Examples
    --------
    >>> read_recordings(Path("no such folder"), "cuda")
    {}
    """
    read = {path.stem: read_recording(path) for path in sorted(folder.glob("*.json"))}
    return {name: found for name, found in read.items() if found["provenance"]["kind"] == kind}


def describe(recording: Recording) -> str:
    """Say in a line where a recording comes from.

    Parameters
    ----------
    recording : dict
        The recording.

    Returns
    -------
    str
        Device, its software, date and the first digits of the commit.

    Examples
    --------
    >>> origin = {"device": "A device", "driver": "1.2", "cuda": "13.0", "torch": "2.13.0",
    ...           "date": "2026-01-31", "commit": "0123456789"}
    >>> describe({"provenance": origin})
    'A device, driver 1.2, CUDA 13.0, torch 2.13.0, recorded on 2026-01-31 at commit 0123456'
    """
    origin = recording["provenance"]
    gpu = f", driver {origin['driver']}, CUDA {origin['cuda']}" if origin["driver"] else ""
    when = f"recorded on {origin['date']} at commit {origin['commit'][:7]}"
    return f"{origin['device']}{gpu}, torch {origin['torch']}, {when}"


def select(cases: list[dict[str, Any]], **fixed: object) -> list[dict[str, Any]]:
    """Pick the measured cases whose members have the values asked for.

    Parameters
    ----------
    cases : list
        Of a recording, or of :func:`measure_group`.
    fixed
        Members of :class:`Case` and their values.

    Returns
    -------
    list
        Without those that were skipped; by vocabulary size, then by number of ids.

    Examples
    --------
    >>> cases = [{"form": "lookup", "vocab_size": 4, "ids": 1, "median_s": 1e-6},
    ...          {"form": "lookup", "vocab_size": 8, "ids": 1, "skipped": "too large"}]
    >>> [case["vocab_size"] for case in select(cases, form="lookup")]
    [4]
    """
    fitting = (
        case
        for case in cases
        if "skipped" not in case and all(case[name] == value for name, value in fixed.items())
    )
    return sorted(fitting, key=lambda case: (case["vocab_size"], case["ids"]))


def copy_share(case: dict[str, Any], ceilings: dict[str, Any]) -> float:
    """Divide the bandwidth of a case by that of a large copy on the same machine.

    Parameters
    ----------
    case : dict
        A measured case.
    ceilings : dict
        Of its recording.

    Returns
    -------
    float
        Compulsory bytes a second over the copy's; above 1 if a cache helped.

    Examples
    --------
    >>> case = {"form": "lookup", "direction": "forward", "vocab_size": 4, "dim": 5, "ids": 3,
    ...         "draw": "uniform", "dtype": "float32", "cache": "cold", "distinct": 2,
    ...         "median_s": 1e-6}
    >>> copy_share(case, {"copy_bytes_per_s": 1.24e9})
    0.1
    """
    asked = Case(*(case[name] for name in Case._fields))
    moved = case_cost(asked, case["distinct"]).compulsory_bytes / case["median_s"]
    return float(round(moved / ceilings["copy_bytes_per_s"], 12))
