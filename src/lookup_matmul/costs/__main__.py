"""Measure the machine at hand: ``python -m lookup_matmul.costs --help``."""

import argparse
import re
import shlex
import sys
from pathlib import Path

import torch

from lookup_matmul.costs.machine import provenance
from lookup_matmul.costs.measure import DeviceLost
from lookup_matmul.costs.recorder import record, sweep
from lookup_matmul.costs.recordings import COMMAND


def main() -> None:
    """Read the options, measure, and say what to do with the result."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--quick", action="store_true", help="try it out, in under a minute")
    parser.add_argument("--minutes", type=float, help="end after so many; run again to go on")
    parser.add_argument("--device", choices=("cpu", "cuda"), default=device, help=f"now: {device}")
    parser.add_argument("--out", type=Path, help="folder of the recording")
    parser.add_argument("--commit", help="40 digits, where the package is not in a clone of git")
    options = parser.parse_args()
    if options.minutes is not None and not options.minutes > 0:  # nor is NaN
        parser.error(f"--minutes is {options.minutes:g}, expected more than 0")
    quick, device, out = options.quick, options.device, options.out
    made = {"device": device, "commit": options.commit}
    made |= {"command": shlex.join([*COMMAND.split(), *sys.argv[1:]])}
    try:
        name = provenance(**made)["device"]
        threads = f"-{torch.get_num_threads()}-threads" if device == "cpu" else ""
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        folder = out or Path("build/recordings" if quick else "src/lookup_matmul/recorded")
        path = folder / f"{slug}{threads}{'-quick' * quick}.json"
        if quick:
            path.unlink(missing_ok=True)  # a trial is no use to the next one
        again = "" if quick else ", and run it again to go on"
        print(f"Recording {name} into {path}; interrupt it at any time{again}.")
        cases = sweep("quick" if quick else device)
        recording = record(path, cases, quick=quick, minutes=options.minutes, **made)
    except (ValueError, OSError, DeviceLost) as error:  # OSError: a folder nobody can write to
        sys.exit(f"{error}")
    skipped = sum("skipped" in result for result in recording["cases"])
    print(f"{len(recording['cases'])} cases, {skipped} of them with the reason why not measured.")
    end = f"To share it: git add {path} && git commit -m 'Record {name}'"
    if not recording["complete"]:
        end = "Cases are left: run it again to go on, or share it as it is."
    print("It works; leave --quick out to make one to share." if quick else end)


if __name__ == "__main__":
    main()
