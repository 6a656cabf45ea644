"""Measure the machine at hand: ``python -m lookup_matmul.timings --help``."""

import argparse
import re
import shlex
import sys
import warnings
from pathlib import Path

import torch

from lookup_matmul.timings.bags import bag_contenders, check_bag_contenders, zipf_bags
from lookup_matmul.timings.cases import sweep
from lookup_matmul.timings.clock import time_side_by_side
from lookup_matmul.timings.machine import provenance
from lookup_matmul.timings.recorder import record
from lookup_matmul.timings.report import ratio_table

ROWS, PER_ROW, VOCAB_SIZE, DIM = 1024, 100, 50_000, 128


def main() -> None:
    """Read the options, measure, and say what to do with the result."""
    parser = argparse.ArgumentParser(prog="python -m lookup_matmul.timings", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="try it out, in under a minute")
    parser.add_argument("--bags", action="store_true", help="print the forms for sparse rows, only")
    parser.add_argument("--out", type=Path, help="folder of the recordings")
    parser.add_argument("--commit", help="what to record as the commit, outside of a clone")
    options = parser.parse_args()
    if options.bags:
        print_bags()
        return
    folder = options.out or Path("build/recordings" if options.quick else "docs/recordings")
    command = shlex.join(["python", "-m", "lookup_matmul.timings", *sys.argv[1:]])
    for device in ("cuda", "cpu") if torch.cuda.is_available() else ("cpu",):
        name = provenance(device, command)["device"]
        threads = f"-{torch.get_num_threads()}-threads" if device == "cpu" else ""
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        path = folder / f"{slug}{threads}{'-quick' if options.quick else ''}.json"
        resumed = "" if options.quick else "; interrupt it at any time and run it again to go on"
        print(f"Recording {name} into {path}{resumed}.")
        cases = list(sweep(quick=options.quick, cuda=device == "cuda"))
        if options.quick:
            path.unlink(missing_ok=True)  # a trial is no use to the next one
        try:
            recording = record(
                path,
                cases,
                device=device,
                command=command,
                quick=options.quick,
                commit=options.commit,
            )
        except ValueError as error:
            sys.exit(str(error))
        skipped = sum("skipped" in result for result in recording["cases"])
        print(f"{len(recording['cases'])} cases, {skipped} of them skipped with a reason.")
        print(
            f"A quick recording shows that it works; commit a full one: leave --quick out ({path})."
            if options.quick
            else f"To share it: git add {path} && git commit -m 'Record {name}'"
        )


def print_bags() -> None:
    """Measure all forms of sparse rows times a table in one run and print them."""
    warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
    bags = zipf_bags(ROWS, PER_ROW, VOCAB_SIZE)
    weight = torch.randn(VOCAB_SIZE, DIM, generator=torch.Generator().manual_seed(1))
    contenders = bag_contenders(bags, weight)
    check_bag_contenders(contenders, bags, weight)
    print(f"{ROWS:,} rows of {PER_ROW} entries, {VOCAB_SIZE:,} columns, dimension {DIM}, float32")
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads\n")
    print(ratio_table(time_side_by_side(contenders), baseline="embedding_bag by hand"))


if __name__ == "__main__":
    main()
