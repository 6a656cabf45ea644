"""Record what each form costs on this machine."""

import argparse
import sys
from pathlib import Path

import torch

from lookup_matmul.costs.recorder import record


def main() -> None:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    parser = argparse.ArgumentParser(prog="python -m lookup_matmul.costs", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="try it, in well under a minute")
    parser.add_argument("--device", choices=("cpu", "cuda"), default=device, help=f"now: {device}")
    parser.add_argument("--out", type=Path, default=Path(), help="folder of the file; now: here")
    options = parser.parse_args()
    try:
        path = record(options.out, options.device, quick=options.quick)
    except (ValueError, OSError, RuntimeError) as error:
        sys.exit(f"{error}")
    print(f"Wrote {path}. The site shows files in src/lookup_matmul/recorded/.")


if __name__ == "__main__":
    main()
