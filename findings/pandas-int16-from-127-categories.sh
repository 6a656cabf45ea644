#!/bin/sh
# pandas 3.1.1, numpy 2.4.6, 2026-11-29.
# Guess before the run: the codes of up to 128 categories, 0 to 127, are int8.
# Behavior: 127 categories already have codes of int16, though the largest code is 126.
# Output seen: int8 int16 126
set -e
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q pandas==3.1.1 numpy==2.4.6
"$folder/env/bin/python" - <<'PYTHON'
import pandas as pd
few, many = (pd.Categorical(range(count)).codes for count in (126, 127))
print(few.dtype, many.dtype, many.max())
raise SystemExit((str(few.dtype), str(many.dtype), many.max()) != ("int8", "int16", 126))
PYTHON
