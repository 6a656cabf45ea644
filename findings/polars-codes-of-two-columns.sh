#!/bin/sh
# polars 2.1.0, 2026-11-29.
# Guess before the run: the codes of each Categorical column count from 0.
# Behavior: columns without a named Categories share their numbers while any of them is alive; the
#   second column has codes beyond its own number of categories. After both are deleted, numbers
#   begin at 0 again (a second wrong guess: that they stay for the life of the process). An Enum's codes are UInt8 (guess: UInt32).
# Output seen: [0, 1] [2, 0, 3] [0] UInt8
set -e
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q polars==2.1.0
"$folder/env/bin/python" - <<'PYTHON'
import polars as pl
first = pl.Series(["red", "blue"], dtype=pl.Categorical)
second = pl.Series(["small", "red", "large"], dtype=pl.Categorical)
color, size = first.to_physical().to_list(), second.to_physical().to_list()
del first, second
alone = pl.Series(["small"], dtype=pl.Categorical).to_physical().to_list()
enum = pl.Series(["red"], dtype=pl.Enum(["blue", "red"])).to_physical().dtype
print(color, size, alone, enum)
raise SystemExit((color, size, alone, str(enum)) != ([0, 1], [2, 0, 3], [0], "UInt8"))
PYTHON
