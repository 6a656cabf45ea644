#!/bin/sh
# scikit-learn 1.9.1, numpy 2.4.6, 2026-11-29.
# Guesses before the run: CountVectorizer(dtype=int8) raises or widens the dtype for a count of 300;
#   OneHotEncoder(drop="first", handle_unknown="ignore") is refused as ambiguous; FeatureHasher
#   removes entries whose signs cancel.
# Behavior: the count wraps to 44 without a warning; an unknown category and the dropped one are the
#   same row of zeros, with a warning; the hasher stores explicit zeros.
# Output seen: 44 [[0.0, 0.0], [0.0, 0.0]] [-3.0, 0.0, 3.0]
set -e
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" install -q scikit-learn==1.9.1 numpy==2.4.6
"$folder/env/bin/python" -W ignore - <<'PYTHON'
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import OneHotEncoder
count = int(CountVectorizer(dtype="int8").fit_transform(["red " * 300]).toarray()[0, 0])
encoder = OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False)
rows = encoder.fit([["blue"], ["green"], ["red"]]).transform([["blue"], ["pink"]]).tolist()
hashed = FeatureHasher(4, input_type="string").transform([list("abcdefgh")]).data.tolist()
print(count, rows, hashed)
raise SystemExit((count, rows, 0.0 in hashed) != (44, [[0.0, 0.0], [0.0, 0.0]], True))
PYTHON
