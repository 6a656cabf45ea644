"""What pages ask of recordings: which there are, and which of their cases."""

from collections import Counter
from pathlib import Path
from typing import Any

from lookup_matmul.timings.cases import Case
from lookup_matmul.timings.recording import Recording, read_recording
from lookup_matmul.timings.text import NAME, escaped


def read_recordings(folder: Path) -> dict[str, Recording]:
    """Read all recordings.

    Parameters
    ----------
    folder : pathlib.Path
        Where they lie, as JSON files; it may be missing.

    Returns
    -------
    dict
        Recordings by the names of their files, those of GPUs first; empty if there is none.

    Raises
    ------
    ValueError
        If any file in the folder is not sound, or its name is no plain one.

    Examples
    --------
    >>> read_recordings(Path("no such folder"))
    {}
    """
    read = {}
    for path in sorted(folder.glob("*.json")):
        if not NAME.fullmatch(path.stem):
            raise ValueError(
                f"{str(path)!a}: the name of the file is {path.stem!a:.60}, expected at most 80 "
                "letters, digits, dots, dashes and underscores of ASCII, since pages show it; "
                "rename the file."
            )
        read[path.stem] = read_recording(path)
    return dict(sorted(read.items(), key=lambda item: item[1]["provenance"]["kind"] == "cpu"))


def describe(recording: Recording) -> str:
    """Say in a line where a recording comes from.

    Parameters
    ----------
    recording : dict
        The recording.

    Returns
    -------
    str
        Device, its software, date, the first digits of the commit, and what it lacks,
        in Markdown that shows names as they are, whatever stands in them.

    Examples
    --------
    >>> origin = {"device": "A device", "driver": "1.2", "cuda": "13.0", "torch": "2.13.0",
    ...           "date": "2026-01-31", "commit": "0123456789", "quick": False}
    >>> describe({"provenance": origin, "complete": True})
    'A device, driver 1.2, CUDA 13.0, torch 2.13.0, recorded on 2026-01-31 at commit 0123456'
    """
    origin = recording["provenance"]
    gpu = f", driver {origin['driver']}, CUDA {escaped(origin['cuda'])}" if origin["driver"] else ""
    changed = ", changed since" if origin["commit"].endswith("-changed") else ""
    when = f"recorded on {origin['date']} at commit {origin['commit'][:7]}{changed}"
    so_far = "; a trial with few rounds" if origin["quick"] else ""
    so_far += "" if recording["complete"] else "; not complete"
    return f"{escaped(origin['device'])}{gpu}, torch {escaped(origin['torch'])}, {when}{so_far}"


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


def usual(cases: list[dict[str, Any]], *members: str) -> list[dict[str, Any]]:
    """Keep the cases with the most frequent value of a member, the largest of several.

    Parameters
    ----------
    cases : list
        As :func:`select` gives them.
    members : str
        Of :class:`Case`; one after the other, each among the cases that are left.

    Returns
    -------
    list
        Cases that agree in all these members; empty if there were none.

    Examples
    --------
    >>> cases = [{"dim": 64, "ids": 1}, {"dim": 256, "ids": 1}, {"dim": 256, "ids": 2}]
    >>> usual(cases, "dim", "ids")
    [{'dim': 256, 'ids': 2}]
    """
    for member in members:
        counts = Counter(case[member] for case in cases)
        value = max(counts, key=lambda value: (counts[value], value), default=None)
        cases = [case for case in cases if case[member] == value]
    return cases


def compare(cases: list[dict[str, Any]], form: str, baseline: str) -> list[dict[str, Any]]:
    """Divide the times of one form by those of another, case by case.

    Parameters
    ----------
    cases : list
        As :func:`select` gives them, of both forms.
    form, baseline : str
        Their names.

    Returns
    -------
    list
        The cases of ``form`` whose counterpart is there, each with the member ``ratio``.

    Examples
    --------
    >>> from lookup_matmul.timings import Case
    >>> case = Case("lookup", "forward", 4, 5, 3, "uniform", "float32", "hot")._asdict()
    >>> cases = [case | {"median_s": 2.0}, case | {"form": "index_select", "median_s": 3.0}]
    >>> [case["ratio"] for case in compare(cases, "index_select", "lookup")]
    [1.5]
    """
    others = [name for name in Case._fields if name != "form"]

    def inputs(case: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(case[name] for name in others)

    divisors = {inputs(case): case["median_s"] for case in cases if case["form"] == baseline}
    return [
        case | {"ratio": case["median_s"] / divisors[inputs(case)]}
        for case in cases
        if case["form"] == form and inputs(case) in divisors
    ]
