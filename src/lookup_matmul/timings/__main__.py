"""Measure the machine at hand: ``python -m lookup_matmul.timings --help``."""

import argparse
import re
import shlex
import sys
from pathlib import Path

import torch

from lookup_matmul.timings.cases import sweep
from lookup_matmul.timings.machine import provenance
from lookup_matmul.timings.measure import DeviceLost
from lookup_matmul.timings.recorder import record


def main() -> None:
    """Read the options, measure, and say what to do with the result."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parser = argparse.ArgumentParser(prog="python -m lookup_matmul.timings", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="try it out, in under a minute")
    parser.add_argument("--minutes", type=float, help="end after so many; run again to go on")
    parser.add_argument("--device", choices=("cpu", "cuda"), default=device, help=f"now: {device}")
    parser.add_argument("--out", type=Path, help="folder of the recording")
    parser.add_argument("--commit", help="40 digits, where the package is not in a clone of git")
    options = parser.parse_args()
    quick, device = options.quick, options.device
    made = {
        "device": device,
        "command": shlex.join(["python", "-m", "lookup_matmul.timings", *sys.argv[1:]]),
        "commit": options.commit,
    }
    try:
        name = provenance(**made)["device"]
        threads = f"-{torch.get_num_threads()}-threads" if device == "cpu" else ""
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        folder = options.out or Path("build/recordings" if quick else "src/lookup_matmul/recorded")
        path = folder / f"{slug}{threads}{'-quick' if quick else ''}.json"
        if quick:
            path.unlink(missing_ok=True)  # a trial is no use to the next one
        print(f"Recording {name} into {path}; interrupt it at any time, and run it again to go on.")
        cases = sweep(quick=quick, cuda=device == "cuda")
        recording = record(path, cases, quick=quick, minutes=options.minutes, **made)
    except (ValueError, DeviceLost) as error:
        sys.exit(f"{error}")
    skipped = sum("skipped" in result for result in recording["cases"])
    print(f"{len(recording['cases'])} cases, {skipped} of them with the reason why not measured.")
    if quick:
        print("A quick recording shows that it works; leave --quick out to make one to share.")
    elif recording["complete"]:
        print(f"To share it: git add {path} && git commit -m 'Record {name}'")
    else:
        print("Cases are left: run it again to go on, or share it as it is.")


if __name__ == "__main__":
    main()
