"""Find out why two layers disagree, and which layer of two models differs first.

`layers.py` and `inputs.py` describe layers and input as data, `run.py` runs them, `agreement.py`
compares them, `causes_of_*` propose remedies, `search.py` tries them, and `report.py` has the
result.
"""
